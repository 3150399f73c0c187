import PropertyList

extension ArchiveTree {
    /// The children of a node, in the order of the file. Empty for leaves and unreadable nodes.
    public func children(_ node: Node) -> [Child] {
        (try? readChildren(node)) ?? []
    }

    private func readChildren(_ node: Node) throws(ArchiveError) -> [Child] {
        let (uid, number) = try resolve(node)
        if uid == 0 { return [] }
        if archive != nil, let record = try record(number, uid: uid) { return try children(of: record) }
        guard let container = try lifted({ () throws(PropertyListError) in try propertyList.container(at: number) })
        else { return [] }
        guard container.kind == .dictionary else {
            return (0..<container.count).map {
                Child(label: .index($0), node: Node(number: propertyList.reference($0, in: container)))
            }
        }
        var children: [Child] = []
        children.reserveCapacity(container.count)
        var met: Set<String> = []
        for index in 0..<container.count {
            let key = propertyList.reference(index, in: container)
            let node = Node(number: propertyList.valueReference(index, in: container))
            // Readers use the first entry of a key; the others are shown, too.
            if let text = try? propertyList.string(at: key), met.insert(text).inserted {
                children.append(Child(label: .key(text), node: node))
            } else {
                children.append(Child(label: .entryKey(index), node: Node(number: key)))
                children.append(Child(label: .entryValue(index), node: node))
            }
        }
        return children
    }

    private func children(of record: ArchiveRecord) throws(ArchiveError) -> [Child] {
        switch try describe(record).content {
        case .list, .bag:
            if let list = try list("NS.objects", record) { return nodes(list) }
            return Self.numberedSlots(record).enumerated().map { index, slot in
                Child(label: .index(index), node: Node(number: record.number(at: slot)))
            }
        case .dictionary: return try entries(of: record)
        case .object:
            return fields(of: record)
        default: return []
        }
    }

    private func fields(of record: ArchiveRecord) -> [Child] {
        var children: [Child] = []
        children.reserveCapacity(record.shape.storedKeys.count)
        var met: Set<String> = []
        for (slot, stored) in record.shape.storedKeys.enumerated() where slot != record.shape.classSlot {
            let node = Node(number: record.number(at: slot))
            let key = ArchiveKey.given(stored)
            if met.insert(key).inserted {
                children.append(Child(label: .key(key), node: node))
            } else {
                let number = propertyList.reference(slot, in: record.container)
                children.append(Child(label: .entryKey(slot), node: Node(number: number)))
                children.append(Child(label: .entryValue(slot), node: node))
            }
        }
        return children
    }

    private func nodes(_ list: ArchiveReferences) -> [Child] {
        (0..<list.count).map { Child(label: .index($0), node: Node(number: list.number(at: $0))) }
    }

    private func entries(of record: ArchiveRecord) throws(ArchiveError) -> [Child] {
        guard let keys = try list("NS.keys", record), let objects = try list("NS.objects", record) else { return [] }
        var children: [Child] = []
        children.reserveCapacity(keys.count)
        var met: Set<String> = []
        for index in 0..<min(keys.count, objects.count) {
            let node = Node(number: objects.number(at: index))
            let key = Node(number: keys.number(at: index))
            if let text = keyText(value(key)), met.insert(text).inserted {
                children.append(Child(label: .key(text), node: node))
            } else {
                children.append(Child(label: .entryKey(index), node: key))
                children.append(Child(label: .entryValue(index), node: node))
            }
        }
        return children
    }

    /// The text of a string key of a dictionary; other keys are values of their own.
    private func keyText(_ value: TreeValue) -> String? {
        if case .leaf(.string(let text)) = value.content { text } else { nil }
    }
}
