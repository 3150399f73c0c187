import ColumnEngine
import Files
import PropertyList

/// Several attachments of an item, in order. New ones are files of their own before the record lists them, and those that the
/// record lists no more leave after it was committed: at each moment an item has the earlier ones or the new, and at worst there
/// is a file too many. Of an item that had none the first is there a moment before the others are listed. Another order writes
/// no file.
extension ItemAttachments {
    /// All that goes with an item, in order; under a key that is no item's, what is there. A file that is missing is left out.
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

    /// Sets all that goes with an item, in order. What it has already is not written again; what it has no more leaves with the
    /// next commit, and an undo brings it back.
    ///
    /// - Parameters:
    ///   - all: the bytes; one or none for a key that is no item's.
    ///   - key: the item's; under it is the first.
    /// - Throws: `StoreError`: as ``setBytes(_:forKey:)``, and `itemRemoved` for several under a key that is no item's. All is as
    ///   it was before.
    public func setAllBytes(_ all: [[UInt8]], forKey key: String) throws(StoreError) {
        try set(all.map { .bytes($0) }, forKey: key)
    }

    /// The files of what goes with an item, in order, as far as they are there.
    package func files(forKey key: String) -> [AttachmentFile] {
        if let shared, let item = item(key) { return shared.files(of: item, limit: byteLimit) }
        return presentNames(forKey: key).compactMap { name in
            path(ofFile: name).map { AttachmentFile($0, name: name) }
        }
    }

    /// Sets all that goes with an item; see ``setAllBytes(_:forKey:)``.
    package func set(_ contents: [AttachmentContent], forKey key: String) throws(StoreError) {
        try checkChange(key)
        if let shared, let item = item(key) {
            try shared.set(contents, of: item, limit: byteLimit)
            onChange?(key)
            return
        }
        let listed = listedNames(forKey: key)
        let old = listed ?? presentNames(forKey: key)
        // The first of an item that has none is under the item's key, where other programs look for it.
        let (names, new) = try plan(contents, old, key, firstName: listed == nil && old.isEmpty ? key : nil)
        if names == old { return }
        guard let item = item(key) else {
            if names.isEmpty { return try removeBytes(forKey: key) }
            guard names.count == 1, let bytes = new.first?.bytes else {
                throw StoreError(
                    .itemRemoved, "no item has the itemKey \(key), and only an item has several attachments")
            }
            return try setBytes(bytes, forKey: key)
        }
        if listed == nil {
            // One is under the item's key, and the record says nothing of it.
            if names.isEmpty { return try removeBytes(forKey: key) }
            if names.count == 1, let bytes = new.first?.bytes { return try setBytes(bytes, forKey: key) }
        }
        for (name, _) in new { try checkKey(name) }
        do throws(FileError) {
            // The first comes last: until it is there, the item has none.
            for (name, bytes) in new.reversed() {
                if name != key { freshNames.insert(name) }
                try write(bytes, name)
            }
        } catch {
            for (name, _) in new { discard(name) }
            throw StoreError(attachment: error)
        }
        try setNames(names, of: item)
    }

    /// The names that the files of an item's attachments are to have, and those of them that are to be written.
    private func plan(
        _ contents: [AttachmentContent], _ old: [String], _ key: String, firstName: String?
    ) throws(StoreError) -> (names: [String], new: [(name: String, bytes: [UInt8])]) {
        var unused = Set(old)
        var names: [String] = []
        var new: [(name: String, bytes: [UInt8])] = []
        for content in contents {
            let bytes: [UInt8]
            switch content {
            case .kept(let name):
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

    /// The name of the file under a key, that of the first for an item's; nil for an item whose list is empty.
    package func name(forKey key: String) -> String? {
        guard let names = listedNames(forKey: key) else { return key }
        return names.first
    }

    /// The names that an item's record lists; nil when it has no list.
    private func listedNames(forKey key: String) -> [String]? {
        guard shared == nil, let columns, columns.attachmentField != nil, let row = columns.row(ofKey: key) else {
            return nil
        }
        return columns.attachmentNames(row)
    }

    /// The names of an item's files that are there.
    func presentNames(forKey key: String) -> [String] {
        (listedNames(forKey: key) ?? [key]).filter {
            AttachmentKey.isKey($0) && path(ofFile: $0).map(layer.exists) ?? false
        }
    }

    /// The item whose list has what is under a key, and the list without it.
    func list(naming key: String) -> (item: Item, others: [String])? {
        if let names = listedNames(forKey: key) { return item(key).map { ($0, Array(names.dropFirst())) } }
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

    /// Sets the names that an item's record lists. Where the file under the item's key is the only one, the record has no list;
    /// it has an empty one where there is none any more: what is kept for an undo may have the item's key as its name.
    func setNames(_ names: [String], of item: Item) throws(StoreError) {
        let isPlain = try names == [item.itemKey]
        try item.store.setAttachments(isPlain ? nil : .array(names.map { .string($0) }), of: item)
    }

    // MARK: Commits

    /// The names of the files that changes took from items: those of removed ones, and those that lists have no more.
    func namesLeft(by changes: [Change]) -> Set<String> {
        guard shared == nil, let columns else { return [] }
        let field = columns.attachmentField
        var names: Set<String> = []
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

    /// Removes the files that were made since the last commit and that no record lists.
    func removeUnnamed() {
        for name in freshNames where !isNamed(name) { try? layer.remove(files.place(name)) }
        freshNames = []
    }

    /// Takes back the writing of a further file.
    private func discard(_ name: String) {
        freshNames.remove(name)
        if let innermost = transactions.indices.last {
            if let path = transactions[innermost].deeds.removeValue(forKey: name)?.stagedPath {
                removeStaged(path, name)
            }
        } else {
            removeStaged(files.place(name), name)
        }
    }
}
