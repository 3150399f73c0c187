import ColumnEngine
import Files
import PropertyList

/// Copies all items of a store into another with their attachments: from a container to a shared collection, and back.
package enum ItemTransfer {
    /// The number of items per commit.
    package static let batch = 1_000
    /// Commits after this many bytes of pictures: an interrupted copy resumes from there.
    private static let batchBytes = 16 << 20

    /// The counts of a copy.
    package struct Summary: Sendable, Hashable {
        /// The number of items.
        package var items = 0
        /// The number of pictures.
        package var pictures = 0
        /// The reasons why pictures were not copied, by key.
        package var failures: NameTable<String> = [:]
        /// What items of the source's archive have besides the copied values.
        package var unheld: [UnheldObjects] = []
        /// The items that were there already, with other values or pictures, by name or key: they are left so.
        package var different: [String] = []
        /// Why what is declared of fields was not copied; nil if it was, or there is nothing.
        package var undeclared: String?

        /// What was not copied, in lines; empty if all was.
        package var remarks: [String] {
            var lines = unheld.map { "not copied: \($0)" }
            if !different.isEmpty {
                let names = different.listed(3)
                let verb = different.count == 1 ? "has" : "have"
                lines.append("\(different.count.counted("item")) \(verb) other values there: \(names)")
            }
            for (key, message) in failures.sorted(by: { $0.key < $1.key }) {
                lines.append("the picture of the item \(key) was not copied: \(message)")
            }
            return lines.map(VisibleText.line)
        }

        /// Creates a summary.
        package init(items: Int = 0, pictures: Int = 0) { (self.items, self.pictures) = (items, pictures) }

        /// `2 items and 1 picture`.
        package var text: String { "\(items.counted("item")) and \(pictures.counted("picture"))" }

        /// Counts a store's content.
        package init(of store: ItemStore) throws(StoreError) {
            let keys = try store.attachments?.keys().filter { store.item(forKey: $0) != nil } ?? []
            let pictures = keys.reduce(0) { $0 + (store.attachments?.files(forKey: $1).count ?? 0) }
            self.init(items: store.count, pictures: pictures)
        }
    }

    /// Appends a store's items, with their keys, to an empty store. A target with the first items in the same order is
    /// from an interrupted copy, which is resumed. Pictures that the target lacks are copied for existing items, too.
    ///
    /// - Parameters:
    ///   - source: the store to read.
    ///   - target: receives the items, at most a thousand per commit.
    ///   - progress: called after each commit with the position of the next item to copy.
    /// - Returns: the counts of this call. An unreadable picture is not an error: its item has none. Nothing of an item that is
    ///   there already is overwritten.
    /// - Throws: `StoreError` with `conflict` if the target has other items; errors of its commits; `disconnected`.
    @discardableResult
    package static func copy(
        from source: ItemStore, to target: ItemStore, progress: (Int) -> Void = { _ in }
    ) throws(StoreError) -> Summary {
        let start = target.count
        guard start <= source.count else { throw occupied(target) }
        var summary = Summary(items: source.count - start)
        for position in 0..<start {
            guard let mine = target[position], let theirs = source[position] else { break }
            if try mine.itemKey != theirs.itemKey { throw occupied(target) }
            if try mine.allFields.values != theirs.allFields.values { summary.different.append(try theirs.label) }
        }
        summary.unheld = try source.document.unheldObjects(of: source.columns.slots.filter { $0 != ItemOrder.hole })
        let pictured = Set(try source.attachments?.keys() ?? [])
        var bytes = 0
        for position in (pictured.isEmpty ? start : 0)..<source.count {
            guard let item = source[position] else { break }
            if position >= start { try target.createItem(try item.allFields) }
            if !pictured.isEmpty, pictured.contains(try item.itemKey) {
                bytes += try copyPictures(item, source.attachments, target.attachments, &summary)
            }
            let isLast = position + 1 == source.count
            guard (position + 1) % batch == 0 || isLast || bytes >= batchBytes else { continue }
            try target.commit()
            bytes = 0
            progress(position + 1)
        }
        // After the items, which are carried as they are.
        if !source.declarations.isEmpty, target.declarations != source.declarations {
            if !target.declarations.isEmpty {
                summary.undeclared = "other fields, or others of their rules, are declared there"
            } else if let denial = target.replica.remote?.declaringDenial {
                summary.undeclared = denial
            } else {
                target.columns.declare(source.declarations)
                try target.commit()
            }
        }
        return summary
    }

    /// Copies an item's pictures, unless the target has as many.
    ///
    /// - Returns: the number of copied bytes.
    private static func copyPictures(
        _ item: Item, _ source: ItemAttachments?, _ target: ItemAttachments?, _ summary: inout Summary
    ) throws(StoreError) -> Int {
        guard let source, let target else { return 0 }
        let key = try item.itemKey
        let files = source.files(forKey: key)
        let present = target.files(forKey: key)
        let known = present.count
        guard known < files.count else {
            do throws(StoreError) {
                let mine = try present.map { (file) throws(StoreError) in try digest(of: file, target) }
                let theirs = try files.map { (file) throws(StoreError) in try digest(of: file, source) }
                let label = try item.label
                if mine != theirs, !summary.different.contains(label) { summary.different.append(label) }
            } catch {
                if error.code == .disconnected { throw error }
                summary.failures[key] = error.message
            }
            return 0
        }
        var pictures: [[UInt8]] = []
        for file in files {
            do throws(StoreError) {
                guard let bytes = try source.bytes(of: file) else { continue }
                guard bytes.count <= target.byteLimit else {
                    throw StoreError(
                        .inputOutput,
                        "the picture has \(bytes.count) bytes, more than the limit of \(target.byteLimit)")
                }
                pictures.append(bytes)
            } catch {
                if error.code == .disconnected { throw error }
                summary.failures[key] = error.message
            }
        }
        guard pictures.count > known else { return 0 }
        try target.setAllBytes(pictures, forKey: key)
        summary.pictures += pictures.count - known
        return pictures.reduce(0) { $0 + $1.count }
    }

    /// The SHA-256 of a picture, by which a shared collection has it named.
    private static func digest(
        of file: AttachmentFile, _ attachments: ItemAttachments
    ) throws(StoreError) -> String? {
        if file.isImmutable { return file.name }
        return try attachments.bytes(of: file).map { SHA256.digest($0).hexadecimal }
    }

    private static func occupied(_ target: ItemStore) -> StoreError {
        StoreError(
            .conflict,
            "the \(target.count.counted("item")) there are not those to be copied: the copy goes into an empty place"
        )
    }
}
