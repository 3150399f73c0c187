import PropertyList

/// Reads objects from a keyed archive, by key, as the program's classes and Foundation's.
///
/// An object that several others refer to is decoded once and is the same for all; cycles work. Instances of classes
/// that the unarchiver was not told about become `ArchivedObject`.
public final class KeyedUnarchiver {
    /// What a failed call does.
    public enum FailurePolicy: Sendable, Hashable {
        /// It throws.
        case raise
        /// It records the first error in `error` and gives nil or 0, as all later calls do.
        case setErrorAndReturn
    }

    public let reader: KeyedArchiveReader
    public var decodingFailurePolicy: FailurePolicy
    /// The first error; once there is one, nothing more is decoded.
    public internal(set) var error: ArchiveError?
    /// Whether only classes that a call allows, and that support secure coding, may be decoded.
    public let requiresSecureCoding: Bool

    /// Whether an unknown class that a call names is decoded as an `ArchivedObject`; else only known classes are allowed.
    package var allowsNamedUnknownClasses = false

    var bindings: [String: ArchiveClassBinding] = [:]
    var state: [UInt32: Decoded] = [:]
    var frames: [Frame] = []
    var topUnkeyedCount = 0
    /// Collections and unknown objects that exist and wait for their contents.
    var unfilled: [Unfilled] = []
    /// The classes that the current call allows; nil for all.
    var allowed: AllowedClasses?
    /// Whether only those of Foundation's instances become Swift values that are written back exactly as they were, as a
    /// graph wants it.
    var keepsForm = false
    /// Strings and data with memory of their own, by number in the property list: made once, however many hold them.
    var sharedValues: [Int: PropertyListValue] = [:]
    /// What may still be decoded of a hostile archive.
    var budget: DecodingBudget
    /// The objects met, when someone wants to know.
    var visited: Set<UInt32>?
    /// Objects that exist and are initialised when the decoding is less deep again.
    var postponed: [Postponed] = []
    /// Objects that a call took over from another one, to be held against its own list when they are complete.
    var rechecks: [Recheck] = []
    /// Those that met something incomplete.
    var unfinishedRechecks: [Recheck] = []
    /// The collections that are being filled, while objects of the program are decoded for them.
    var filling: Set<ObjectIdentifier> = []
    /// The objects that passed a list already, by what the list holds.
    var passed: [AllowedClasses: Set<ObjectIdentifier>] = [:]
    var isFinished = false

    enum Decoded {
        case inProgress
        case done(ArchiveValue)
    }

    /// An object of the program that is decoding its values.
    struct Frame {
        var record: ArchiveRecord
        var unkeyedCount = 0
        var adopted: (any KeyedEncodable)?
    }

    /// - Parameters:
    ///   - reader: the archive.
    ///   - classes: the program's classes, by their archived names.
    ///   - requiresSecureCoding: decode only what calls allow.
    ///   - failurePolicy: what a failed call does.
    public init(
        reader: KeyedArchiveReader, classes: [any KeyedCoding.Type] = [], requiresSecureCoding: Bool = false,
        failurePolicy: FailurePolicy = .raise
    ) {
        self.reader = reader
        self.requiresSecureCoding = requiresSecureCoding
        decodingFailurePolicy = failurePolicy
        budget = DecodingBudget(reader.propertyList, factor: 8)
        for type in classes { setClass(type, forClassName: type.archivedClass.name) }
    }

    /// Opens an archive in binary or XML form.
    public convenience init(
        _ bytes: [UInt8], classes: [any KeyedCoding.Type] = [], requiresSecureCoding: Bool = false,
        failurePolicy: FailurePolicy = .raise, limits: ArchiveLimits = .standard
    ) throws(ArchiveError) {
        self.init(
            reader: try KeyedArchiveReader(bytes, limits: limits), classes: classes,
            requiresSecureCoding: requiresSecureCoding, failurePolicy: failurePolicy)
    }

    /// Decodes instances that the archive knows by a name as a class of the program.
    public func setClass(_ type: any KeyedCoding.Type, forClassName name: String) {
        bindings[name] = ArchiveClassBinding(type)
    }

    /// Decodes instances that the archive knows by a name as a class made at run time; nil to undo.
    package func setClass(_ binding: ArchiveClassBinding?, forClassName name: String) {
        bindings[name] = binding
    }

    /// How instances of a name are decoded: as this unarchiver was told, else as all were.
    package func binding(forClassName name: String) -> ArchiveClassBinding? {
        bindings[name] ?? ArchiveClassNames.shared.type(forClassName: name).map(ArchiveClassBinding.init)
    }

    /// Decodes instances of a name as a class of the program, in every unarchiver that was not told otherwise; nil to
    /// undo. May be called on any thread.
    public static func setClass(_ type: (any KeyedCoding.Type)?, forClassName name: String) {
        ArchiveClassNames.shared.setType(type, forClassName: name)
    }

    /// The class that every unarchiver decodes instances of a name as, when one was set.
    public static func classForClassName(_ name: String) -> (any KeyedCoding.Type)? {
        ArchiveClassNames.shared.type(forClassName: name)
    }

    /// Whether instances of a class are decoded as `ArchiveValue` has them, without a class of the program.
    package static func decodesItself(className: String) -> Bool { FoundationClass(name: className) != nil }

    /// The classes of Foundation that are read without being declared.
    package static var ownClassNames: [String] { FoundationClass.allCases.map(\.rawValue) }

    /// Whether an object of the program is decoding its values now: the calls then read those, else the archive's top.
    package var isDecodingObject: Bool { !frames.isEmpty }

    /// Whether values are decoded by key; always true.
    public var allowsKeyedCoding: Bool { true }

    /// Ends the decoding; what was decoded stays, the unarchiver lets go of it. Later calls fail.
    ///
    /// - Throws: the first error, which with the policy `setErrorAndReturn` nobody has heard of yet.
    public func finishDecoding() throws(ArchiveError) {
        isFinished = true
        state = [:]
        unfilled = []
        postponed = []
        rechecks = []
        unfinishedRechecks = []
        passed = [:]
        if let error { throw error }
    }

    /// Makes the object being decoded known before its init ends, so that objects which it decodes from now on may refer
    /// back to it.
    public func adopt(_ object: any KeyedEncodable) {
        guard let last = frames.indices.last else { return }
        frames[last].adopted = object
        state[frames[last].record.uid] = .done(.object(object))
    }

    // MARK: - Keys

    /// Whether the current object, or the archive's top, has a value for a key. A nil that was encoded counts.
    public func containsValue(forKey key: String) -> Bool {
        if let frame = frames.last { return frame.record.containsValue(forKey: key) }
        return reader.topNumber(forKey: key) != nil
    }

    /// The keys of the current object, or of the archive's top.
    public var keys: [String] { frames.last?.record.keys ?? reader.topKeys }

    /// The number in the property list of a key's value.
    func number(forKey key: String) -> Int? {
        guard let frame = frames.last else { return reader.topNumber(forKey: key) }
        return frame.record.shape.slot(of: key).map(frame.record.number(at:))
    }

    /// The number in the property list of the next value without a key, nil when there is none.
    func nextUnkeyed() -> Int? {
        guard let last = frames.indices.last else {
            defer { topUnkeyedCount += 1 }
            return reader.topNumber(forStoredKey: "$\(topUnkeyedCount)")
        }
        defer { frames[last].unkeyedCount += 1 }
        let record = frames[last].record
        return record.shape.slot(ofStored: "$\(frames[last].unkeyedCount)").map(record.number(at:))
    }

    /// Runs a decoding, turning its error into what the policy says.
    func guarded<Result>(
        _ key: String?, otherwise: Result, _ body: () throws(ArchiveError) -> Result
    ) throws(ArchiveError) -> Result {
        if let error {
            if decodingFailurePolicy == .raise { throw error }
            return otherwise
        }
        guard !isFinished else { throw .invalid("the decoding is finished; nothing more can be decoded") }
        do {
            return try body()
        } catch {
            let located = key.map(error.below) ?? error
            self.error = located
            if decodingFailurePolicy == .raise { throw located }
            return otherwise
        }
    }
}
