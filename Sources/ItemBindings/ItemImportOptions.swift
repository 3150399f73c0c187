import Application
import CSV
import Items
import Lua
import PropertyList
import Scripting

/// The options of `items:import`.
struct ItemImportOptions: LuaOptions {
    enum Types: String, CaseIterable, LuaRepresentable { case infer, text }
    enum Failure: String, CaseIterable, LuaRepresentable { case stop, skip }
    enum Decimal: String, CaseIterable, LuaRepresentable { case point, comma }

    var format: ItemFileFormat?
    var map: LuaTable?
    var key: ItemFilesBinding.Texts?
    var update = false
    var types: LuaEither<Types, LuaTable>?
    var transform: LuaFunction?
    var onError: LuaEither<Failure, LuaFunction>?
    var rejects: String?
    var encoding: ItemFileEncoding?
    var table: String?
    var dryRun = false
    var delimiter: String?
    var progress = false
    var skip: Int?
    var comment: String?
    var header: LuaEither<Bool, [String]>?
    var null: ItemFilesBinding.Texts?
    var decimal: Decimal?
    var date: String?
    var sheet: String?
    var path: String?
    var pictures: String?
    var by: String?
    var profile: String?

    static let kinds = ItemFieldKind.allCases.map(\.rawValue).joined(separator: ", ")

    static var luaOptions: [LuaOption<ItemImportOptions>] {
        LuaOption("format", \.format, doc: "the file's format (default: from its extension)")
        LuaOption("map", \.map, doc: "new column names by column name; false omits the column")
        LuaOption(
            "key", \.key,
            doc: "the field or fields that match a row to an item; without a key, each row becomes a new item")
        LuaOption("update", \.update, doc: "whether rows update matching items (default: these stay unchanged)")
        LuaOption(
            "types", \.types,
            doc:
                "how texts are converted: \"infer\" infers a kind for each column (default for CSV); \"text\"; or kinds by field: \(kinds), date(PATTERN)"
        )
        LuaOption(
            "transform", \.transform,
            doc: .callback(
                "(row: table) → table or nil",
                "changes a row before its texts are converted, keyed by field names; nil skips it"))
        LuaOption(
            "onError", \.onError,
            doc: .callback(
                "(row: table, line: integer, message: string) → string",
                "for rows that cannot be imported: \"stop\" changes nothing (default), \"skip\" omits the row; or a function that returns either"
            ))
        LuaOption(
            "rejects", \.rejects,
            doc:
                "a file for rejected rows in the input's format, with reasons, to be corrected and imported; \"-\" is standard output"
        )
        LuaOption("encoding", \.encoding, doc: "the text encoding (default: found by the first bytes)")
        LuaOption("table", \.table, doc: "the table of a SQLite database (default: items, or the only table)")
        LuaOption("dryRun", \.dryRun, doc: "whether to create only the report, without changes")
        LuaOption("delimiter", \.delimiter, doc: "the separator of CSV cells (default: found by the rows)")
        LuaOption("progress", \.progress, doc: ItemFiles.progress)
        LuaOption("skip", \.skip, doc: "the lines above the header to leave out (default: those of a plain title)")
        LuaOption("comment", \.comment, doc: "what lines begin with that are comments (default: none, or # if plain)")
        LuaOption(
            "header", \.header,
            doc: "false for a file without a header, whose columns are column1, …; or the columns' names")
        LuaOption("null", \.null, doc: "the text or texts that stand for no value")
        LuaOption("decimal", \.decimal, doc: "the sign before decimals (default: found by the columns)")
        LuaOption("date", \.date, doc: "the pattern of dates, such as dd.MM.yyyy (default: found by each column)")
        LuaOption("sheet", \.sheet, doc: "the sheet of a spreadsheet (default: the first)")
        LuaOption("path", \.path, doc: "where the records are in JSON, such as results or data.items")
        LuaOption(
            "pictures", \.pictures,
            doc: "a folder with pictures for the rows' items, named by a field: A1.jpg, and A1-2.jpg as a further one")
        LuaOption("by", \.by, doc: "the field whose text is the name of an item's pictures")
        LuaOption(
            "profile", \.profile,
            doc: "the name of an answer of cubby import: its fields, kinds and key, where options do not say others")
    }
}

extension ItemImportOptions {
    /// The options that say how a file is read.
    ///
    /// - Throws: `LuaMismatch` for an option with an invalid value.
    func reading(_ format: ItemFileFormat) throws -> ItemFileOptions {
        var options = ItemFileOptions(format: format)
        if let delimiter { options.delimiter = try ItemFiles.delimiter(delimiter) }
        if let map { options.names = try ItemFilesBinding.names(map) }
        options.key = key?.texts ?? []
        options.updates = update
        options.isDryRun = dryRun
        options.kinds = try types.map(kinds)
        options.encoding = encoding
        options.table = table
        if let skip, skip < 0 { throw Self.mismatch("option 'skip': a number of lines expected, got \(skip)") }
        options.skippedLines = skip
        if let comment, comment.isEmpty || comment.utf8.count > 64 {
            throw Self.mismatch("option 'comment': a text of 1 to 64 bytes expected, such as \"#\"")
        }
        options.comment = comment
        switch header {
        case .first(false)?: options.header = .none
        case .second(let names)?:
            if names.isEmpty { throw Self.mismatch("option 'header': the columns' names expected, got none") }
            options.header = .names(names)
        default: break
        }
        options.nulls = null?.texts ?? []
        options.decimal = decimal.flatMap { NumberStyle.Decimal(rawValue: $0.rawValue) }
        options.dateStyle = try date.map { try Self.dateStyle($0, option: "date") }
        (options.sheet, options.recordPath) = (sheet, path)
        return options
    }

    private static func dateStyle(_ pattern: String, option: String) throws(LuaMismatch) -> DateStyle {
        do { return try DateStyle(pattern: pattern) } catch { throw mismatch("option '\(option)': \(error)") }
    }

    static func mismatch(_ message: String) -> LuaMismatch { LuaMismatch(message, argument: "options") }

    private func kinds(_ types: LuaEither<Types, LuaTable>) throws -> ItemFileKinds {
        switch types {
        case .first(.infer): return .inferred
        case .first(.text): return .text
        case .second(let table):
            var kinds: [String: ItemColumnKind] = [:]
            try table.forEach { key, value in
                var kind: ItemColumnKind?
                do throws(DatePatternError) {
                    kind = try value.textValue.flatMap { word throws(DatePatternError) in try ItemColumnKind(word) }
                } catch { throw Self.mismatch("option 'types': \(error)") }
                guard let name = key.textValue, let kind else {
                    throw Self.mismatch(
                        "option 'types': a kind by each field's name expected (\(Self.kinds), date(PATTERN)), got \(value.textValue ?? "\(value)") for \(key.textValue ?? "\(key)")"
                    )
                }
                try ItemFilesBinding.checkLength(of: name, option: "types")
                kinds[name] = kind
                return true
            }
            return .named(kinds)
        }
    }
}

extension ItemFileOptions {
    /// Takes over what a profile says of the columns, where it is not given.
    mutating func apply(_ profile: ImportProfile) {
        for (column, field) in profile.fields where names[column] == nil {
            names[column] = field.isEmpty ? .some(nil) : field
        }
        var kinds: [String: ItemColumnKind] = [:]
        for (field, kind) in profile.kinds { kinds[field] = try? ItemColumnKind(kind) }
        switch self.kinds {
        case nil, .inferred?: self.kinds = .named(kinds)
        case .named(let given)?: self.kinds = .named(kinds.merging(given) { $1 })
        case .text?: break
        }
        if key.isEmpty { key = profile.key }
    }
}

/// A script's function that changes rows.
final class ScriptRowTransform: ItemRowTransform {
    private let function: LuaRowFunction
    private let values: ValueBridge

    init(_ function: LuaFunction, _ values: ValueBridge) {
        (self.function, self.values) = (LuaRowFunction(function), values)
    }

    func transform(
        _ names: [String], _ cells: [ImportedCell], _ change: (ItemRowChange) throws -> Void
    ) throws -> Bool {
        while function.count < names.count { try function.addName(Array(names[function.count].utf8)) }
        let outcome: LuaRowFunction.Outcome
        do {
            outcome = try function.call { place in
                switch cells[place] {
                case .missing, .empty: .absent
                case .text(let text): .text(text)
                case .value(let value): value == .null ? .absent : .value(try values.lua(value))
                }
            } _: { difference in
                switch difference {
                case .changed(let place, let value): try change(.column(place, try self.value(value, names[place])))
                case .removed(let place): try change(.column(place, nil))
                case .added(let key, let value):
                    guard let name = key.textValue else {
                        throw ItemImportOptions.mismatch(
                            "option 'transform': a row's names are text, got \(values.state.describe(key))")
                    }
                    try change(.field(name, try self.value(value, name)))
                }
            }
        } catch let error as LuaError where error.kind == .runtime || error.kind == .argument {
            // What the function raises is an error of the row; limits and interruptions end the import.
            if error.underlying is WorkStopped { throw error }
            throw StoreError(.invalidValue(field: ""), "transform: \(error.message)", cause: error)
        }
        switch outcome {
        case .row: return true
        case .nothing: return false
        case .other(let value):
            throw ItemImportOptions.mismatch(
                "option 'transform': the function answers a row or nil, got \(values.state.describe(value))")
        }
    }

    private func value(_ value: LuaValue, _ name: String) throws -> PropertyListValue {
        do throws(ValueBridge.BridgeError) { return try values.propertyList(value, path: name) } catch {
            throw ItemImportOptions.mismatch("option 'transform': \(error.message)")
        }
    }
}
