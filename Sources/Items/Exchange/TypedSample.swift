import ColumnEngine
import PropertyList
import Spreadsheets

/// The beginning of a file whose values have kinds of their own: records of JSON, rows of a sheet.
struct TypedSample {
    /// What was assumed of the file; nil for nothing.
    var phrase: String?
    private var names: [String]
    private var places: [ExactText: Int] = [:]
    /// The first values of each column, as texts.
    private var cells: [[String]]
    private var kinds: [[ItemFieldKind?]]

    /// A file of one value is read as a whole for its beginning, up to so many bytes.
    private static let sizeLimit = 64 << 20
    /// The bytes of JSON Lines that are looked at.
    private static let lineLimit = 1 << 20

    init(_ names: [String] = []) {
        self.names = names
        cells = names.map { _ in [] }
        kinds = names.map { _ in [] }
        for (place, name) in names.enumerated() { places[ExactText(name)] = place }
    }

    /// - Returns: nil for a format without columns, and for a file that is too large.
    /// - Throws: errors of the format's readers.
    init?(_ file: ImportFile, _ options: ItemFileOptions, _ schema: ItemSchema) throws {
        switch options.format {
        case .json, .jsonLines:
            self.init()
            let records = try options.format == .json ? Self.records(file, options, schema) : Self.lines(file, options)
            guard let records else { return nil }
            for record in records.prefix(ItemImportPreview.rowLimit) {
                for (name, value) in (record.fields ?? [:]).sortedByName { add(value, to: name) }
            }
            sortNames()
        case .xlsx, .ods:
            guard let sample = try SheetItemReader(options, "", file).sample(ItemImportPreview.rowLimit) else {
                return nil
            }
            self = sample
        case .csv, .tsv, .propertyList, .keyedArchive, .sqlite: return nil
        }
    }

    private static func records(
        _ file: ImportFile, _ options: ItemFileOptions, _ schema: ItemSchema
    ) throws -> [PropertyListValue]? {
        guard file.size <= sizeLimit else { return nil }
        var repeated = RepeatedKeys()
        let text = try TextDecoding(file, options.encoding).contents(file.size)
        let values = try PropertyListValue.values(json: text, repeated: &repeated)
        return try RecordShape(options, "", schema).records(of: values)
    }

    private static func lines(_ file: ImportFile, _ options: ItemFileOptions) throws -> [PropertyListValue] {
        let text = try TextDecoding(file, options.encoding)
        var bytes = [UInt8](repeating: 0, count: lineLimit)
        var filled = 0
        while filled < lineLimit - 8 {
            let count = try bytes.withUnsafeMutableBytes { try text.read(into: .init(rebasing: $0[filled...])) }
            if count == 0 { break }
            filled += count
        }
        var lines = bytes[..<filled].split(separator: UInt8(ascii: "\n"))
        // The last one may be cut.
        if filled >= lineLimit - 8 { lines = lines.dropLast() }
        var repeated = RepeatedKeys()
        return lines.prefix(ItemImportPreview.rowLimit).flatMap { line in
            // The import itself says what is wrong with a line.
            ((try? PropertyListValue.values(json: Array(line), repeated: &repeated)) ?? []).flatMap { value in
                if case .array(let records) = value { records } else { [value] }
            }
        }
    }

    /// Takes the next value of a column; null has no influence.
    mutating func add(_ value: PropertyListValue, to name: String) {
        guard let place = places[ExactText(name)] else {
            places[ExactText(name)] = names.count
            names.append(name)
            cells.append([])
            kinds.append([])
            return add(value, to: name)
        }
        add(value, at: place)
    }

    mutating func add(_ value: PropertyListValue, at place: Int) {
        if value == .null || value == .string("") { return }
        if cells[place].count < 3 {
            let text = ImportKeys.text(value) ?? (try? value.json()).map { String(decoding: $0, as: UTF8.self) }
            cells[place].append((text ?? "").shortened(to: 200))
        }
        let kind: ItemFieldKind? =
            switch value {
            case .string, .utf16: .string
            case .integer, .wideInteger: .integer
            case .real, .single: .real
            case .boolean: .boolean
            case .date: .date
            default: nil
            }
        if !kinds[place].contains(kind) { kinds[place].append(kind) }
    }

    /// Puts the columns in the order of their names, as imports of records add them.
    private mutating func sortNames() {
        let order = names.indices.sorted { names[$0] < names[$1] }
        (names, cells, kinds) = (order.map { names[$0] }, order.map { cells[$0] }, order.map { kinds[$0] })
        places = [:]
        for (place, name) in names.enumerated() { places[ExactText(name)] = place }
    }

    private func kind(_ place: Int) -> ItemFieldKind? {
        let found = kinds[place]
        if found.count == 1 { return found[0] }
        return found.count == 2 && found.contains(.integer) && found.contains(.real) ? .real : nil
    }

    /// The columns with what is proposed for them.
    func columns(_ schema: ItemSchema) -> [ItemImportPreview.Column] {
        var taken: Set<String> = Set(names.filter { schema.has($0) })
        return names.indices.map { place in
            let field = ItemImportPreview.field(names[place], schema, taken)
            taken.insert(field)
            let kind = kind(place)
            return ItemImportPreview.Column(
                name: names[place], field: field, kind: kind, cells: cells[place], kindText: kind?.rawValue ?? "any",
                isTyped: true)
        }
    }
}
