import ArgumentParser
import Files
import Items
import Lua
import Scripting
import Wording

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
        if format == nil, file.flatMap(ItemFileFormat.init(path:)) == nil {
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
        let path = ItemFileArgument.absolute(file ?? "-")
        // Naming the file is consent to write it.
        if path != "-" { host.allowWrite.append(PathText.parent(of: path)) }
        let predicate = words.count == 2 || file == nil ? words.first : nil
        let work = HostWork(Self.chunk, name: "cubby export", status: ExitStatus.ofExchange) { results, host in
            let count = results.first?.integerValue.map { Int(clamping: $0) } ?? 0
            let place = path == "-" ? "" : " to \(file ?? path)"
            host.inform("\(count.counted("item")) exported\(place)")
        }
        try ScriptSession(
            host, source: .work(work), arguments: [path, format ?? "", columns ?? "", predicate ?? ""],
            staysAtPrompt: false
        ).run()
    }

    /// The chunk, as a script would write it.
    private static let chunk = """
        local path, format, columns, predicate = ...
        local options = { progress = true, format = format ~= "" and format or nil }
        if columns ~= "" then
            options.columns = {}
            for name in columns:gmatch("[^,]+") do table.insert(options.columns, name) end
        end
        return assert(items:query(predicate ~= "" and predicate or nil):export(path, options))
        """
}
