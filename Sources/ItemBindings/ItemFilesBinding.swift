import Application
import Files
import Images
import Items
import Logging
import Lua
import PropertyList
import Scripting

/// Common parts of `items:import`, `items:export` and `query:export`: options, and long work.
enum ItemFilesBinding {
    /// A text, or an array of texts.
    typealias Texts = LuaEither<String, [String]>

    /// The format from the option, otherwise from the path's extension.
    static func format(
        _ given: ItemFileFormat?, _ path: String, writes: Bool = false
    ) throws(LuaMismatch) -> ItemFileFormat {
        let isPacked = given == nil && writes && path.utf8.suffix(3).elementsEqual(".gz".utf8)
        if !isPacked, let format = given ?? ItemFileFormat(path: path), format.isWritten || !writes { return format }
        let formats = ItemFileFormat.allCases.filter { $0.isWritten || !writes }.map(\.rawValue)
        throw LuaMismatch(
            "the extension of '\(path.shortened(to: 4096))' names no format\(isPacked || ItemFileFormat(path: path) != nil ? " that is written" : ""): give \(OptionWords.choose("options.format", "--format", json: nil)), \(formats.dropLast().joined(separator: ", ")) or \(formats.last ?? "")",
            argument: "path")
    }

    /// Whether a path is that of a stream, whose format shows in its first bytes.
    static func isStream(_ path: String) -> Bool { path == "-" || ItemFileFormat.hasNoExtension(path) }

    /// What to do with a file that is compressed, or a spreadsheet, by its extension; nil for another.
    static func preparation(_ path: String) -> String? {
        let name = String(decoding: path.utf8.suffix(16), as: UTF8.self).lowercased()
        let programs = [("xz", "unxz"), ("zst", "unzstd"), ("bz2", "bunzip2"), ("zip", "unzip")]
        if let program = programs.first(where: { name.hasSuffix(".\($0.0)") })?.1 {
            return "the extension of \(path) is that of a compressed file: decompress it first, with \(program)"
        }
        guard ["xls", "numbers"].contains(where: { name.hasSuffix(".\($0)") }) else { return nil }
        return "the extension of \(path) is that of a spreadsheet: save it as .xlsx, .ods or CSV first"
    }

    /// New names by old ones; nil for an omitted field.
    static func names(_ map: LuaTable) throws -> NameTable<String?> {
        var names: NameTable<String?> = [:]
        try map.forEach { key, value in
            guard let name = key.textValue else {
                throw LuaMismatch("option 'map': names are text, got \(key)", argument: "options")
            }
            if case .boolean(false) = value {
                names[name] = .some(nil)
            } else if let other = value.textValue {
                names[name] = other
            } else {
                throw LuaMismatch(
                    "option 'map': '\(name)' needs a name, or false to leave it out", argument: "options")
            }
            return true
        }
        return names
    }
}

extension LuaEither<String, [String]> {
    var texts: [String] {
        switch self {
        case .first(let text): [text]
        case .second(let texts): texts
        }
    }
}

/// `items:export` and `query:export`.
enum ItemExportBinding {
    private struct Options: LuaOptions {
        enum Numbers: String, CaseIterable, LuaRepresentable { case null }

        var format: ItemFileFormat?
        var columns: [String]?
        var map: LuaTable?
        var table: String?
        var delimiter: String?
        var program: SpreadsheetDialect.Program?
        var nan: Numbers?
        var progress = false

        static var luaOptions: [LuaOption<Options>] {
            LuaOption("format", \.format, doc: "the file's format (default: from its extension)")
            LuaOption(
                "columns", \.columns,
                doc: "the fields to write, in order, or parts of them, such as dims.w (default: all fields in use)")
            LuaOption("map", \.map, doc: "new field names by field name; false omits the field")
            LuaOption(
                "table", \.table,
                doc:
                    "the table to write in a SQLite database, whose other tables stay (default: items, in a new database)"
            )
            LuaOption("delimiter", \.delimiter, doc: ItemFiles.delimiter)
            LuaOption(
                "for", \.program,
                doc:
                    "the spreadsheet that CSV is for: excel, with its mark, days, the locale's separator and decimal sign, and texts that stay texts"
            )
            LuaOption(
                "nan", \.nan,
                doc: "how to write NaN and infinities where the format has none: \"null\" (default: an error)")
            LuaOption("progress", \.progress, doc: ItemFiles.progress)
        }

        func fileOptions(_ path: String) throws -> ItemFileOptions {
            var options = ItemFileOptions(format: try ItemFilesBinding.format(format, path, writes: true))
            try check(options.format)
            let separator = try delimiter.map { try ItemFiles.delimiter($0) }
            if let separator { options.delimiter = separator }
            if program != nil {
                let isTabs = options.format == .tsv && separator == nil
                options.spreadsheet = SpreadsheetDialect(
                    locale: locale, delimiter: isTabs ? UInt8(ascii: "\t") : separator)
            }
            if let map { options.names = try ItemFilesBinding.names(map) }
            (options.columns, options.table) = (columns, table)
            options.writesNullForNaN = nan == .null
            options.adviceOnNaN = ": nan = \"null\" writes null (on the command line --nan null)"
            return options
        }

        /// Refuses options that a format does not use.
        private func check(_ format: ItemFileFormat) throws(LuaMismatch) {
            func refuse(_ option: String, _ formats: String) -> LuaMismatch {
                LuaMismatch(
                    "option '\(option)': for \(formats), and the format is \(format.rawValue)", argument: "options")
            }
            let isText = format == .csv || format == .tsv
            if program != nil, !isText { throw refuse("for", "csv and tsv") }
            if delimiter != nil, !isText { throw refuse("delimiter", "csv and tsv") }
            if table != nil, format != .sqlite { throw refuse("table", "sqlite") }
            if nan != nil, format == .propertyList || format == .keyedArchive {
                throw refuse("nan", "formats without such numbers")
            }
        }

        /// The locale of numbers.
        private var locale: String {
            let surroundings = ProcessSurroundings.current
            return ["LC_ALL", "LC_NUMERIC", "LANG"].lazy.compactMap(surroundings.value).first { !$0.isEmpty } ?? "C"
        }
    }

    private static let parameters: LuaArguments = ["path": ItemFiles.path, "options": "how to write the file"]

    static func declare(on cls: LuaClass<ItemStore>, _ classes: ItemClasses) {
        cls.method(
            "export", parameters,
            doc:
                "Writes all items to a CSV, JSON, JSON Lines, property-list, archive or SQLite file, atomically. Returns their number, or nil and an error.",
            example:
                "items:randomItem() return items:export(app.container.tmp .. \"/items.csv\", { map = { name = \"Title\", itemKey = false } })"
        ) { [unowned host = classes.host] (store, path: String, options: Options) in
            try export(store.query(), path, options, host)
        }
    }

    static func declare(on cls: LuaClass<ItemQuery>, _ classes: ItemClasses) {
        cls.method(
            "export", parameters,
            doc:
                "Writes the query's items, in its order, as items:export does. Returns their number, or nil and an error.",
            example:
                "items:createItem{ name = \"Lamp\", valueInDollars = 9 } return items:query(\"valueInDollars < 10\"):export(\"-\", { format = \"jsonl\", columns = { \"name\", \"valueInDollars\" } })"
        ) { [unowned host = classes.host] (value, path: String, options: Options) in
            try export(value, path, options, host)
        }
    }

    private static func export(
        _ query: ItemQuery, _ path: String, _ given: Options, _ host: ScriptHost
    ) throws -> OrError<Int> {
        let result = try write(query, path, given, host)
        if case .success = result {
            for notice in try query.carriedNotices(exporting: given.columns) { host.logger.warning("\(notice)") }
        }
        return result
    }

    private static func write(
        _ query: ItemQuery, _ path: String, _ given: Options, _ host: ScriptHost
    ) throws -> OrError<Int> {
        var options = try given.fileOptions(path)
        options.onRemark = { [unowned host] in host.logger.warning("\(path): \($0)") }
        if options.format == .sqlite {
            if path == "-" {
                throw LuaMismatch("a SQLite database is a file, and no stream of bytes", argument: "path")
            }
            return try ItemFiles.finish {
                try host.attempt(path, .readWrite) { _ in
                    try ItemFiles.work(&options, "Exporting", showsBar: given.progress, in: host.runtime) {
                        options in
                        try write(query, options, into: path, host)
                    }
                }
            }
        }
        return try ItemFiles.finish {
            try FileOutput.write(host, path) { append in
                try ItemFiles.work(&options, "Exporting", showsBar: given.progress, in: host.runtime) {
                    try query.exportItems($0, write: append)
                }
            }
        }
    }

    /// Writes a named table into a database that is there; anything else as a new database, in place of the file.
    private static func write(
        _ query: ItemQuery, _ options: ItemFileOptions, into path: String, _ host: ScriptHost
    ) throws -> Int {
        guard options.table != nil, try host.fence.layer.status(path) != nil else {
            return try DatabaseFile.replace(host, path) { try query.exportItems(options, into: $0) }
        }
        return try DatabaseFile.update(host, path) { try query.exportItems(options, into: $0) }
    }
}

/// A folder of pictures that an import attaches to items.
struct PictureFolder: Sendable {
    private let path: String
    private let layer: FencedFileLayer
    private let limits: ImageLimits
    private let logger: Logger

    init(_ path: String, in host: ScriptHost) {
        (self.path, layer, limits, logger) = (path, host.fence.layer, host.images.limits, host.logger)
    }

    /// Attaches pictures to their items. They are read and encoded on all processors, each item's together.
    ///
    /// - Parameters:
    ///   - pictures: the files of each item.
    ///   - store: the items' store, in a transaction.
    ///   - options: what happens with a picture that cannot be read: an error, or it is left out.
    ///   - progress: called with the number of finished items.
    /// - Returns: the number of pictures that items got, and those that could not be read, with the reasons.
    /// - Throws: `StoreError` with `unreadableFile` for a picture that cannot be read; errors of the store and of
    ///   `progress`.
    func attach(
        _ pictures: ImportedPictures, to store: ItemStore, _ options: ItemFileOptions,
        progress: (Int) throws -> Void
    ) throws -> (count: Int, failures: [String]) {
        let assignments = pictures.assignments
        var (count, failures): (Int, [String]) = (0, [])
        try ParallelWork.forEach(assignments.count) { number in
            ImageLibrary.concurrently { assignments[number].names.map(read) }
        } consume: { number, results in
            let assignment = assignments[number]
            var bytes: [[UInt8]] = []
            for (name, result) in zip(assignment.names, results) {
                switch result {
                case .success(let picture):
                    bytes.append(picture.bytes)
                    if let damage = picture.damage {
                        logger.warning("\(PathText.join(path, name)) is damaged within: \(damage)")
                    }
                case .failure(let error):
                    let file = PathText.join(path, name)
                    let message = error.path == nil ? "\(file): \(error.message)" : error.message
                    let row: PropertyListFields = ["picture": .string(file)]
                    guard try options.skipsRow?(row, 0, message) == true else {
                        throw StoreError(.unreadableFile, message, path: file, cause: error)
                    }
                    failures.append(message)
                }
            }
            count += try ImportedPictures.set(bytes, of: assignment.row, in: store)
            try progress(number + 1)
        }
        return (count, failures)
    }

    /// The file that the store keeps of a picture, and what the decoder says of damage.
    private func read(_ name: String) -> Result<(bytes: [UInt8], damage: String?), ImageError> {
        let file = PathText.join(path, name)
        do throws(ImageError) {
            return .success(try ImageStore.jpeg(try BitmapImage.open(file, limits: limits, using: layer)))
        } catch {
            return .failure(error)
        }
    }
}
