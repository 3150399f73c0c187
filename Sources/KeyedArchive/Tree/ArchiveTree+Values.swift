import PropertyList

extension ArchiveTree {
    /// The value of a node. It never fails: an unreadable one is `broken`.
    public func value(_ node: Node) -> TreeValue {
        do throws(ArchiveError) {
            return try read(node)
        } catch {
            return TreeValue(.broken(error))
        }
    }

    /// The object of a node: its UID and its number in the property list. An inline scalar has no UID.
    func resolve(_ node: Node) throws(ArchiveError) -> (uid: UInt32?, number: Int) {
        if let uid = node.uid { return (uid, node.number) }
        guard let archive,
            let uid = try lifted({ () throws(PropertyListError) in try propertyList.uid(at: node.number) })
        else { return (nil, node.number) }
        return (uid, try archive.number(of: uid))
    }

    private func read(_ node: Node) throws(ArchiveError) -> TreeValue {
        let (uid, number) = try resolve(node)
        if uid == 0 { return TreeValue(.nothing) }
        if let uid, let archive, try archive.isNil(uid) { return TreeValue(.nothing) }
        if let container = try lifted({ () throws(PropertyListError) in try propertyList.container(at: number) }) {
            if archive != nil, let record = try record(number, uid: uid) { return try describe(record) }
            let identity = archive == nil ? number : nil
            return TreeValue(Self.content(container.kind), identity: identity, count: container.count)
        }
        return TreeValue(.leaf(try lifted { () throws(PropertyListError) in try propertyList.value(at: number) }))
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
        let own = record.keys.count
        guard let unarchiver, let builtin = FoundationClass(name: name) else {
            return TreeValue(.object, className: name, identity: identity, count: own)
        }
        switch builtin {
        case .array, .mutableArray, .set, .mutableSet, .orderedSet, .mutableOrderedSet, .countedSet:
            let isSet = builtin == .set || builtin == .mutableSet || builtin == .countedSet
            guard let count = try elementCount(record) else {
                return TreeValue(.object, className: name, identity: identity, count: own)
            }
            return TreeValue(isSet ? .bag : .list, className: name, identity: identity, count: count)
        case .dictionary, .mutableDictionary:
            guard let keys = try list("NS.keys", record), let objects = try list("NS.objects", record),
                keys.count == objects.count
            else { throw .corrupt("a dictionary's keys and objects don't match (object \(record.uid))") }
            return TreeValue(.dictionary, className: name, identity: identity, count: keys.count)
        default: break
        }
        guard let value = try unarchiver.decode(record, as: builtin) else {
            return TreeValue(.object, className: name, identity: identity, count: own)
        }
        let content: TreeValue.Content? =
            switch value {
            case .string(let text): .leaf(.string(text))
            case .mutableString(let object): .leaf(.string(object.text))
            case .data(let bytes): .leaf(.data(bytes))
            case .mutableData(let object): .leaf(.data(object.bytes))
            case .date(let date): .leaf(.date(date))
            case .null: .leaf(.null)
            case .value(let value): .value(value)
            default: nil
            }
        guard let content else { return TreeValue(.object, className: name, identity: identity, count: own) }
        return TreeValue(content, className: name, identity: identity)
    }

    func list(_ key: String, _ record: ArchiveRecord) throws(ArchiveError) -> ArchiveReferences? {
        guard let slot = record.shape.slot(of: key) else { return nil }
        return try record.references(at: slot)
    }

    /// The number of elements, in a list or under numbered keys; nil for another form.
    private func elementCount(_ record: ArchiveRecord) throws(ArchiveError) -> Int? {
        if let list = try list("NS.objects", record) { return list.count }
        guard record.shape.slot(of: "NS.objects") == nil else { return nil }
        return Self.numberedSlots(record).count
    }

    /// The slots of elements under numbered keys, from 0 on.
    static func numberedSlots(_ record: ArchiveRecord) -> [Int] {
        for prefix in ["NS.object.", "NS.object"] {
            var slots: [Int] = []
            while let slot = record.shape.slot(of: "\(prefix)\(slots.count)") { slots.append(slot) }
            if !slots.isEmpty { return slots }
        }
        return []
    }
}
