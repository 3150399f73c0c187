import ColumnEngine
import PropertyList

/// Writes items as JSON: an array of objects, or one object per line. Absent fields are left out.
struct ItemJSONWriter {
    private let exporter: ItemExporter
    private let isPretty: Bool
    private var text: JSONText

    init(_ exporter: ItemExporter, isPretty: Bool = false) {
        self.exporter = exporter
        self.isPretty = isPretty
        text = JSONText(isPretty ? .foundation : .compact)
    }

    mutating func writeLines() throws {
        try writeObjects(at: 0, try exporter.columns()) { text, _ in text.append(byte: UInt8(ascii: "\n")) }
        try flush()
    }

    /// Writes a single item.
    mutating func writeObject() throws {
        try writeObjects(at: 0, try exporter.columns().sorted { $0.name < $1.name }) { _, _ in }
        try flush()
    }

    /// Sorts the keys, as in all JSON for people, unless columns were chosen.
    mutating func writeArray() throws {
        var columns = try exporter.columns()
        if exporter.options.columns == nil { columns.sort { $0.name < $1.name } }
        text.append("[")
        if !exporter.rows.isEmpty { text.next(1, isFirst: true) }
        try writeObjects(at: 1, columns) { [count = exporter.rows.count] text, index in
            if index + 1 < count { text.next(1, isFirst: false) }
        }
        text.end("]", 0, isEmpty: exporter.rows.isEmpty)
        try flush()
    }

    private mutating func flush() throws { try exporter.put(text.take()) }

    private mutating func writeObjects(
        at level: Int, _ columns: [ItemExporter.Column], _ end: (inout JSONText, Int) -> Void
    ) throws {
        let store = exporter.store.columns
        let keys = columns.map { column in
            var key = JSONText(isPretty ? .foundation : .compact)
            key.key(column.name)
            return key.take()
        }
        for (index, row) in exporter.rows.enumerated() {
            try exporter.options.report(index, exporter.rows.count)
            text.append(byte: UInt8(ascii: "{"))
            var isFirst = true
            for place in columns.indices {
                let field = columns[place].field
                let cell = store.cell(row, field)
                if cell.isAbsent, field != .itemKey { continue }
                text.next(level + 1, isFirst: isFirst)
                text.append(json: keys[place])
                isFirst = false
                if field == .itemKey {
                    store.withKey(row) { text.string(utf8: $0) }
                } else if cell.isText {
                    cell.withText { text.string(utf8: $0) }
                } else if let value = store.value(cell) {
                    do throws(JSONError) { try append(value) } catch {
                        throw exporter.refusal(row, columns[place].name, error.message)
                    }
                }
            }
            text.end("}", level, isEmpty: isFirst)
            end(&text, index)
            if text.bytes.count >= ItemExporter.pieceSize { try flush() }
        }
    }

    private mutating func append(_ value: PropertyListValue) throws(JSONError) {
        switch value {
        case .integer(let number): text.append(String(number))
        // Keeps a real's type when it is read again.
        case .real(let number) where number.isFinite: text.real(number)
        case .date(let date): text.date(date)
        case .boolean(let flag): text.append(flag ? "true" : "false")
        default: text.append(json: try value.json())
        }
    }
}
