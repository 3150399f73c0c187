import ColumnEngine
import FileFormats
import Files
import ItemArchive
import PropertyList

/// Reads items from a file with a single value: an array of records, or an archive.
struct RecordReader {
    let options: ItemFileOptions
    let path: String

    func readJSON(_ file: ImportFile, _ row: ImportedRow, _ merger: ItemMerger) throws {
        let text = try TextDecoding(file, options.encoding)
        var bytes: [UInt8] = []
        let values = try decoded {
            bytes = try text.contents(file.size)
            return try PropertyListValue.values(
                json: bytes, repeated: &merger.repeatedKeys, order: &merger.keyOrder)
        }
        let groups = try groups(of: values, merger)
        let texts = options.copiesRejects ? RecordTexts(bytes, groups.map(\.path)) : nil
        bytes = []
        try read(groups.flatMap(\.records), row) { record in
            try merger.takeJSON(record, row) { [place = row.number - 1, texts] in texts?[place] }
        }
    }

    func readPropertyList(_ file: ImportFile, _ row: ImportedRow, _ merger: ItemMerger) throws {
        let bytes = try file.contents()
        var findings: [PropertyListFinding] = []
        let values = try decoded { [try PropertyListValue(decoding: bytes, findings: &findings)] }
        remark(findings, merger)
        try read(try groups(of: values, merger).flatMap(\.records), row) { try merger.take($0, row) }
    }

    /// Says what a property list has and its values do not show.
    private func remark(_ findings: [PropertyListFinding], _ merger: ItemMerger) {
        for finding in findings {
            let place = finding.line.map { "line \($0): " } ?? finding.byteOffset.map { "byte \($0): " } ?? ""
            merger.remark(.damage, 1, place + finding.message)
        }
    }

    private func groups(
        of values: [PropertyListValue], _ merger: ItemMerger
    ) throws(StoreError) -> [RecordShape.Group] {
        try RecordShape(options: options, path: path, schema: merger.store.schema).groups(of: values)
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
            var findings: [PropertyListFinding] = []
            let binary =
                isBinary ? bytes : try PropertyListValue(decoding: bytes, findings: &findings).encoded(as: .binary)
            remark(findings, merger)
            var reader = ItemArchiveReader(
                ItemLoader(other), try BinaryPropertyListReader(binary),
                ArchiveIdentity(of: bytes))
            try reader.read()
            reader.leaveOutForeign()
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
        for (count, text) in report.countedLosses { merger.remark(.objects, count, text) }
    }
}

extension ItemMerger {
    /// Merges a record of JSON, of a text: nulls in its dictionaries are left out and counted, those in arrays are values.
    func takeJSON(_ record: PropertyListValue, _ row: ImportedRow, text: @escaping () -> [UInt8]?) throws {
        guard let values = record.fields else { return try take(record, row) }
        var result = values
        for (name, value) in values where !Interruption.isDueAtStep {
            if value == .null { recordOwnNull(name) } else { result[name] = withoutNulls(value, name) }
        }
        // A null of the record itself means that the field has no value, also where an item has one.
        try take(.fields(result), row, original: record, text: text)
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
    ///   - text: returns its text in a JSON file.
    /// - Throws: as the merger's `take`.
    func take(
        _ record: PropertyListValue, _ row: ImportedRow, original: PropertyListValue? = nil,
        text: @escaping () -> [UInt8]? = { nil }
    ) throws {
        row.original = { OriginalRow(cells: record.texts, record: original ?? record, text: text()) }
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

/// The texts of JSON records as the file has them; they are found when the first record is rejected.
private final class RecordTexts {
    private let source: JSONSource
    private let paths: [[String]]
    private lazy var places = zip(source.values, paths).flatMap { value, path -> [Range<Int>] in
        var place = value
        for name in path { place = source.member(name, of: place) ?? place }
        return source.elements(of: place) ?? [place]
    }

    /// - Parameters:
    ///   - bytes: the text, which was read.
    ///   - paths: for each of its values the keys that lead to a record, or to an array of them.
    init(_ bytes: [UInt8], _ paths: [[String]]) { (source, self.paths) = (JSONSource(bytes), paths) }

    subscript(index: Int) -> [UInt8]? { source.object(places[index], without: RejectedRows.reasonKey) }
}

/// Reads items from JSON Lines, one object per line, as a stream.
struct JSONLineReader {
    /// Maximum length of a line, in bytes.
    private static let lineLimit = 64 << 20

    let options: ItemFileOptions
    let path: String
    let file: ImportFile

    func read(_ row: ImportedRow, _ merger: ItemMerger) throws {
        let text = try TextDecoding(file, options.encoding)
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { chunk.deallocate() }
        var line: [UInt8] = []
        while true {
            let count = try text.read(into: chunk)
            if count == 0 { break }
            var rest = UnsafeRawBufferPointer(rebasing: chunk[..<count])[...]
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                line.append(contentsOf: rest[..<end])
                rest = rest[(end + 1)...]
                try take(&line, row, merger)
            }
            line.append(contentsOf: rest)
            guard line.count <= Self.lineLimit else {
                throw StoreError(
                    .unreadableFile, "\(path), line \(row.number + 1): it has more than \(Self.lineLimit) bytes",
                    path: path)
            }
        }
        try take(&line, row, merger)
    }

    private func take(_ line: inout [UInt8], _ row: ImportedRow, _ merger: ItemMerger) throws {
        defer { line.removeAll(keepingCapacity: true) }
        row.line += 1
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { return }
        row.number = row.line
        if row.line % 64 == 0 { try options.progress?(file.position, file.size) }
        let values: [PropertyListValue]
        do throws(JSONError) {
            values = try PropertyListValue.values(json: line, repeated: &merger.repeatedKeys, order: &merger.keyOrder)
        } catch {
            // A row is a line.
            let place = error.column.map { "column \($0): " } ?? ""
            let (copy, failure) = (line, StoreError(.unreadableFile, "not JSON: \(place)\(error.reason)"))
            row.original = { OriginalRow(line: copy) }
            return try merger.refuse(row, failure)
        }
        let texts = options.copiesRejects ? RecordTexts(line, values.map { _ in [] }) : nil
        for (place, record) in Self.records(of: values).enumerated() {
            // The reason of the line before, in a file of rejected rows.
            if let keys = record.fields?.keys, keys.count == 1, keys.first == RejectedRows.reasonKey { continue }
            try merger.takeJSON(record, row) { texts?[place] }
        }
    }

    /// The records of a line: its values, and those of its arrays.
    private static func records(of values: [PropertyListValue]) -> [PropertyListValue] {
        values.flatMap { value in if case .array(let records) = value { records } else { [value] } }
    }
}

/// Where the records are in the values of a file: an array of them, one by itself, several one after another, or within an
/// object that tells about them.
struct RecordShape {
    let options: ItemFileOptions
    let path: String
    let schema: ItemSchema

    /// The records of a value, and the keys that lead to them.
    typealias Group = (path: [String], records: [PropertyListValue])

    /// The records of each value.
    ///
    /// - Throws: `StoreError` for values that are no records, and for several arrays of which none is named.
    func groups(of values: [PropertyListValue]) throws(StoreError) -> [Group] {
        var groups: [Group] = []
        for value in values {
            if let place = options.recordPath {
                groups.append(try group(at: place, in: value))
            } else if case .array(let elements) = value {
                groups.append(([], elements))
            } else if case .dictionary = value {
                groups.append(try (values.count == 1 ? wrapped(value) : nil) ?? ([], [value]))
            } else {
                throw error(
                    "objects, or an array of them, are expected, and this is \(FieldValidation.describe(value))")
            }
        }
        return groups
    }

    /// The records in an object that is none itself; nil for an object that is one.
    private func wrapped(_ value: PropertyListValue) throws(StoreError) -> Group? {
        guard let fields = value.fields else { return nil }
        if fields["$archiver"] != nil {
            throw error("it is a keyed archive: give \(OptionWords.option("format", "archive"))")
        }
        // An item may have arrays of objects as well.
        if fields.keys.contains(where: { options.name(for: $0).map(schema.names.contains) ?? false }) { return nil }
        let all = arrays(in: value)
        let arrays = all.filter { !$0.records.isEmpty }
        guard arrays.count > 1 else {
            guard let only = arrays.first else {
                guard let empty = all.first.map(Self.text), let title = schema.names.first else { return nil }
                throw error(
                    "there are no records, since \(empty) is empty: give \(OptionWords.option("path", empty)) if there may be none, or a map to \(title) if the object is an item"
                )
            }
            options.onKinds?("\(path): the records at \(OptionWords.option("path", Self.text(only)))")
            return only
        }
        let names = arrays.map(Self.text)
        throw error(
            "it has several arrays of objects (\(names.listed())): give \(OptionWords.option("path", names[0])), or that of another one"
        )
    }

    /// The arrays of objects, and the empty ones, in an object, and in objects within it.
    private func arrays(in value: PropertyListValue) -> [Group] {
        var found: [Group] = []
        var waiting: [(path: [String], value: PropertyListValue)] = [([], value)]
        while let next = waiting.popLast(), found.count <= 12, !Interruption.isDueAtStep {
            for (name, value) in (next.value.fields ?? [:]).sortedByName.reversed() {
                let path = next.path + [name]
                if case .array(let elements) = value {
                    if elements.allSatisfy({ $0.isRecord }) { found.append((path, elements)) }
                } else if case .dictionary = value, path.count < 4 {
                    waiting.append((path, value))
                }
            }
        }
        return found.sorted { Self.text($0) < Self.text($1) }
    }

    private static func text(_ group: Group) -> String { group.path.joined(separator: ".") }

    /// The records at a path that is given.
    private func group(at place: String, in value: PropertyListValue) throws(StoreError) -> Group {
        let isName = value.fields?[place] != nil
        let path = isName ? [place] : place.split(separator: ".", omittingEmptySubsequences: true).map(String.init)
        var current = value
        for name in path {
            guard let next = current.fields?[name] else { throw missing(place, in: value) }
            current = next
        }
        switch current {
        case .array(let records): return (path, records)
        case .dictionary: return (path, [current])
        default:
            throw error(
                "at \(place) an array of objects is expected, and there is \(FieldValidation.describe(current))")
        }
    }

    private func missing(_ place: String, in value: PropertyListValue) -> StoreError {
        let names = arrays(in: value).map(Self.text)
        let hint = NearestNames.hint(for: place, among: names)
        let listed = names.isEmpty ? "; it has no array of objects" : "; it has \(names.listed())"
        return error("it has nothing at \(place)\(hint.isEmpty ? listed : hint)")
    }

    private func error(_ message: String) -> StoreError {
        StoreError(.unreadableFile, "\(path): \(message)", path: path)
    }
}

extension PropertyListValue {
    fileprivate var isRecord: Bool { if case .dictionary = self { true } else { false } }
}
