import PropertyList

/// Reads objects from a keyed archive, by key, as the program's classes and Foundation's.
///
/// A shared object is decoded once; cycles work. Instances of unregistered classes become `ArchivedObject`.
public final class KeyedUnarchiver {
    /// The behaviour of a failed call.
    package enum FailurePolicy: String, Sendable, CaseIterable {
        /// It throws.
        case raise
        /// It records the first error in `error` and returns nil or 0, as all later calls do.
        case setErrorAndReturn
    }

    /// The archive's reader.
    package let reader: KeyedArchiveReader
    /// The policy for values that cannot be decoded.
    package var decodingFailurePolicy: FailurePolicy
    /// The first error, after which nothing more is decoded.
    package private(set) var error: ArchiveError?
    /// Whether secure coding is required: only allowed classes that support it are decoded.
    package let requiresSecureCoding: Bool

    /// Whether an allowed unknown class is decoded as an `ArchivedObject`; else only known classes are allowed.
    package var allowsNamedUnknownClasses = false
    /// Called with a key that is decoded and that the current object, or the archive's top, does not have.
    package var onAbsentKey: ((String) -> Void)?

    /// Whether Foundation's instances become Swift values only if encoding restores them exactly, for `ArchiveGraph`.
    var keepsForm = false
    /// By UID, the reasons why objects could not be filled, which are then incomplete; nil to throw the first one.
    var failures: [UInt32: ArchiveError]?
    var objects: DecodedObjects
    var checks = ClassChecks()
    /// The objects of the program that are being decoded, the innermost last.
    var frames: [Frame] = []
    private var bindings: NameTable<ArchiveClassBinding> = [:]
    private var topUnkeyedCount = 0
    private var isFinished = false

    /// An object of the program during its decoding.
    struct Frame {
        let record: ArchiveRecord
        var unkeyedCount = 0
        var adopted: (any KeyedEncodable)?
    }

    /// - Parameters:
    ///   - reader: the archive.
    ///   - classes: the program's classes, by their archived names.
    ///   - requiresSecureCoding: whether secure coding is required.
    ///   - failurePolicy: the behaviour of a failed call.
    package init(
        reader: KeyedArchiveReader, classes: [any KeyedCoding.Type] = [], requiresSecureCoding: Bool = false,
        failurePolicy: FailurePolicy = .raise
    ) {
        self.reader = reader
        self.requiresSecureCoding = requiresSecureCoding
        decodingFailurePolicy = failurePolicy
        objects = DecodedObjects(reader.propertyList)
        for type in classes { setClass(type, forClassName: type.archivedClass.name) }
    }

    /// Opens an archive in binary or XML form. A failed call throws.
    public convenience init(
        _ bytes: [UInt8], classes: [any KeyedCoding.Type] = [], requiresSecureCoding: Bool = false,
        limits: ArchiveLimits = ArchiveLimits()
    ) throws(ArchiveError) {
        try self.init(
            bytes, classes: classes, requiresSecureCoding: requiresSecureCoding, failurePolicy: .raise, limits: limits)
    }

    /// The same with a policy for failed calls.
    package convenience init(
        _ bytes: [UInt8], classes: [any KeyedCoding.Type] = [], requiresSecureCoding: Bool = false,
        failurePolicy: FailurePolicy, limits: ArchiveLimits = .standard
    ) throws(ArchiveError) {
        self.init(
            reader: try KeyedArchiveReader(bytes, limits: limits), classes: classes,
            requiresSecureCoding: requiresSecureCoding, failurePolicy: failurePolicy)
    }

    /// Maps an archived class name to a class of the program.
    public func setClass(_ type: any KeyedCoding.Type, forClassName name: String) {
        bindings[name] = ArchiveClassBinding(type)
    }

    /// Maps a class's own archived name to it, unless the name is mapped already.
    func setClassIfNew(_ type: any KeyedCoding.Type) {
        let name = type.archivedClass.name
        if bindings[name] == nil { setClass(type, forClassName: name) }
    }

    /// Maps an archived class name to a class made at run time; nil removes the mapping.
    package func setClass(_ binding: ArchiveClassBinding?, forClassName name: String) {
        bindings[name] = binding
    }

    /// The binding of an archived class name: this unarchiver's, else the global one.
    package func binding(forClassName name: String) -> ArchiveClassBinding? {
        bindings[name] ?? ArchiveClassNames.shared.type(forClassName: name).map(ArchiveClassBinding.init)
    }

    /// Maps an archived class name to a class of the program for every unarchiver without its own mapping; nil removes
    /// the mapping. May be called on any thread.
    public static func setClass(_ type: (any KeyedCoding.Type)?, forClassName name: String) {
        ArchiveClassNames.shared.setType(type, forClassName: name)
    }

    /// Whether instances of a class are decoded to `ArchiveValue` without a class of the program.
    package static func decodesItself(className: String) -> Bool { FoundationClass(name: className) != nil }

    /// The classes of Foundation that need no declaration.
    package static var foundationClassNames: [String] { FoundationClass.allCases.map(\.rawValue) }

    /// Whether an object of the program is being decoded: the calls then read its values, else the archive's top.
    package var isDecodingObject: Bool {
        !frames.isEmpty
    }

    /// Ends the decoding and releases the decoded objects. Later calls fail.
    ///
    /// - Throws: the first error, which the policy `setErrorAndReturn` has only recorded.
    public func finishDecoding() throws(ArchiveError) {
        isFinished = true
        objects.removeAll()
        checks.removeAll()
        if let error { throw error }
    }

    /// Registers the object before its init ends, so that objects decoded from now on may refer back to it.
    public func adopt(_ object: any KeyedEncodable) {
        guard let last = frames.indices.last else { return }
        frames[last].adopted = object
        objects.finish(frames[last].record.uid, .object(object))
    }

    /// The classes of a call that names none, with secure coding: property-list objects, and within an object's init
    /// the classes allowed for that object.
    var implicitlyAllowed: AllowedClasses? {
        guard requiresSecureCoding else { return nil }
        guard !frames.isEmpty, let allowed = checks.allowed else { return .propertyList }
        return allowed.union(.propertyList)
    }

    // MARK: - Keys

    /// Whether the current object, or the archive's top, has a value for a key. An encoded nil counts.
    public func containsValue(forKey key: String) -> Bool {
        if let frame = frames.last { return frame.record.containsValue(forKey: key) }
        return reader.topNumber(forKey: key) != nil
    }

    /// The keys of the current object, or of the archive's top.
    package var keys: [String] { frames.last?.record.keys ?? reader.topKeys }

    /// The number of a key's value in the property list.
    func number(forKey key: String) -> Int? {
        guard let frame = frames.last else {
            let number = reader.topNumber(forKey: key)
            if number == nil { onAbsentKey?(key) }
            return number
        }
        guard let slot = frame.record.shape.slot(of: key) else {
            onAbsentKey?(key)
            return nil
        }
        return frame.record.number(at: slot)
    }

    /// The number of the next unkeyed value in the property list; nil when there is none.
    func nextUnkeyed() -> Int? {
        guard let last = frames.indices.last else {
            defer { topUnkeyedCount += 1 }
            return reader.topNumber(forStoredKey: "$\(topUnkeyedCount)")
        }
        defer { frames[last].unkeyedCount += 1 }
        let record = frames[last].record
        return record.shape.slot(ofStored: "$\(frames[last].unkeyedCount)").map(record.number(at:))
    }

    /// Runs a decoding call and handles its error by the policy.
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

/// The objects of an archive that are decoded already, and those whose contents are pending.
struct DecodedObjects {
    enum State {
        case inProgress
        case done(ArchiveValue)
    }

    /// A collection or unknown object whose contents are not decoded yet.
    struct Unfilled {
        let value: ArchiveValue
        let record: ArchiveRecord
        let allowed: AllowedClasses?
    }

    /// An object of the program that is referenced before its init has run.
    struct Postponed {
        let object: any KeyedEncodable
        let record: ArchiveRecord
        let binding: ArchiveClassBinding
        let allowed: AllowedClasses?
    }

    /// The visited objects, if a caller needs them.
    var visited: Set<UInt32>?
    private var states: [UInt32: State] = [:]
    private var unfilled: [Unfilled] = []
    /// Objects that are initialised after the recursion returns.
    private var postponed: [Postponed] = []
    /// Strings and data on the heap, by number in the property list, for sharing.
    private var sharedValues: [Int: PropertyListValue] = [:]
    /// By number in the property list, whether a container leads to a reference.
    private var holders: [Int: Bool] = [:]
    private let list: BinaryPropertyListReader
    /// The remaining budget against hostile archives.
    private var budget: DecodingBudget
    /// The containers in place that may still be decoded, a shared one each time.
    private var containersLeft: Int

    init(_ list: BinaryPropertyListReader) {
        self.list = list
        budget = DecodingBudget(list, factor: 8)
        containersLeft = list.limits.maximumValues(ofObjects: list.objectCount)
    }

    // MARK: - States

    /// The state of an object that is referred to; nil if nothing of it is decoded.
    mutating func visit(_ uid: UInt32) -> State? {
        visited?.insert(uid)
        return states[uid]
    }

    /// Records that an object is being decoded.
    mutating func begin(_ uid: UInt32) { states[uid] = .inProgress }

    mutating func finish(_ uid: UInt32, _ value: ArchiveValue) { states[uid] = .done(value) }

    /// Records that an object could not be decoded: it must not count as complete.
    mutating func forget(_ uid: UInt32) { states[uid] = nil }

    /// Registers an empty object, to be filled later.
    mutating func leave(_ unfilled: Unfilled) {
        finish(unfilled.record.uid, unfilled.value)
        self.unfilled.append(unfilled)
    }

    /// Registers an object to be initialised later.
    mutating func postpone(_ object: Postponed) { postponed.append(object) }

    mutating func nextUnfilled() -> Unfilled? { unfilled.popLast() }

    mutating func nextPostponed() -> Postponed? { postponed.popLast() }

    /// Releases the objects.
    mutating func removeAll() {
        states = [:]
        unfilled = []
        postponed = []
    }

    // MARK: - Values

    /// Subtracts the bytes of an object about to be decoded.
    ///
    /// - Throws: `readCorrupt` when the objects so far exceed the file.
    mutating func spend(_ number: Int) throws(ArchiveError) {
        try lifted { () throws(PropertyListError) in try budget.spend(number) }
    }

    /// Counts a container in place that is about to be decoded.
    ///
    /// - Throws: `readCorrupt` when it nests too deep, or when the containers so far unfold too far.
    mutating func unfold(_ number: Int, depth: Int) throws(ArchiveError) {
        if let excess = list.limits.excess(atDepth: depth) { throw .corrupt("containers nest \(excess)") }
        try spend(number)
        containersLeft -= 1
        if containersLeft < 0 { throw .corrupt("the containers within fields unfold too far") }
    }

    /// Whether a container leads to a reference, directly or through containers in it.
    mutating func holdsReference(_ number: Int) throws(ArchiveError) -> Bool {
        try lifted { () throws(PropertyListError) in try list.holdsReference(number, &holders) }
    }

    /// A value of the property list. Strings and data on the heap are made once and shared.
    mutating func sharedValue(_ number: Int) throws(ArchiveError) -> PropertyListValue {
        if let known = sharedValues[number] { return known }
        try spend(number)
        let value = try list.value(in: number)
        switch value {
        case .string(let text) where text.utf8.count > 15: sharedValues[number] = value
        case .data(let bytes) where !bytes.isEmpty: sharedValues[number] = value
        case .array, .dictionary, .set: sharedValues[number] = value
        default: break
        }
        return value
    }
}
