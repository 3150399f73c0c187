package import PropertyList

/// The value of a node of an `ArchiveTree`.
package struct TreeValue {
    /// The content of a node.
    package enum Content {
        /// Nil: a reference to no object.
        case nothing
        /// A string, number, date, data or null.
        case leaf(PropertyListValue)
        /// One of Foundation's small value classes.
        case value(FoundationValue)
        /// Values in order: an array, an ordered set.
        case list
        /// Values in no order: a set.
        case bag
        /// Values by key: a dictionary.
        case dictionary
        /// Values by key: an instance of any other class.
        case object
        /// An unreadable value.
        case broken(ArchiveError)
    }

    /// The content of the node.
    package var content: Content
    /// The class name in the archive; nil for leaves and plain values.
    package var className: String?
    /// The object's identity; nil for leaves.
    package var identity: Int?
    /// The number of values in it.
    package var count = 0
    /// The number of fields that its class does not read, which are shown after its value, elements or entries.
    package var fieldCount = 0

    init(_ content: Content, className: String? = nil, identity: Int? = nil, count: Int = 0, fieldCount: Int = 0) {
        self.content = content
        self.className = className
        self.identity = identity
        self.count = count
        self.fieldCount = fieldCount
    }

    /// Whether it has children.
    var hasParts: Bool { count + fieldCount > 0 }

    /// Whether this is a value without parts and without a number of its own in JSON.
    var isPlainLeaf: Bool {
        guard case .leaf(let leaf) = content, fieldCount == 0 else { return false }
        return leaf != .null
    }

    var isPlainDictionary: Bool {
        guard case .dictionary = content else { return false }
        return className == nil || className == "NSDictionary" || className == "NSMutableDictionary"
    }

    var isAttributedString: Bool {
        guard case .object = content else { return false }
        return className == "NSAttributedString" || className == "NSMutableAttributedString"
    }

    /// Whether this is inline text or data that is expensive to process, whose result is cached.
    var isLongLeaf: Bool {
        guard identity == nil, case .leaf(let leaf) = content else { return false }
        return switch leaf {
        case .string(let text): text.utf8.count > 512
        case .utf16(let units): units.count > 512
        case .data(let bytes): bytes.count > 512
        default: false
        }
    }
}

extension ArchiveTree {
    /// The value of a node. It never fails: an unreadable one is `broken`.
    package func value(_ node: Node) -> TreeValue {
        do throws(ArchiveError) {
            return try read(node)
        } catch {
            return TreeValue(.broken(error))
        }
    }

    /// The object of a node: its UID and its number in the property list. An inline scalar has no UID.
    func resolve(_ node: Node) throws(ArchiveError) -> (uid: UInt32?, number: Int) {
        if let uid = node.uid { return (uid, node.number) }
        guard let archive, let uid = try propertyList.uid(in: node.number) else { return (nil, node.number) }
        return (uid, try archive.number(of: uid))
    }

    private func read(_ node: Node) throws(ArchiveError) -> TreeValue {
        let (uid, number) = try resolve(node)
        if uid == 0 { return TreeValue(.nothing) }
        if let uid, let archive, try archive.isNil(uid) { return TreeValue(.nothing) }
        if let container = try propertyList.container(in: number) {
            if archive != nil, let record = try record(number, uid: uid) { return try describe(record) }
            let identity = archive == nil ? number : uid.map(Int.init)
            return TreeValue(Self.content(container.kind), identity: identity, count: container.count)
        }
        return TreeValue(.leaf(try propertyList.value(in: number)))
    }

    private static func content(_ kind: BinaryPropertyListReader.Kind) -> TreeValue.Content {
        switch kind {
        case .dictionary: .dictionary
        case .set: .bag
        default: .list
        }
    }

    /// The instance with a number; nil for other objects.
    func record(_ number: Int, uid: UInt32?) throws(ArchiveError) -> ArchiveRecord? {
        // Only an entry of `$objects` is an instance; an inline dictionary is a value.
        guard let uid else { return nil }
        return try archive?.record(at: uid)
    }

    func describe(_ record: ArchiveRecord) throws(ArchiveError) -> TreeValue {
        let name = try record.className()
        let identity = Int(record.uid)
        let object = TreeValue(.object, className: name, identity: identity, count: record.keys.count)
        guard let unarchiver, let builtin = FoundationClass(name: name) else { return object }
        func shown(_ content: TreeValue.Content, count: Int = 0) -> TreeValue {
            TreeValue(
                content, className: name, identity: identity, count: count,
                fieldCount: builtin.otherSlots(of: record).count)
        }
        switch builtin {
        case .array, .mutableArray, .set, .mutableSet, .orderedSet, .mutableOrderedSet, .countedSet:
            let isSet = builtin == .set || builtin == .mutableSet || builtin == .countedSet
            guard let count = try elementCount(record) else { return object }
            return shown(isSet ? .bag : .list, count: count)
        case .dictionary, .mutableDictionary:
            let (keys, values) = try dictionaryNumbers(record)
            guard keys.count == values.count else {
                throw .corrupt("a dictionary's keys and objects don't match (object \(record.uid))")
            }
            return shown(.dictionary, count: keys.count)
        default: break
        }
        switch try unarchiver.decode(record, as: builtin) {
        case .string(let text): return shown(.leaf(.string(text)))
        case .utf16(let units): return shown(.leaf(.utf16(units)))
        case .mutableString(let object): return shown(.leaf(.string(object.text)))
        case .data(let bytes): return shown(.leaf(.data(bytes)))
        case .mutableData(let object): return shown(.leaf(.data(object.bytes)))
        case .date(let date): return shown(.leaf(.date(date)))
        case .null: return shown(.leaf(.null))
        case .value(let value): return shown(.value(value))
        default: return object
        }
    }

    /// The numbers of a dictionary's keys and values, in lists or under numbered keys.
    func dictionaryNumbers(_ record: ArchiveRecord) throws(ArchiveError) -> (keys: [Int], values: [Int]) {
        func numbers(_ list: ArchiveReferences) -> [Int] { (0..<list.count).map(list.number(at:)) }
        if record.shape.slot(of: "NS.keys") == nil, record.shape.slot(of: "NS.objects") == nil {
            func numbers(_ prefix: String) -> [Int] {
                FoundationClass.numberedSlots(record, [prefix]).map(record.number(at:))
            }
            return (numbers("NS.key."), numbers("NS.object."))
        }
        guard let keys = try list("NS.keys", record), let values = try list("NS.objects", record) else {
            throw .corrupt("a dictionary's keys and objects don't match (object \(record.uid))")
        }
        return (numbers(keys), numbers(values))
    }

    func list(_ key: String, _ record: ArchiveRecord) throws(ArchiveError) -> ArchiveReferences? {
        guard let slot = record.shape.slot(of: key) else { return nil }
        return try record.references(at: slot)
    }

    /// The number of elements, in a list or under numbered keys; nil for another form.
    private func elementCount(_ record: ArchiveRecord) throws(ArchiveError) -> Int? {
        if let list = try list("NS.objects", record) { return list.count }
        guard record.shape.slot(of: "NS.objects") == nil else { return nil }
        return FoundationClass.numberedSlots(record, FoundationClass.elementPrefixes).count
    }
}
