import ArgumentParser
import Files
import Glibc

/// `cubby gallery [PREDICATE] DIR`: the items as a page.
struct GalleryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gallery",
        abstract: "Write the items as a page to look at: pictures, fields, search, sort and totals, without a network.")

    @OptionGroup var host: HostOptions

    @Option(help: "The page's title.")
    var title: String?

    @Argument(
        help: ArgumentHelp(
            "Which items: a predicate, such as 'valueInDollars > 100'; all if not given.", valueName: "predicate"))
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
        // Naming the folder is the consent to write it.
        host.allowWrite.append(folder)
        let predicate = words.count == 2 ? [words[0]] : []
        try ScriptSession(
            host, source: .chunks([Self.chunk]), arguments: [folder, title ?? ""] + predicate, staysAtPrompt: false
        ).run()
    }

    /// The same as a script would do.
    private static let chunk = """
        local folder, title, predicate = ...
        local made = assert(items:query(predicate):gallery(folder, title ~= "" and { title = title } or nil))
        for key, message in pairs(made.failures) do log.warning(key .. ": " .. message) end
        print(("%d items, %d pictures: %s"):format(made.items, made.pictures, made.page))
        """
}
