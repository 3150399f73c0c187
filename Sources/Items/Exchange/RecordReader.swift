import ColumnEngine
import FileFormats
import Files
import ItemArchive
import PropertyList

/// Reads items from a file with a single value: an array of records, or an archive.
struct RecordReader {
    private let options: ItemFileOptions
    private let path: String

    init(_ options: ItemFileOptions, _ path: String) { (self.options, self.path) = (options, path) }

    func readJSON(_ file: ImportFile, _ row: ImportedRow, _ merger: ItemMerger) throws {
        let text = try TextDecoding(file, options.encoding)
        let values = try decoded {
            try PropertyListValue.values(
                json: try text.contents(file.size), repeated: &merger.repeatedKeys, order: &merger.keyOrder)
        }
        try read(try RecordShape(options, path, merger.store.schema).records(of: values), row) {
            try merger.takeJSON($0, row)
        }
    }

    func readPropertyList(_ file: ImportFile, _ row: ImportedRow, _ merger: ItemMerger) throws {
        let bytes = try file.contents()
        let values = try decoded { [try PropertyListValue(decoding: bytes)] }
        try read(try RecordShape(options, path, merger.store.schema).records(of: values), row) {
            try merger.take($0, row)
        }
    }

    private func decoded(_ decode: () throws -> [PropertyListValue]) throws -> [PropertyListValue] {
        do { return try decode() } catch let error as TextDecoding.Failure { throw error } catch {
            if error is FileError || error is FormatError { throw error }
            throw StoreError(.unreadableFile, "\(path): \(error)", path: path, cause: error)
        }
    }

    private func read(
        _ records: [PropertyListValue], _ row: ImportedRow, _ take: (PropertyListValue) throws -> Void
    ) throws {
        for (index, record) in records.enumerated() {
            try options.report(index, records.count)
            row.number = index + 1
            try take(record)
        }
    }

    func readArchive(_ file: ImportFile, _ row: ImportedRow, _ merger: ItemMerger) throws {
        let bytes = try file.contents()
        let other = ColumnStore(merger.store.schema)
        do throws(PropertyListError) {
            let isBinary = bytes.starts(with: "bplist".utf8)
            let binary = isBinary ? bytes : try PropertyListValue(decoding: bytes).encoded(as: .binary)
            var reader = ItemArchiveReader(
                ItemLoader(other), try BinaryPropertyListReader(binary),
                ArchiveIdentity(of: bytes))
            try reader.read()
            let report = reader.report
            if let damage = report.damage.first { throw PropertyListError(code: .readCorrupt, message: damage) }
            if let object = report.unheldObjects.first { throw PropertyListError(code: .readCorrupt, message: object) }
            recordLosses(report, other, merger)
        } catch {
            throw StoreError(.unreadableFile, "\(path) is not an archive of items: \(error)", path: path, cause: error)
        }
        for (index, item) in other.slots.enumerated() {
            try options.report(index, other.count)
            row.number = index + 1
            row.attachmentNames = other.attachmentNames(item)
            try merger.take(.fields(other.dictionary(of: item)), row)
        }
    }

    /// Counts what the items of an archive lack, and what of it they do not hold.
    private func recordLosses(_ report: ItemArchiveReport, _ store: ColumnStore, _ merger: ItemMerger) {
        for field in store.schema.numbers {
            var count = 0
            store.forEachMisfit(field, among: nil) { if $1.isAbsent { count += 1 } }
            merger.remark(
                .missing, count, "\(count.counted("item")) without \(store.name(of: field)): a new item's value")
        }
        let objects = report.foreignCount
        merger.remark(.objects, objects, "\(objects.counted("object")) of an application's own classes: left out")
        merger.remark(.objects, report.leftOut.count, report.leftOut.joined(separator: "; "))
    }
}

extension ItemMerger {
    /// Merges a record of JSON: nulls in its dictionaries are left out and counted, those in arrays are values.
    func takeJSON(_ record: PropertyListValue, _ row: ImportedRow) throws {
        guard let values = record.fields else { return try take(record, row) }
        let original = record
        var result = values
        for (name, value) in values where !Interruption.isDueAtStep {
            if value == .null { recordNull(at: name) } else { result[name] = withoutNulls(value, name) }
        }
        // A null of the record itself means that the field has no value, also where an item has one.
        try take(.fields(result), row, original: original)
    }

    /// A value without the nulls in its dictionaries, which are counted.
    private func withoutNulls(_ value: PropertyListValue, _ path: @autoclosure () -> String) -> PropertyListValue {
        switch value {
        case .array(let elements):
            return .array(elements.map { $0 == .null ? .null : withoutNulls($0, path() + "[]") })
        case .dictionary(let entries):
            var result = PropertyListDictionary()
            for (key, element) in entries.entries {
                if element == .null {
                    recordNull(at: path() + "." + key.keyText)
                } else {
                    result[key] = withoutNulls(element, path() + "." + key.keyText)
                }
            }
            return .dictionary(result)
        default: return value
        }
    }

    /// A record's values, in the file's order if it is asked for and the record has new names, else by name.
    private func inOrder(_ values: PropertyListFields, _ row: ImportedRow) -> [PropertyListFields.Element] {
        guard let keyOrder, values.keys.contains(where: { !row.hasPlace($0) }) else { return values.sortedByName }
        return keyOrder.sorted(values)
    }

    /// Merges a record, which may have new names.
    ///
    /// - Parameters:
    ///   - record: its values by name.
    ///   - row: the row that gets them.
    ///   - original: the record as the file has it; nil for the same.
    /// - Throws: as the merger's `take`.
    func take(_ record: PropertyListValue, _ row: ImportedRow, original: PropertyListValue? = nil) throws {
        row.original = { OriginalRow(cells: record.texts, record: original ?? record) }
        row.removeCells()
        do {
            guard let values = record.fields else {
                if case .dictionary(let entries) = record, let key = entries.sortedOtherEntries.first?.key {
                    throw StoreError(
                        .invalidValue(field: ""), "a field's name is a text, and a record has \(key.nameOfKey) for one")
                }
                throw StoreError(
                    .invalidValue(field: ""),
                    "a dictionary is expected, and this is \(FieldValidation.describe(record))")
            }
            for (name, value) in inOrder(values, row) {
                if Interruption.isDueAtStep { throw WorkStopped() }
                // The reason of an earlier rejection.
                if name == RejectedRows.reasonKey { continue }
                guard let place = try row.place(name) else { continue }
                row.cells[place] = value == .null ? .empty : .value(value)
            }
        } catch let error as StoreError {
            return try refuse(row, error)
        }
        try take(row)
    }
}

extension PropertyListValue {
    /// A record's values as texts of a file; empty for another value.
    fileprivate var texts: [(name: String, text: [UInt8])] {
        guard let values = fields else {
            return [("value", (try? json()) ?? [])]
        }
        return values.sortedByName.map { name, value in
            (name, ImportKeys.text(value).map { Array($0.utf8) } ?? (try? value.json()) ?? [])
        }
    }
}

extension TextDecoding {
    /// All of the text.
    func contents(_ size: Int) throws -> [UInt8] { try ByteStream.contents(size) { try read(into: $0) } }
}
