import PropertyList

/// Reads objects from a keyed archive, by key, as the program's classes and Foundation's.
///
/// A shared object is decoded once; cycles work. Instances of unregistered classes become `ArchivedObject`.
public final class KeyedUnarchiver {
    /// The behaviour of a failed call.
    public enum FailurePolicy: Sendable, Hashable {
        /// It throws.
        case raise
        /// It records the first error in `error` and returns nil or 0, as all later calls do.
        case setErrorAndReturn
    }

    /// The archive's reader.
    public let reader: KeyedArchiveReader
    /// The policy for values that cannot be decoded.
    public var decodingFailurePolicy: FailurePolicy
    /// The first error, after which nothing more is decoded.
    public internal(set) var error: ArchiveError?
    /// Whether secure coding is required: only allowed classes that support it are decoded.
    public let requiresSecureCoding: Bool

    /// Whether an allowed unknown class is decoded as an `ArchivedObject`; else only known classes are allowed.
    package var allowsNamedUnknownClasses = false

    var bindings: NameTable<ArchiveClassBinding> = [:]
    var state: [UInt32: Decoded] = [:]
    var frames: [Frame] = []
    var topUnkeyedCount = 0
    /// Collections and unknown objects with pending contents.
    var unfilled: [Unfilled] = []
    /// The classes that the current call allows; nil for all.
    var allowed: AllowedClasses?
    /// Whether Foundation's instances become Swift values only if encoding restores them exactly, for `ArchiveGraph`.
    var keepsForm = false
    /// Strings and data on the heap, by number in the property list, for sharing.
    var sharedValues: [Int: PropertyListValue] = [:]
    /// The remaining budget against hostile archives.
    var budget: DecodingBudget
    /// The visited objects, if a caller needs them.
    var visited: Set<UInt32>?
    /// Objects that are initialised after the recursion returns.
    var postponed: [Postponed] = []
    /// Objects of other calls, to be checked against this call's list when they are complete.
    var rechecks: [Recheck] = []
    /// Rechecks that met an incomplete object.
    var unfinishedRechecks: [Recheck] = []
    /// The collections being filled while objects of the program are decoded for them.
    var filling: Set<ObjectIdentifier> = []
    /// The objects that have passed a list, by list.
    var passed: [AllowedClasses: Set<ObjectIdentifier>] = [:]
    var isFinished = false

    enum Decoded {
        case inProgress
        case done(ArchiveValue)
    }

    /// An object of the program during its decoding.
    struct Frame {
        var record: ArchiveRecord
        var unkeyedCount = 0
        var adopted: (any KeyedEncodable)?
    }

    /// - Parameters:
    ///   - reader: the archive.
    ///   - classes: the program's classes, by their archived names.
    ///   - requiresSecureCoding: whether secure coding is required.
    ///   - failurePolicy: the behaviour of a failed call.
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

    /// Maps an archived class name to a class of the program.
    public func setClass(_ type: any KeyedCoding.Type, forClassName name: String) {
        bindings[name] = ArchiveClassBinding(type)
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

    /// The globally mapped class of an archived class name.
    public static func classForClassName(_ name: String) -> (any KeyedCoding.Type)? {
        ArchiveClassNames.shared.type(forClassName: name)
    }

    /// Whether instances of a class are decoded to `ArchiveValue` without a class of the program.
    package static func decodesItself(className: String) -> Bool { FoundationClass(name: className) != nil }

    /// The classes of Foundation that need no declaration.
    package static var ownClassNames: [String] { FoundationClass.allCases.map(\.rawValue) }

    /// Whether an object of the program is being decoded: the calls then read its values, else the archive's top.
    package var isDecodingObject: Bool { !frames.isEmpty }

    /// Whether values are decoded by key; always true.
    public var allowsKeyedCoding: Bool { true }

    /// Ends the decoding and releases the decoded objects. Later calls fail.
    ///
    /// - Throws: the first error, which the policy `setErrorAndReturn` has only recorded.
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

    /// Registers the object before its init ends, so that objects decoded from now on may refer back to it.
    public func adopt(_ object: any KeyedEncodable) {
        guard let last = frames.indices.last else { return }
        frames[last].adopted = object
        state[frames[last].record.uid] = .done(.object(object))
    }

    // MARK: - Keys

    /// Whether the current object, or the archive's top, has a value for a key. An encoded nil counts.
    public func containsValue(forKey key: String) -> Bool {
        if let frame = frames.last { return frame.record.containsValue(forKey: key) }
        return reader.topNumber(forKey: key) != nil
    }

    /// The keys of the current object, or of the archive's top.
    public var keys: [String] { frames.last?.record.keys ?? reader.topKeys }

    /// The number of a key's value in the property list.
    func number(forKey key: String) -> Int? {
        guard let frame = frames.last else { return reader.topNumber(forKey: key) }
        return frame.record.shape.slot(of: key).map(frame.record.number(at:))
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

extension KeyedUnarchiver {
    /// An object that another call decoded, and the classes that this call allows.
    struct Recheck {
        var value: ArchiveValue
        var allowed: AllowedClasses
    }

    /// The classes of a call that names none, with secure coding: property-list objects, and within an object's init
    /// the classes allowed for that object.
    var implicitlyAllowed: AllowedClasses? {
        guard requiresSecureCoding else { return nil }
        guard !frames.isEmpty, let allowed else { return .propertyList }
        return allowed.union(.propertyList)
    }

    func check(_ archivedClass: ArchivedClass) throws(ArchiveError) {
        guard let allowed, !allowed.allow(archivedClass) else { return }
        throw Self.notAllowed(archivedClass, allowed)
    }

    private static func notAllowed(_ archivedClass: ArchivedClass, _ allowed: AllowedClasses) -> ArchiveError {
        .corrupt(
            "the class \(archivedClass.name) is not among those allowed here: "
                + allowed.names.sorted().joined(separator: ", "))
    }

    /// Checks an object of another call against this call's list, with everything below it.
    func checkAgain(_ value: ArchiveValue) throws(ArchiveError) {
        guard let allowed else { return }
        try check(value, allowed)
        // Its contents may be incomplete.
        switch value {
        case .collection, .dictionary, .unknown: rechecks.append(Recheck(value: value, allowed: allowed))
        default: break
        }
    }

    /// Checks reused objects against the lists of the calls that reused them. Objects that lead to an incomplete
    /// collection are checked again after its completion.
    func recheck() throws(ArchiveError) {
        var open = rechecks
        rechecks = []
        if filling.isEmpty {
            open += unfinishedRechecks
            unfinishedRechecks = []
        }
        for recheck in open where try !isWholeAndAllowed(recheck) { unfinishedRechecks.append(recheck) }
    }

    /// - Returns: false when an object on the way is incomplete.
    private func isWholeAndAllowed(_ recheck: Recheck) throws(ArchiveError) -> Bool {
        var seen = passed[recheck.allowed] ?? []
        var pending = [recheck.value]
        var isWhole = true
        passed[recheck.allowed] = nil
        while let value = pending.popLast() {
            try check(value, recheck.allowed)
            guard let identity = value.identity, seen.insert(ObjectIdentifier(identity)).inserted else { continue }
            if filling.contains(ObjectIdentifier(identity)) { isWhole = false }
            value.forEachReference { if let value = $0 { pending.append(value) } }
        }
        // An object that leads to an incomplete one has not passed.
        if isWhole { passed[recheck.allowed] = seen }
        return isWhole
    }

    private func check(_ value: ArchiveValue, _ allowed: AllowedClasses) throws(ArchiveError) {
        let archivedClass: ArchivedClass
        switch value {
        case .object(let object): archivedClass = object.classForKeyedArchiver
        case .unknown(let object): archivedClass = object.archivedClass
        case .string, .boolean, .integer, .wideInteger, .real, .single, .data: return
        default:
            guard let builtin = FoundationClass(name: value.className) else { return }
            archivedClass = builtin.archivedClass
        }
        guard allowed.allow(archivedClass) else { throw Self.notAllowed(archivedClass, allowed) }
    }
}

/// The classes that a decoding call accepts, by name, with their subclasses.
public struct AllowedClasses: Sendable, Hashable {
    /// The names of the classes.
    public var names: Set<String> { Set(exact) }

    private let exact: NameSet

    /// The classes of property list objects.
    public static let propertyList = AllowedClasses(unchecked: [
        "NSString", "NSNumber", "NSData", "NSDate", "NSArray", "NSDictionary",
    ])

    private init(unchecked names: NameSet) { exact = names }

    /// - Throws: `readCorrupt` for `NSObject`, which would allow every class.
    public init(_ names: some Sequence<String>) throws(ArchiveError) {
        let names = NameSet(names)
        guard !names.contains("NSObject") else {
            throw .corrupt("allowing NSObject would allow every class; name the classes that are expected")
        }
        exact = names
    }

    /// Whether a class is one of these itself.
    func contains(_ name: String) -> Bool { exact.contains(name) }

    /// These classes and others.
    func union(_ other: AllowedClasses) -> AllowedClasses { AllowedClasses(unchecked: exact.union(other.exact)) }

    /// Whether a class is one of these or below one.
    func allow(_ archivedClass: ArchivedClass) -> Bool {
        contains(archivedClass.name) || archivedClass.superclasses.contains { contains($0) }
    }
}

/// Makes instances of a class from an archive. The binding of a Swift class uses `KeyedCoding`; a class made at run
/// time has its own functions.
package struct ArchiveClassBinding {
    /// The class and its superclasses; allow-lists are checked against these names.
    package var archivedClass: ArchivedClass
    /// Whether the class supports secure coding.
    package var supportsSecureCoding: Bool
    /// Makes an empty instance, which is registered before its contents are decoded, so that cycles work; nil for a
    /// class that only `initialize` makes.
    let allocate: (() throws(ArchiveError) -> any KeyedEncodable)?
    /// Decodes the contents, into the empty instance if there is one, and returns the object.
    let initialize: (KeyedUnarchiver, (any KeyedEncodable)?) throws(ArchiveError) -> any KeyedEncodable

    /// The binding of a class made at run time.
    ///
    /// - Parameters:
    ///   - archivedClass: its name and its superclasses.
    ///   - supportsSecureCoding: whether it supports secure coding.
    ///   - allocate: makes an empty instance.
    ///   - initialize: decodes its contents.
    package init<Object: KeyedEncodable>(
        _ archivedClass: ArchivedClass, supportsSecureCoding: Bool = false,
        allocate: @escaping () throws(ArchiveError) -> Object,
        initialize: @escaping (Object, KeyedUnarchiver) throws(ArchiveError) -> Void
    ) {
        self.archivedClass = archivedClass
        self.supportsSecureCoding = supportsSecureCoding
        self.allocate = { () throws(ArchiveError) -> any KeyedEncodable in try allocate() }
        self.initialize = { (coder, empty) throws(ArchiveError) -> any KeyedEncodable in
            guard let object = empty as? Object else {
                throw .corrupt("an instance of \(archivedClass.name) could not be made")
            }
            try initialize(object, coder)
            return object
        }
    }

    /// The binding of a Swift class.
    package init(_ type: any KeyedCoding.Type) {
        archivedClass = type.archivedClass
        supportsSecureCoding = type.supportsSecureCoding
        allocate = nil
        initialize = { (coder, _) throws(ArchiveError) -> any KeyedEncodable in try type.init(coder: coder) }
    }
}
