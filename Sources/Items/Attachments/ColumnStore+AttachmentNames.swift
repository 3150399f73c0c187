import ColumnEngine
import PropertyList

/// The names of the files that go with items. One file has the item's key as its name, and the record says nothing of it; of
/// several, the record lists the names, in order. Each name but the key itself begins with the key, so that it tells the item,
/// and no record can name a file of another item.
extension ColumnStore {
    /// The names that an item's record lists; nil when it has no list.
    func attachmentNames(_ row: UInt32) -> [String]? { attachmentNames(attachments(row), ofKey: keyString(row)) }

    /// The names in a list of a record, which may hold anything.
    func attachmentNames(_ list: PropertyListValue?, ofKey key: String) -> [String]? {
        guard case .array(let elements)? = list else { return nil }
        var known: Set<String> = []
        var names: [String] = []
        for element in elements {
            guard case .string(let name) = element else { return nil }
            if (name == key || isFurther(name, of: key)) && known.insert(name).inserted { names.append(name) }
        }
        return names
    }

    private func isFurther(_ name: String, of key: String) -> Bool {
        AttachmentKey.owner(of: name) == key && AttachmentKey.isKey(name) && row(ofKey: name) == nil
    }

    /// Whether an item in the store has a file of this name, there or not.
    func namesAttachment(_ name: String) -> Bool {
        if let row = row(ofKey: name) { return attachmentNames(row)?.contains(name) ?? true }
        return itemNaming(name) != nil
    }

    /// The item whose record lists a name that is no item's key.
    func itemNaming(_ name: String) -> UInt32? {
        guard attachmentField != nil, let key = AttachmentKey.owner(of: name), let row = row(ofKey: key) else {
            return nil
        }
        return attachmentNames(row)?.contains(name) == true ? row : nil
    }

    func row(ofKey key: String) -> UInt32? {
        var key = key
        return key.withUTF8 { row(forKey: $0) }
    }
}

extension ItemStore {
    /// Whether an item has a file of this name, there or not.
    package func namesAttachment(_ name: String) -> Bool { columns.namesAttachment(name) }

    /// The names that records list, with their items' positions.
    package var listedAttachments: [(position: Int, name: String)] {
        guard columns.attachmentField != nil else { return [] }
        return (0..<columns.count).flatMap { position in
            (columns.attachmentNames(columns.row(at: position)) ?? []).map { (position, $0) }
        }
    }
}
