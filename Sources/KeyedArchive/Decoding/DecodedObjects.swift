import PropertyList

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
    private let list: BinaryPropertyListReader
    /// The remaining budget against hostile archives.
    private var budget: DecodingBudget

    init(_ list: BinaryPropertyListReader) {
        self.list = list
        budget = DecodingBudget(list, factor: 8)
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
