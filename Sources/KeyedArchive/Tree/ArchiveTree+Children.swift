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
        var met: Set<ExactText> = []
        for index in 0..<container.count {
            let key = propertyList.reference(index, in: container)
            let node = Node(number: propertyList.valueReference(index, in: container))
            // Readers use the first entry of a key; the others are shown, too.
            if let text = try? propertyList.string(at: key), met.insert(ExactText(text)).inserted {
                children.append(Child(label: .key(text), node: node))
            } else {
                children.append(Child(label: .entryKey(index), node: Node(number: key)))
                children.append(Child(label: .entryValue(index), node: node))
            }
        }
        return children
    }

    private func children(of record: ArchiveRecord) throws(ArchiveError) -> [Child] {
        let value = try describe(record)
        var children: [Child] = []
        switch value.content {
        case .list, .bag: children = try elements(of: record)
        case .dictionary: children = try entries(of: record)
        case .object: return fields(of: record)
        default: break
        }
        guard value.fieldCount > 0, let builtin = value.className.flatMap(FoundationClass.init(name:)) else {
            return children
        }
        var met: Set<ExactText> = []
        for slot in builtin.otherSlots(of: record) {
            let stored = record.shape.storedKeys[slot]
            let names = [ArchiveKey.given(stored), stored, "\(stored)#\(slot)"]
            let name = names.first { met.insert(ExactText($0)).inserted } ?? stored
            children.append(Child(label: .field(name), node: Node(number: record.number(at: slot))))
        }
        return children
    }

    private func elements(of record: ArchiveRecord) throws(ArchiveError) -> [Child] {
        let isCounted = try record.className() == FoundationClass.countedSet.rawValue
        func element(_ index: Int, _ number: Int) -> Child {
            let count = isCounted ? record.shape.slot(of: "NS.count\(index)") : nil
            return Child(
                label: .index(index), node: Node(number: number),
                count: count.map { Node(number: record.number(at: $0)) })
        }
        if let list = try list("NS.objects", record) {
            return (0..<list.count).map { element($0, list.number(at: $0)) }
        }
        let slots = FoundationClass.numberedSlots(record, FoundationClass.elementPrefixes)
        return slots.enumerated().map { element($0, record.number(at: $1)) }
    }

    private func fields(of record: ArchiveRecord) -> [Child] {
        var children: [Child] = []
        children.reserveCapacity(record.shape.storedKeys.count)
        var met: Set<ExactText> = []
        for (slot, stored) in record.shape.storedKeys.enumerated() where slot != record.shape.classSlot {
            let node = Node(number: record.number(at: slot))
            let key = ArchiveKey.given(stored)
            if met.insert(ExactText(key)).inserted {
                children.append(Child(label: .key(key), node: node))
            } else {
                let number = propertyList.reference(slot, in: record.container)
                children.append(Child(label: .entryKey(slot), node: Node(number: number)))
                children.append(Child(label: .entryValue(slot), node: node))
            }
        }
        return children
    }

    private func entries(of record: ArchiveRecord) throws(ArchiveError) -> [Child] {
        let (keys, values) = try dictionaryNumbers(record)
        var children: [Child] = []
        children.reserveCapacity(keys.count)
        var met: Set<ExactText> = []
        for (index, (number, value)) in zip(keys, values).enumerated() {
            let (key, node) = (Node(number: number), Node(number: value))
            if let text = keyText(self.value(key)), met.insert(ExactText(text)).inserted {
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
