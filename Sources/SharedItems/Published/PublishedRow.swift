import ColumnEngine
import Files
import ItemArchive
import PropertyList

/// An item as a row of a published table, in the JSON that the server's function takes: `k` is its key, `f` all its fields, `e`
/// those whose texts are escaped; `0`, `1` and so on are the values of the columns.
enum PublishedRow {
    /// The row of an item of the server's table, from its record: the same for whoever writes it.
    ///
    /// - Parameters:
    ///   - record: the item's record, with its checksum. Its bytes are not trusted.
    ///   - rank: the item's rank.
    ///   - schema: the fields of every item.
    ///   - columns: the columns of fields.
    ///   - revision: the item's revision, which the server knows better of a commit; as `v`.
    /// - Returns: the row, in UTF-8.
    /// - Throws: `StoreError` with `corruptJournal`, or for a value that JSON cannot have.
    static func text(
        of record: [UInt8], rank: [UInt8], _ schema: ItemSchema, _ columns: [PublishedColumn], revision: UInt64? = nil
    ) throws(StoreError) -> [UInt8] {
        let changes = try record.withBytes { (bytes) throws(StoreError) in
            try RecordChange.changes(of: RecordChecksum.opened(bytes, rank: rank[...]), schema)
        }
        guard changes.count == 1, case .insert(let key, let values, _) = changes[0] else {
            throw StoreError(.corruptJournal, "the record of an item is none")
        }
        return try text(key, values, columns, revision)
    }

    private static func text(
        _ key: String, _ values: PropertyListFields, _ columns: [PublishedColumn], _ revision: UInt64?
    ) throws(StoreError) -> [UInt8] {
        var text = JSONText(.compact)
        let shownKey = PublishedText.name(key)
        var escaped = shownKey == key ? [] : ["itemKey"]
        text.append("{")
        text.key("k")
        text.string(shownKey)
        text.append(",")
        text.key("f")
        text.append("{")
        var isFirst = true
        var shown: PropertyListFields = [:]
        for (name, value) in values where name != "itemKey" {
            let shownName = PublishedText.name(name)
            let isPlain = shownName == name && PublishedText.isPlain(value)
            let shownValue = isPlain ? value : PublishedText.escaped(value)
            if !isPlain { escaped.append(shownName) }
            shown[name] = shownValue
            text.next(1, isFirst: isFirst)
            isFirst = false
            text.key(shownName)
            try write(shownValue, to: &text)
        }
        text.append("}")
        for (place, column) in columns.enumerated() {
            guard let value = shown[column.field], let type = column.type else { continue }
            if type == .jsonb {
                text.append(",")
                text.key("\(place)")
                try write(value, to: &text)
            } else if let input = type.text(of: value) {
                text.append(",")
                text.key("\(place)")
                text.string(input)
            }
        }
        if !escaped.isEmpty {
            text.append(",")
            text.key("e")
            text.append("[\(escaped.sorted().map(JSONText.quoted).joined(separator: ","))]")
        }
        if let revision { text.append(",\"v\":\(revision)") }
        text.append("}")
        return text.bytes
    }

    private static func write(_ value: PropertyListValue, to text: inout JSONText) throws(StoreError) {
        switch value {
        case .array, .set, .dictionary:
            do throws(PropertyListError) { text.append(json: try value.losslessJSON()) } catch {
                throw StoreError(.inputOutput, "a value cannot be written as JSON: \(error.message)")
            }
        default: text.leaf(value)
        }
    }
}
