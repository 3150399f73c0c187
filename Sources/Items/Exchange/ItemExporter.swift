import CSV
import ColumnEngine
import ItemArchive
import PropertyList

/// A store's items as the bytes of a file.
struct ItemExporter {
    let store: ItemStore
    let options: ItemFileOptions

    func bytes() throws -> [UInt8] {
        switch options.format {
        case .csv: return try csv()
        case .json: return try records(datesAreText: true).json(isPretty: true)
        case .propertyList: return try records(datesAreText: false).encoded(as: .xml)
        case .keyedArchive:
            if !options.names.isEmpty {
                return try ItemArchiveWriter(ItemSnapshot(try renamed().columns), ArchiveSchema()).bytes()
            }
            return try ItemArchiveWriter(ItemSnapshot(store.columns), ArchiveSchema()).bytes()
        }
    }

    /// The fields that go out, and their names there: those of the domain, then custom ones that an item has, by name.
    private func columns() -> [(field: ItemField, name: String)] {
        let custom = store.columns.customFieldsInUse.map { ($0, store.columns.fieldNames[Int($0)]) }.sorted {
            $0.1 < $1.1
        }
        let all = ItemField.domain + custom.map { ItemField(rawValue: $0.0) }
        return all.compactMap { field in options.name(for: store.name(of: field)).map { (field, $0) } }
    }

    private func csv() throws -> [UInt8] {
        var writer = try CSVWriter(delimiter: options.delimiter)
        let columns = columns()
        for column in columns { writer.append(column.name) }
        writer.endRow()
        var done = 0
        for row in store.columns.slots where row != ItemOrder.hole {
            try options.report(done, store.count)
            for (field, _) in columns { try append(row, field, to: &writer) }
            writer.endRow()
            done += 1
        }
        return writer.take()
    }

    private func append(_ row: UInt32, _ field: ItemField, to writer: inout CSVWriter) throws {
        if field == .itemKey { return store.columns.withKey(row) { writer.append($0) } }
        let cell = store.columns.cell(row, field)
        if cell.isText { return cell.withText { writer.append($0) } }
        switch store.columns.value(cell) {
        case nil: writer.append("")
        case .date(let date)?: writer.append(date.exactISO8601)
        case .boolean(let flag)?: writer.append(flag ? "true" : "false")
        case .integer(let number)?: writer.append(String(number))
        case .wideInteger(let number)?: writer.append(String(number))
        case .real(let number)?: writer.append(String(number))
        case .single(let number)?: writer.append(String(number))
        // JSON's text of data is Base64 in quotes, which the cell has no use for.
        case let value?:
            let text = try value.json()
            if case .data = value { writer.append(text.dropFirst().dropLast()) } else { writer.append(text) }
        }
    }

    private func records(datesAreText: Bool) throws -> PropertyListValue {
        let columns = columns()
        var records: [PropertyListValue] = []
        records.reserveCapacity(store.count)
        for row in store.columns.slots where row != ItemOrder.hole {
            try options.report(records.count, store.count)
            var record: [String: PropertyListValue] = [:]
            for (field, name) in columns {
                guard let value = store.columns.value(row, field) else { continue }
                if datesAreText, case .date(let date) = value {
                    record[name] = .string(date.exactISO8601)
                } else {
                    record[name] = value
                }
            }
            records.append(.dictionary(record))
        }
        return .array(records)
    }

    /// A store whose items have the other names: what an archive calls its own fields is fixed.
    private func renamed() throws -> ItemStore {
        let other = ItemStore()
        for row in store.columns.slots where row != ItemOrder.hole {
            var fields = store.columns.fields(of: row)
            let custom = fields.custom
            fields.custom = [:]
            for field in ItemField.domain where options.name(for: store.name(of: field)) != store.name(of: field) {
                throw StoreError(
                    .invalidValue(field: store.name(of: field)),
                    "an archive has the field \(store.name(of: field)) under its own name: only custom fields can be renamed"
                )
            }
            for (name, value) in custom {
                if let new = options.name(for: name) { try fields.set(value, forField: new) }
            }
            try other.createItem(fields)
        }
        return other
    }
}

extension ItemStore {
    /// All items as the bytes of a file.
    ///
    /// - Throws: `StoreError` for a renamed field that no item has; what the options' functions throw.
    public func exportItems(_ options: ItemFileOptions) throws -> [UInt8] {
        for name in options.names.keys.sorted() { _ = try columns.queriedField(name) }
        return try ItemExporter(store: self, options: options).bytes()
    }
}

extension PropertyListDate {
    /// ISO 8601 with as much of the second's fraction as it takes to read the same date back.
    var exactISO8601: String {
        let whole = secondsSinceReferenceDate.rounded(.down)
        guard let text = PropertyListDate(secondsSinceReferenceDate: whole).iso8601Text else { return self.text }
        let fraction = "\(secondsSinceReferenceDate - whole)"
        guard fraction.hasPrefix("0."), fraction != "0.0", !fraction.contains("e") else { return text }
        return text.dropLast() + fraction.dropFirst() + "Z"
    }
}
