import Application
import CSV
import Files
import Items
import Logging
import Lua
import PropertyList
import Scripting

/// `items:import`.
final class ItemImportBinding {
    private unowned let host: ScriptHost
    private unowned let classes: ItemClasses

    private init(_ classes: ItemClasses) { (self.classes, host) = (classes, classes.host) }

    typealias Options = ItemImportOptions

    private static let report = LuaType.record(
        "import.report",
        [
            LuaParameter("created", .integer, "new items"),
            LuaParameter("updated", .integer, "changed items"),
            LuaParameter("unchanged", .integer, "items matched by a row, but unchanged"),
            LuaParameter("rejected", .integer, "rows that could not be imported"),
            LuaParameter("total", .integer, "rows in the file"),
            LuaParameter("pictures", .integer, "pictures imported with the items of an archive, or from a folder"),
            LuaParameter("unnamed", .integer, "columns without a name, imported as column1, column2, …"),
            LuaParameter("renamed", .integer, "columns with the name of an earlier one, imported as NAME_2, …"),
            LuaParameter("leftOut", .integer, "columns without a name and without any cell, left out"),
            LuaParameter("oddHeader", .integer, "1 if the header's names look like values"),
            LuaParameter(
                "nulls", .integer, "nulls in JSON records and in dictionaries, left out; those in arrays are values"),
            LuaParameter("duplicateKeys", .integer, "keys that one object has again: the last counts"),
            LuaParameter(
                "damage", .integer,
                "places of a property list that read otherwise than they stand there, such as equal keys"),
            LuaParameter("otherKinds", .integer, "values of another kind than their column declares, unchanged"),
            LuaParameter("withoutPicture", .integer, "items without a picture in the folder of pictures"),
            LuaParameter("presentPictures", .integer, "items with pictures already, which stay"),
            LuaParameter("leftPictures", .integer, "files in the folder of pictures that no item got"),
            LuaParameter("otherForms", .integer, "files of pictures found by another Unicode form of their names"),
            LuaParameter("doubts", .integer, "columns that stay text though they look like values"),
            LuaParameter("formerKinds", .integer, "fields that have got values of another kind than they had"),
            LuaParameter("mixedKinds", .integer, "new fields that have got values of several kinds"),
            LuaParameter("repeated", .integer, "new items equal to ones before, in an import without a key"),
            LuaParameter("withoutKey", .integer, "rows without a key, which became new items"),
            LuaParameter("noName", .integer, "1 if new items have no name"),
            LuaParameter("remarks", .array(.text), "what was left out or carried differently, a sentence each"),
        ])

    static func declare(on cls: LuaClass<ItemStore>, _ classes: ItemClasses) {
        let binding = ItemImportBinding(classes)
        cls.method(
            "import", ["path": ItemFiles.path, "options": "how to read the file"],
            returns: [.optional(.integer), .union([report, .object("Error")])],
            doc:
                "Imports items from a CSV, JSON, JSON Lines, property-list, archive or SQLite file, or from a spreadsheet, in one transaction. Returns the number of new or changed items and a printable report, or nil and an error that names the row.",
            example:
                "fs.write(app.container.tmp .. \"/a.csv\", \"Title,valueInDollars\\nLamp,9\\n\") return items:import(app.container.tmp .. \"/a.csv\", { map = { Title = \"name\" }, key = \"name\", update = true })"
        ) { (store, path: String, options: Options) in try binding.importItems(store, path, options) }
    }

    private func importItems(
        _ store: ItemStore, _ path: String, _ given: Options
    ) throws -> OrError<LuaVariadic<LuaValue>> {
        if given.pictures != nil, given.by == nil {
            throw Options.mismatch("option 'pictures' needs the option 'by', the field that names an item's pictures")
        }
        if given.by != nil, given.pictures == nil { return try importPictures(store, path, given) }
        if given.format == nil, let preparation = ItemFilesBinding.preparation(path) {
            return .failure(StoreError(.unreadableFile, preparation, path: path))
        }
        let isStream = given.format == nil && ItemFilesBinding.isStream(path)
        var options = try options(given, path, isStream ? .csv : try ItemFilesBinding.format(given.format, path))
        if let folder = given.pictures, let field = given.by {
            switch try pictures(in: folder, by: field, store, options) {
            case .success(let attach): options.afterRows = attach
            case .failure(let error): return .failure(error)
            }
        }
        return try ItemFiles.finish {
            try read(path, options.format) { file -> OrError<LuaVariadic<LuaValue>> in
                if isStream { options.format = try file.format() }
                try Options.check(options)
                var report = ItemImportReport()
                func run() throws {
                    report = try ItemFiles.work(
                        &options, "Importing", showsBar: given.progress, in: host.runtime
                    ) {
                        try store.importItems(file, path: path, $0)
                    }
                }
                guard let rejects = given.rejects else {
                    try run()
                    return .success(results(of: report))
                }
                // Opened before the items change: an unwritable file ends the import.
                return try FileOutput.write(host, rejects) { append in
                    try run()
                    try report.rejects.withUnsafeBytes(append)
                    return results(of: report)
                }
            }.flatMap { $0 }
        }
    }

    /// Runs a body with the file's bytes. A database's file is left to its library: closing it here would release the
    /// locks of other connections.
    private func read<Value>(
        _ path: String, _ format: ItemFileFormat, _ body: (ImportFile) throws -> Value
    ) throws -> OrError<Value> {
        if format == .sqlite { return try host.attempt(path, .read) { _ in try body(ImportFile([])) } }
        return try FileInput.read(host, path) { try body(try ImportFile($0, $1)) }
    }

    private func results(of report: ItemImportReport) -> LuaVariadic<LuaValue> {
        let table = host.state.makeTable([
            "created": report.created, "updated": report.updated, "unchanged": report.unchanged,
            "rejected": report.rejected, "total": report.total, "pictures": report.pictures,
            "remarks": report.remarks.map(\.description),
        ])
        for kind in ItemImportRemark.Kind.allCases { table[kind.rawValue] = .integer(Int64(report.count(kind))) }
        classes.describe(table, as: "report", report.description)
        return LuaVariadic([.integer(Int64(report.created + report.updated)), .table(table)])
    }

    // MARK: A folder of pictures

    /// Imports a folder of pictures for the items that are there.
    private func importPictures(
        _ store: ItemStore, _ path: String, _ given: Options
    ) throws -> OrError<LuaVariadic<LuaValue>> {
        let rowOptions: [(String, Bool)] = [
            ("format", given.format != nil), ("map", given.map != nil), ("key", given.key != nil),
            ("types", given.types != nil), ("transform", given.transform != nil), ("rejects", given.rejects != nil),
            ("encoding", given.encoding != nil), ("table", given.table != nil), ("delimiter", given.delimiter != nil),
            ("skip", given.skip != nil), ("comment", given.comment != nil), ("header", given.header != nil),
            ("null", given.null != nil), ("decimal", given.decimal != nil), ("date", given.date != nil),
            ("sheet", given.sheet != nil), ("path", given.path != nil),
        ]
        if let (name, _) = rowOptions.first(where: \.1) {
            throw Options.mismatch(
                "option '\(name)' is for a file; without the option 'pictures' the path is their folder")
        }
        var options = ItemFileOptions(format: .csv)
        options.updates = given.update
        options.isDryRun = given.dryRun
        options.skipsRow = try skipsRow(given)
        return try ItemFiles.finish {
            switch try pictures(in: path, by: given.by ?? "", store, options) {
            case .failure(let error): return .failure(error)
            case .success(let attach): options.afterRows = attach
            }
            return .success(results(of: try store.importToAllItems(options)))
        }
    }

    /// What attaches the pictures of a folder to rows' items.
    private func pictures(
        in folder: String, by field: String, _ store: ItemStore, _ options: ItemFileOptions
    ) throws -> OrError<(_ rows: [UInt32], _ report: inout ItemImportReport) throws -> Void> {
        try host.attempt(folder, .read) { layer in
            let names = try layer.list(folder)
            let source = PictureFolder(folder, in: host)
            return { [unowned host] rows, report in
                let pictures = try ImportedPictures(
                    in: folder, names, by: field, of: rows, store, replaces: options.updates)
                let work = try LongWork("Attaching", total: pictures.assignments.count, in: host.runtime)
                defer { work.finish() }
                let outcome = try source.attach(pictures, to: store, options, progress: work.step)
                report.add(pictures, count: outcome.count, failures: outcome.failures)
            }
        }
    }

    // MARK: Options

    private func options(_ given: Options, _ path: String, _ format: ItemFileFormat) throws -> ItemFileOptions {
        var options = try given.reading(format)
        if let name = given.profile { options.apply(try profile(name)) }
        if options.updates, options.key.isEmpty {
            throw Options.mismatch("option 'update' needs the option 'key', by which items are found")
        }
        options.fieldNameProblem = { [classes] name in
            if let (problem, _) = classes.itemBinding.nameProblem(name) { return problem }
            classes.itemBinding.warn(aboutName: name)
            return nil
        }
        options.transform = given.transform.map { ScriptRowTransform($0, host.values) }
        options.skipsRow = try skipsRow(given)
        options.keepsRejects = given.rejects != nil
        options.onKinds = { [unowned host] in host.logger.info("\($0)") }
        if options.format == .sqlite {
            if path == "-" {
                throw LuaMismatch("a SQLite database is a file, and no stream of bytes", argument: "path")
            }
            options.openDatabase = { [unowned host] in try DatabaseFile.open(host, path, isReadOnly: true) }
        }
        if options.format == .keyedArchive { options.attachment = attachment(beside: path) }
        return options
    }

    /// A profile of the container's.
    private func profile(_ name: String) throws -> ImportProfile {
        var known: [ImportProfile] = []
        if let folder = ConfigurationFolder.locate(),
            let configuration = try? ConfigurationFile(for: host.container, in: folder)
        {
            do { known = try ImportProfiles(beside: configuration).read() } catch {
                throw Options.mismatch("option 'profile': \(error.message)")
            }
        }
        if let profile = known.first(where: { $0.name == name }) { return profile }
        let hint = NearestNames.hint(for: name, among: known.map(\.name))
        throw Options.mismatch("option 'profile': there is no profile '\(name)'\(hint)")
    }

    private func skipsRow(_ given: Options) throws -> ((PropertyListFields, Int, String) throws -> Bool)? {
        switch given.onError {
        case .first(.stop)? where given.rejects != nil:
            throw Options.mismatch("option 'rejects' is for rows that are left out: onError \"stop\" leaves none out")
        case .first(.stop)?: return nil
        case .first(.skip)?: return { _, _, _ in true }
        case nil: return given.rejects.map { _ in { _, _, _ in true } }
        case .second(let function)?:
            let values = host.values
            return { row, line, message in
                let arguments: [LuaValue] = [try values.table(of: row), .integer(Int64(line)), .text(message)]
                switch try function.call(arguments: arguments).first?.textValue {
                case "skip": return true
                case "stop": return false
                default: throw Options.mismatch("option 'onError': the function answers \"skip\" or \"stop\"")
                }
            }
        }
    }

    // MARK: Pictures

    /// The pictures beside an archive, by the keys of its items, as far as the sandbox allows reading them.
    private func attachment(beside path: String) -> (String) throws -> [UInt8]? {
        let folder = PathText.parent(of: PathText.absolute(path, from: host.fence.base))
        var hasFailed = false
        return { [host] key in
            guard !hasFailed else { return nil }
            let layer = host.fence.layer
            let picture = PathText.join(folder, key)
            do throws(FileError) {
                guard try layer.status(picture)?.kind == .regular else { return nil }
                return try layer.contents(of: picture, limit: ScriptHost.readLimit)
            } catch {
                if error.code == FileLayerCode.interrupted { throw error }
                hasFailed = true
                host.logger.warning("the pictures beside \(path) are not imported: \(error.message)")
                return nil
            }
        }
    }
}

extension ValueBridge {
    /// The table of a row.
    fileprivate func table(of row: PropertyListFields) throws -> LuaValue {
        let table = state.makeTable(fields: row.count)
        for (name, value) in row { table[name] = try lua(value) }
        return .table(table)
    }
}

extension NumberStyle.Decimal: LuaRepresentable {}

/// The options of `items:import`.
struct ItemImportOptions: LuaOptions {
    enum Types: String, CaseIterable, LuaRepresentable { case infer, text }
    enum Failure: String, CaseIterable, LuaRepresentable { case stop, skip }

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
    var decimal: NumberStyle.Decimal?
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
                "a file for invalid rows, which are left out: in the input's format, with reasons, to be corrected and imported; \"-\" is standard output"
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
        options.decimal = decimal
        options.dateStyle = try date.map { try Self.dateStyle($0, option: "date") }
        (options.sheet, options.recordPath) = (sheet, path)
        return options
    }

    /// Refuses an option that files of the format do not have.
    static func check(_ options: ItemFileOptions) throws {
        guard let (name, formats) = options.foreignOption else { return }
        let reason = "for \(formats), and the format is \(options.format.rawValue)"
        guard OptionWords.areOfCommand else { throw mismatch("option '\(name)': \(reason)") }
        let option = name == "header" && options.header == .none ? "no-header" : name
        throw StoreError(.invalidValue(field: ""), "--\(option) is \(reason)")
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
            var kinds: NameTable<ItemColumnKind> = [:]
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
        if self.kinds != .text {
            var kinds: NameTable<ItemColumnKind> = [:]
            for (field, kind) in profile.kinds { kinds[field] = try? ItemColumnKind(kind) }
            if case .named(let given)? = self.kinds { for (field, kind) in given { kinds[field] = kind } }
            self.kinds = .named(kinds)
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
