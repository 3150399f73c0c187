import Application
import ArgumentParser
import Files
import Gallery
import Images
import Items
import Logging
import Lua
import Scripting

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
        let path = ItemFileArgument.absolute(words.last ?? "-")
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
        try ScriptSession(
            host, source: .work(work), arguments: [path, date ?? ""] + predicate, staysAtPrompt: false
        ).run()
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
