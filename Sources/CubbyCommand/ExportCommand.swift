import Application
import ArgumentParser
import Files
import Gallery
import Images
import Items
import Logging
import Lua
import Scripting

/// `cubby export [PREDICATE] [FILE]`: items as a file.
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export items as CSV, JSON, JSON Lines, a property list or an archive, to a file or standard output.",
        discussion: "A single argument is the file if it is - or has a format's extension, else the predicate.")

    @OptionGroup var host: HostOptions

    @Option(
        help: ArgumentHelp(
            "\(ItemFileFormat.allCases.map(\.rawValue).joined(separator: ", ")) (default: by the file's extension).",
            valueName: "format"), completion: .list(ItemFileFormat.allCases.map(\.rawValue)))
    var format: String?

    @Option(
        help: ArgumentHelp("The fields to write, in this order, separated by commas.", valueName: "names"),
        completion: .fields)
    var columns: String?

    @Option(help: ArgumentHelp("Rename a field; an empty new name omits it.", valueName: "old=new"))
    var map: [String] = []

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "Write CSV for a spreadsheet: excel, with the locale's separator and decimal sign.", valueName: "program"),
        completion: .list(SpreadsheetDialect.Program.allCases.map(\.rawValue)))
    var program: String?

    @Option(help: ArgumentHelp("The separator of CSV cells.", valueName: "character"))
    var delimiter: String?

    @Option(
        help: ArgumentHelp("The table to write in a SQLite database, whose other tables stay.", valueName: "name"))
    var table: String?

    @Option(
        help: ArgumentHelp(
            "Write NaN and infinities as null where the format has none (default: an error).", valueName: "null"),
        completion: .list(["null"]))
    var nan: String?

    @Argument(
        help: ArgumentHelp(
            "A predicate, such as 'valueInDollars > 100' (default: all items), then the file.",
            valueName: "predicate"), completion: .predicate)
    var words: [String] = []

    func validate() throws {
        guard words.count <= 2 else { throw ValidationError("cubby export takes a predicate and a file at most.") }
        if let format, ItemFileFormat(rawValue: format) == nil {
            let names = ItemFileFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--format takes one of \(names).")
        }
        if let program, SpreadsheetDialect.Program(rawValue: program) == nil {
            throw ValidationError("--for takes excel.")
        }
        if let nan, nan != "null" { throw ValidationError("--nan takes null.") }
        if let wrong = map.first(where: { !$0.dropFirst().contains("=") }) {
            throw ValidationError("--map takes OLD=NEW, and '\(wrong)' has no new name.")
        }
        if format == nil, program == nil, file.flatMap(ItemFileFormat.init(path:)) == nil {
            throw ValidationError("cubby export needs --format where no file's extension says it.")
        }
    }

    /// The last of two words, or the only one if it looks like a file.
    private var file: String? {
        guard let last = words.last else { return nil }
        return words.count == 2 || last == "-" || ItemFileFormat(path: last) != nil ? last : nil
    }

    func run() throws {
        var host = host
        // Somebody else's container may be read: its script is not run for that.
        host.noInit = true
        let path = try ItemFileArgument.absolute(file ?? "-")
        // Naming the file is consent to write it.
        if path != "-" { host.allowWrite.append(PathText.parent(of: path)) }
        let predicate = words.count == 2 || file == nil ? words.first : nil
        let work = HostWork(Self.chunk, name: "cubby export", status: ExitStatus.ofExchange) { results, host in
            let count = results.first?.integerValue.map { Int(clamping: $0) } ?? 0
            let place = path == "-" ? "" : " to \(file ?? path)"
            host.inform("\(count.counted("item")) exported\(place)")
        }
        var words = [path, predicate ?? ""]
        func add(_ name: String, _ value: String?) { if let value { words += [name, value] } }
        let isForSpreadsheet = program != nil && format == nil && file.flatMap(ItemFileFormat.init(path:)) == nil
        add("format", isForSpreadsheet ? ItemFileFormat.csv.rawValue : format)
        add("columns", columns)
        map.forEach { add("map", $0) }
        add("for", program)
        add("delimiter", delimiter)
        add("table", table)
        add("nan", nan)
        try ScriptSession(host, source: .work(work), arguments: words).run()
    }

    /// The chunk, as a script would write it.
    private static let chunk = """
        local path, predicate, words = ..., select(2, ...), { select(3, ...) }
        local options = { progress = true }
        for place = 1, #words, 2 do
            local name, value = words[place], words[place + 1]
            if name == "map" then
                local old, new = value:match("^(.[^=]*)=(.*)$")
                options.map = options.map or {}
                options.map[old] = new ~= "" and new
            elseif name == "columns" then
                options.columns = {}
                for column in value:gmatch("[^,]+") do table.insert(options.columns, column) end
            else
                options[name] = value
            end
        end
        return assert(items:query(predicate ~= "" and predicate or nil):export(path, options))
        """
}

/// `cubby gallery [PREDICATE] DIR`: the items as a page.
struct GalleryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gallery",
        abstract: "Write items as an offline web page: pictures, fields, search, sort and totals.")

    @OptionGroup var host: HostOptions

    @Option(help: "The page's title.")
    var title: String?

    @Flag(help: "Allow a folder that holds something other than a gallery.")
    var replace = false

    @Argument(
        help: ArgumentHelp(
            "A predicate, such as 'valueInDollars > 100' (default: all items), then the folder.",
            valueName: "predicate"), completion: .predicate)
    var words: [String] = []

    func validate() throws {
        guard (1...2).contains(words.count), words.last?.isEmpty == false else {
            throw ValidationError("cubby gallery takes a folder for the page, and before it a predicate or nothing.")
        }
    }

    func run() throws {
        let folder: String
        do throws(FileError) {
            folder = try WorkingDirectory.absolute(words.last ?? ".")
            try PosixFileLayer().makeDirectories(folder)
        } catch {
            throw CommandFailure.exit(error)
        }
        var host = host
        // Somebody else's container may be read: its script is not run for that.
        host.noInit = true
        // Naming the folder is consent to write it.
        host.allowWrite.append(folder)
        let predicate = words.count == 2 ? [words[0]] : []
        let work = HostWork(
            Self.chunk, name: "cubby gallery", status: ExitStatus.ofExchange, report: Self.report)
        try ScriptSession(
            host, source: .work(work), arguments: [folder, title ?? "", replace ? "replace" : ""] + predicate
        ).run()
    }

    /// The chunk, as a script would write it.
    private static let chunk = """
        local folder, title, replace, predicate = ...
        local options = { title = title ~= "" and title or nil, replace = replace == "replace" }
        return assert(items:query(predicate):gallery(folder, options))
        """

    private static func report(_ results: [LuaValue], _ host: ScriptHost) {
        guard case .table(let made)? = results.first else { return }
        if case .table(let failures) = made["failures"] {
            try? failures.forEach { key, message in
                host.logger.warning("\(key.textValue ?? "?"): \(message.textValue ?? "?")")
                return true
            }
        }
        func count(_ name: String) -> Int { made[name].integerValue.map { Int($0) } ?? 0 }
        let page = made["page"].textValue ?? ""
        Report.line("\(count("items").counted("item")), \(count("pictures").counted("picture")): \(page)")
    }
}

/// `cubby report [PREDICATE] FILE.html`: the items as a page to print.
struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Write items as one HTML file to print and hand over: pictures, fields, values and totals.",
        discussion: """
            The file has its pictures inside and needs nothing else. A browser prints it, or makes a PDF of it, with page \
            numbers.
            """)

    @OptionGroup var host: HostOptions

    @Option(help: "The heading (default: Items).")
    var title: String?

    @Option(
        help: ArgumentHelp(
            "The field by which items are grouped and summed; empty for none (default: room, or one with few values).",
            valueName: "field"), completion: .fields)
    var totals: String?

    @Option(
        help: ArgumentHelp(
            "The field that is summed; empty for none (default: valueInDollars, if an item has a value).",
            valueName: "field"), completion: .fields)
    var value: String?

    @Option(
        help: ArgumentHelp(
            "The fields of each item, in this order, separated by commas (default: all but itemKey).",
            valueName: "names"), completion: .fields)
    var columns: String?

    @Option(help: ArgumentHelp("The date on the page (default: today).", valueName: "text"))
    var date: String?

    @Argument(
        help: ArgumentHelp(
            "A predicate, such as 'valueInDollars > 100' (default: all items), then the file; - is standard output.",
            valueName: "predicate"), completion: .predicate)
    var words: [String] = []

    func validate() throws {
        guard (1...2).contains(words.count), let file = words.last, !file.isEmpty else {
            throw ValidationError("cubby report takes the page's file, and before it a predicate or nothing.")
        }
        let name = file.lowercased()
        guard file == "-" || name.hasSuffix(".html") || name.hasSuffix(".htm") else {
            throw ValidationError("cubby report writes HTML: '\(file)' does not end with .html.")
        }
    }

    func run() throws {
        var host = host
        // Somebody else's container may be read: its script is not run for that.
        host.noInit = true
        let path = try ItemFileArgument.absolute(words.last ?? "-")
        // Naming the file is consent to write it.
        if path != "-" { host.allowWrite.append(PathText.parent(of: path)) }
        var options = ItemReport.Options()
        options.title = title ?? options.title
        options.condition = words.count == 2 ? words[0] : nil
        (options.group, options.value) = (totals, value)
        options.columns = columns?.split(separator: ",").map(String.init)
        let work = HostWork(
            Self.chunk, name: "cubby report", status: ExitStatus.ofExchange,
            function: { [options] in Self.function(options, $0) }
        ) { results, host in
            let count = results.first?.integerValue.map { Int(clamping: $0) } ?? 0
            let pictures = results.dropFirst().first?.integerValue.map { Int(clamping: $0) } ?? 0
            let place = path == "-" ? "" : ": \(words.last ?? path)"
            host.inform("\(count.counted("item")), \(pictures.counted("picture"))\(place)")
        }
        let predicate = words.count == 2 ? [words[0]] : []
        try ScriptSession(host, source: .work(work), arguments: [path, date ?? ""] + predicate).run()
    }

    /// The chunk, as a script would write it, with the function of the report.
    private static let chunk = """
        local report, path, day, predicate = ...
        local items, pictures = report(items:query(predicate), path, day ~= "" and day or date():format("yyyy-MM-dd", "local"))
        return assert(items, pictures), pictures
        """

    /// A function that writes a query's items as a page: it returns the numbers of items and pictures.
    private static func function(_ given: ItemReport.Options, _ host: ScriptHost) -> LuaFunction {
        host.state.makeFunction(
            "report", ["query": "the items", "path": "the file's path", "date": "the date on the page"]
        ) { [unowned host] (query: ItemQuery, path: String, date: String) -> OrError<LuaVariadic<Int>> in
            var options = given
            options.date = date
            let items = try query.all()
            let work = try LongWork("Writing", total: items.count, in: host.runtime)
            defer { work.finish() }
            let result = try ItemFiles.finish {
                try FileOutput.write(host, path) { append in
                    try ItemReport(images: host.images, options).write(items, progress: work.step, to: append)
                }
            }
            return result.map { summary in
                for (key, message) in summary.failures.sorted(by: { $0.key < $1.key }) {
                    host.logger.warning("\(key): \(message)")
                }
                return LuaVariadic([summary.items, summary.pictures])
            }
        }
    }
}
