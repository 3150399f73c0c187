import CSV
import ColumnEngine
import PropertyList
import Spreadsheets

/// What an import would make of a file's columns, by its beginning.
package struct ItemImportPreview: Sendable {
    /// A column, with what is proposed for it.
    package struct Column: Sendable, Hashable {
        /// Its name in the file.
        package let name: String
        /// The field that is proposed.
        package let field: String
        /// The kind of its cells; nil for values of several kinds, or of one that no text has.
        package let kind: ItemFieldKind?
        /// The first cells with a text, at most three.
        package let cells: [String]
        /// The kind with the form of its texts, as the option has it: `real`, `date(dd.MM.yyyy)`; `any` for no one kind.
        package let kindText: String
        /// Whether its values have kinds of their own, as those of JSON, so that none need be given.
        package let isTyped: Bool
    }

    /// What was assumed of the file; nil for nothing.
    package let form: String?
    package let columns: [Column]

    /// The columns that could be the name of new items: those of texts, or of them those with a usual name.
    package var likelyNames: [String] {
        let texts = columns.filter { $0.kind == .string }
        let likely = texts.filter { ColumnNames.areTitles($0.name) }
        return (likely.isEmpty ? texts : likely).map(\.name)
    }

    /// The field of every item that is its name; nil for a schema without one.
    package let titleField: String?

    /// The most rows that are looked at.
    static let rowLimit = 2_000

    /// Looks at a file of comma-separated values, of JSON, or at a spreadsheet; there are no columns for another one.
    ///
    /// - Parameters:
    ///   - file: the file.
    ///   - options: how it is read; names of columns that are given already are proposed as they are.
    ///   - schema: the fields of every item.
    /// - Throws: `CSVError`, `FileError`, `FormatError`.
    package init(_ file: ImportFile, _ options: ItemFileOptions, _ schema: ItemSchema) throws {
        titleField = schema.fields.first.flatMap { $0.kind.kind == .text ? $0.name : nil }
        guard options.format.isTable else {
            let sample = try TypedSample(file, options, schema)
            form = sample?.phrase
            columns = sample?.columns(schema) ?? []
            return
        }
        let form = try CSVForm(file, options)
        self.form = form.dialect.phrase
        guard let header = try form.header() else {
            columns = []
            return
        }
        let names = header.names.map { String(decoding: $0, as: UTF8.self) }
        let nulls = CellNulls(options.nulls)
        var inference = TableInference(columns: names.count, nulls: nulls)
        var cells = [[String]](repeating: [], count: names.count)
        var count = 0
        try form.forEachRow { row in
            count += 1
            inference.add(row)
            for column in 0..<min(row.count, names.count) where cells[column].count < 3 && !row[column].isEmpty {
                cells[column].append(String(decoding: row[column].prefix(200), as: UTF8.self))
            }
            return count < Self.rowLimit
        }
        let results = inference.results(decimal: options.decimal, delimiter: form.delimiter)
        var taken = NameSet(names.filter { schema.has($0) })
        var made: [Column] = []
        for (place, name) in names.enumerated() where !(header.unnamed.contains(place) && cells[place].isEmpty) {
            let result = results[place]
            let proposed = Self.field(name, schema, taken)
            taken.insert(proposed)
            made.append(
                Column(
                    name: name, field: proposed, kind: ItemFieldKind(result.format.kind), cells: cells[place],
                    kindText: Self.text(of: result), isTyped: false))
        }
        columns = made
    }

    /// The field for a column: that of its name, or one of every item's that has another word for it.
    static func field(_ name: String, _ schema: ItemSchema, _ taken: NameSet) -> String {
        if schema.has(name) { return name }
        let word = ColumnNames.plain(name)
        for field in schema.fields where !taken.contains(field.name) {
            let isFirst = field.name == schema.fields.first?.name
            if isFirst && ColumnNames.areTitles(name) || ColumnNames.plain(field.name) == word { return field.name }
        }
        return name
    }

    private static func text(of result: ColumnResult) -> String {
        switch result.format {
        case .day(let style?), .moment(let style?): "date(\(style.pattern))"
        default: result.format.kind.rawValue
        }
    }
}

extension ColumnNames {
    /// A name without its case and signs: `Serial Number`, `serial_number` and `serialNumber` are one.
    static func plain(_ name: String) -> String {
        String(name.lowercased().filter { $0.isLetter || $0.isNumber })
    }
}

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
            let sheets = SheetItemReader(options: options, path: "", file: file)
            guard let sample = try sheets.sample(ItemImportPreview.rowLimit) else { return nil }
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
        return try RecordShape(options: options, path: "", schema: schema).groups(of: values).flatMap(\.records)
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
        let kind = FieldDeclaration.Kind(of: value)?.ofTexts
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
        var taken = NameSet(names.filter { schema.has($0) })
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
