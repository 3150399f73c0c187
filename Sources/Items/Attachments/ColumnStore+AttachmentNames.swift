import ColumnEngine
import PropertyList

/// The names of attachment files. A single file has the item's key as its name and is not listed in the record. For
/// several, the record lists the names in order. Each name other than the key has the key as its prefix, which
/// identifies the item: no record can list a file of another item.
extension ColumnStore {
    /// The names that an item's record lists; nil without a list.
    func attachmentNames(_ row: UInt32) -> [String]? { attachmentNames(attachments(row), ofKey: keyString(row)) }

    /// The names in a record's list, whose content is unchecked.
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

    /// Whether an item in the store has a file of this name, whether or not the file exists.
    func namesAttachment(_ name: String) -> Bool {
        if let row = row(ofKey: name) { return attachmentNames(row)?.contains(name) ?? true }
        return itemNaming(name) != nil
    }

    /// The item whose record lists a name that is not an item's key.
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
    /// Whether an item has a file of this name, whether or not the file exists.
    package func namesAttachment(_ name: String) -> Bool { columns.namesAttachment(name) }

    /// The names that records list, with the items' positions.
    package var listedAttachments: [(position: Int, name: String)] {
        guard columns.attachmentField != nil else { return [] }
        return (0..<columns.count).flatMap { position in
            (columns.attachmentNames(columns.row(at: position)) ?? []).map { (position, $0) }
        }
    }
}
