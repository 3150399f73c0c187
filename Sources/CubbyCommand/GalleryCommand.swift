import ArgumentParser
import Files
import Glibc
import Logging
import Lua
import Scripting
import Wording

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
        let folder = PathText.absolute(words.last ?? ".", from: WorkingDirectory.path ?? "/")
        do throws(FileError) { try PosixFileLayer().makeDirectories(folder) } catch {
            throw ScriptSession.failure(error)
        }
        var host = host
        // Somebody else's container may be read: its script is not run for that.
        host.noInit = true
        // Naming the folder is consent to write it.
        host.allowWrite.append(folder)
        let predicate = words.count == 2 ? [words[0]] : []
        let work = HostWork(Self.chunk, name: "cubby gallery", report: Self.report)
        try ScriptSession(
            host, source: .work(work), arguments: [folder, title ?? "", replace ? "replace" : ""] + predicate,
            staysAtPrompt: false
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
