import ColumnEngine
import Files
import ItemArchive
import PropertyList

/// Several attachments of an item, in order. New files are written before the record lists them; dropped ones are
/// removed after the commit. So an item has either its old or its new attachments at any moment; a crash leaves a
/// superfluous file at worst. For an item without attachments, the first exists a moment before the others are listed.
/// Reordering writes no file.
extension ItemAttachments {
    /// All attachments of an item, in order; for a key without an item, its file. Missing files are skipped.
    ///
    /// - Throws: as ``bytes(forKey:)``.
    public func allBytes(forKey key: String) throws(StoreError) -> [[UInt8]] {
        try checkKey(key)
        var all: [[UInt8]] = []
        for file in files(forKey: key) {
            if let bytes = try bytes(of: file) { all.append(bytes) }
        }
        return all
    }

    /// Sets all attachments of an item, in order. Existing ones are not written again; dropped ones are removed by the
    /// next commit, and an undo restores them.
    ///
    /// - Parameters:
    ///   - all: the bytes.
    ///   - key: the item's; the first attachment has it as its name.
    /// - Throws: `StoreError`: as ``setBytes(_:forKey:)``. Nothing is changed then.
    public func setAllBytes(_ all: [[UInt8]], forKey key: String) throws(StoreError) {
        try checkChange(key)
        if !all.isEmpty { try checkItem(key) }
        try set(all.map { .bytes($0) }, forKey: key)
    }

    /// The existing attachment files of an item, in order.
    package func files(forKey key: String) -> [AttachmentFile] {
        if let shared, let item = item(key) { return shared.files(of: item, limit: byteLimit) }
        return files(presentNames(forKey: key))
    }

    /// The same with files that the item's record lists and that are not there.
    package func listedFiles(forKey key: String) -> [AttachmentFile] {
        listedNames(forKey: key).map { files($0.filter(AttachmentKey.isKey)) } ?? files(forKey: key)
    }

    private func files(_ names: [String]) -> [AttachmentFile] {
        names.compactMap { name in path(ofFile: name).map { AttachmentFile($0, name: name) } }
    }

    /// Sets all attachments of an item; see ``setAllBytes(_:forKey:)``.
    package func set(_ contents: [AttachmentContent], forKey key: String) throws(StoreError) {
        try checkChange(key)
        if let shared, let item = item(key) {
            try shared.set(contents, of: item, limit: byteLimit)
            onChange?(key)
            return
        }
        let listed = listedNames(forKey: key)
        let old = listed ?? presentNames(forKey: key)
        // The first attachment of an item is named by the item's key, where other programs expect it.
        let (names, new) = try plan(contents, old, key, firstName: listed == nil && old.isEmpty ? key : nil)
        if names == old { return }
        guard let item = item(key) else {
            if names.isEmpty { return try removeBytes(forKey: key) }
            guard names.count == 1, let bytes = new.first?.bytes else {
                throw StoreError(
                    .itemRemoved, "no item has the itemKey \(key), and only an item has several attachments")
            }
            return try setBytes(bytes, forAnyKey: key)
        }
        if listed == nil {
            // A single file is named by the item's key and not listed in the record.
            if names.isEmpty { return try removeBytes(forKey: key) }
            if names.count == 1, let bytes = new.first?.bytes { return try setBytes(bytes, forAnyKey: key) }
        }
        for (name, _) in new { try checkKey(name) }
        do throws(FileError) {
            // The first one is written last: until it exists, the item has no attachment.
            for (name, bytes) in new.reversed() {
                if name != key { freshNames.insert(name) }
                try write(bytes, name)
            }
        } catch {
            for (name, _) in new { discard(name) }
            throw StoreError(file: error)
        }
        try setNames(names, of: item)
    }

    /// Plans the names of an item's attachment files, and which of them to write.
    private func plan(
        _ contents: [AttachmentContent], _ old: [String], _ key: String, firstName: String?
    ) throws(StoreError) -> (names: [String], new: [(name: String, bytes: [UInt8])]) {
        var unused = NameSet(old)
        var names: [String] = []
        var new: [(name: String, bytes: [UInt8])] = []
        for content in contents {
            let bytes: [UInt8]
            switch content {
            case .existing(let name):
                if unused.remove(name) != nil {
                    names.append(name)
                    continue
                }
                guard old.contains(name), let path = path(ofFile: name),
                    let same = try self.bytes(of: AttachmentFile(path, name: name))
                else { continue }
                bytes = same
            case .bytes(let given):
                if let same = old.first(where: { unused.contains($0) && isFile($0, given) }) {
                    unused.remove(same)
                    names.append(same)
                    continue
                }
                bytes = given
            }
            let name = names.isEmpty ? firstName ?? AttachmentKey.further(of: key) : AttachmentKey.further(of: key)
            names.append(name)
            new.append((name, bytes))
        }
        return (names, new)
    }

    private func isFile(_ name: String, _ bytes: [UInt8]) -> Bool {
        guard let path = path(ofFile: name), let size = try? layer.status(path)?.size, size == bytes.count else {
            return false
        }
        return (try? layer.contents(of: path)) == bytes
    }

    // MARK: Names

    /// The name of the file for a key, the first existing one for an item's key; nil for an item whose list is empty.
    package func name(forKey key: String) -> String? {
        guard let names = listedNames(forKey: key) else { return key }
        return presentNames(forKey: key).first ?? names.first
    }

    /// The names that an item's record lists; nil without a list.
    private func listedNames(forKey key: String) -> [String]? {
        guard shared == nil, let columns, columns.attachmentField != nil, let row = columns.row(ofKey: key) else {
            return nil
        }
        return columns.attachmentNames(row)
    }

    /// The names of an item's existing files.
    func presentNames(forKey key: String) -> [String] {
        (listedNames(forKey: key) ?? [key]).filter {
            AttachmentKey.isKey($0) && path(ofFile: $0).map(layer.exists) ?? false
        }
    }

    /// The item whose list contains a file name, and the list without it.
    func list(naming key: String) -> (item: Item, otherNames: [String])? {
        if let names = listedNames(forKey: key) {
            let name = name(forKey: key)
            return item(key).map { ($0, names.filter { $0 != name }) }
        }
        guard shared == nil, let columns, columns.row(ofKey: key) == nil, let row = columns.itemNaming(key),
            let item = item(columns.keyString(row)), let names = columns.attachmentNames(row)
        else { return nil }
        return (item, names.filter { $0 != key })
    }

    /// The keys of the items whose records list names. O(items).
    var listingKeys: [String] {
        guard shared == nil, let columns, columns.attachmentField != nil else { return [] }
        return (0..<columns.count).lazy.map(columns.row(at:)).filter { columns.attachments($0) != nil }.map(
            columns.keyString)
    }

    /// Sets the names that an item's record lists. If the only file is named by the item's key, the record has no list.
    /// If the last file was removed, the list is empty, since a file kept for undo may have the item's key as its name.
    func setNames(_ names: [String], of item: Item) throws(StoreError) {
        let isPlain = try names == [item.itemKey]
        try item.store.setAttachments(isPlain ? nil : .array(names.map { .string($0) }), of: item)
    }

    // MARK: Commits

    /// The names of files that changes detached from items: by removing items, or from lists.
    func namesLeft(by changes: [Change]) -> NameSet {
        guard shared == nil, let columns else { return [] }
        let field = columns.attachmentField
        var names: NameSet = []
        for change in changes {
            switch change.kind {
            case .remove:
                names.insert(columns.keyString(change.row))
                if field != nil { names.formUnion(columns.attachmentNames(change.row) ?? []) }
            case .set where change.field == field?.rawValue:
                let key = columns.keyString(change.row)
                names.formUnion(columns.attachmentNames(columns.value(change.cell), ofKey: key) ?? [key])
            default: break
            }
        }
        return names
    }

    /// Removes the files made since the last commit that no record lists.
    func removeUnnamed() {
        for name in freshNames where !isNamed(name) { try? layer.remove(files.place(name)) }
        freshNames = []
    }

    /// Discards the new file of a further attachment.
    private func discard(_ name: String) {
        freshNames.remove(name)
        if let innermost = transactions.indices.last {
            if let path = transactions[innermost].actions.removeValue(forKey: name)?.stagedPath {
                removeStaged(path, name)
            }
        } else {
            removeStaged(files.place(name), name)
        }
    }
}

/// The names of attachment files. A single file has the item's key as its name and is not listed in the record. For
/// several, the record lists the names in order. Each name other than the key has the key as its prefix, which
/// identifies the item: no record can list a file of another item.
extension ColumnStore {
    /// The names that an item's record lists; nil without a list.
    func attachmentNames(_ row: UInt32) -> [String]? { attachmentNames(attachments(row), ofKey: keyString(row)) }

    /// The names in a record's list, whose content is unchecked.
    func attachmentNames(_ list: PropertyListValue?, ofKey key: String) -> [String]? {
        guard case .array(let elements)? = list else { return nil }
        var known: NameSet = []
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
