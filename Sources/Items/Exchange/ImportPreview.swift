import CSV
import ColumnEngine

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
        let results = inference.results(decimal: options.decimal)
        var taken: Set<String> = Set(names.filter { schema.has($0) })
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
    static func field(_ name: String, _ schema: ItemSchema, _ taken: Set<String>) -> String {
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
