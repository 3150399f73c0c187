import CSV
import ColumnEngine
import PropertyList

/// Writes items as comma-separated values.
struct ItemCSVWriter {
    private let exporter: ItemExporter
    private var scratch: [UInt8] = []

    init(_ exporter: ItemExporter) { self.exporter = exporter }

    mutating func write() throws {
        var writer = try CSVWriter(delimiter: exporter.options.cellDelimiter)
        let columns = try exporter.columns()
        for column in columns { writer.append(column.name) }
        writer.endRow()
        for (index, row) in exporter.rows.enumerated() {
            try exporter.options.report(index, exporter.rows.count)
            for column in columns { try append(row, column.field, to: &writer) }
            writer.endRow()
            if writer.bytes.count >= ItemExporter.pieceSize { try exporter.put(writer.take()) }
        }
        try exporter.put(writer.take())
    }

    private mutating func append(_ row: UInt32, _ field: ItemField, to writer: inout CSVWriter) throws {
        let columns = exporter.store.columns
        if field == .itemKey { return columns.withKey(row) { writer.append($0) } }
        let cell = columns.cell(row, field)
        if cell.isText { return cell.withText { writer.append($0) } }
        switch columns.value(cell) {
        case nil: writer.append("")
        case .date(let date)?:
            scratch.removeAll(keepingCapacity: true)
            date.appendExchangeText(to: &scratch)
            writer.append(scratch)
        case .real(let number)?:
            scratch.removeAll(keepingCapacity: true)
            number.appendShortest(to: &scratch)
            writer.append(scratch)
        case let value?:
            if let text = ImportKeys.text(value) { return writer.append(text) }
            // JSON text of data is Base64 in quotes; the cell omits the quotes.
            let text: [UInt8]
            do throws(JSONError) { text = try value.json() } catch {
                throw exporter.refusal(row, exporter.store.name(of: field), error.message)
            }
            if case .data = value { writer.append(text.dropFirst().dropLast()) } else { writer.append(text) }
        }
    }
}
