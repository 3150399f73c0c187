import ArgumentParser
import Files
import Lua
import Scripting

/// `cubby fields [FILE]`: what is declared of the items' fields.
struct FieldsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fields",
        abstract: "Show the items' fields, or declare those of a file first.",
        discussion: """
            The file is Lua, and returns the table of items:declare: return { price = "real" }. It is declared as a
            whole: if items do not fit, nothing is changed, and their number and the first three are the error.
            """)

    @OptionGroup var host: HostOptions

    @Flag(help: "Convert values of items that do not fit, such as texts that are numbers: all, or none.")
    var convert = false

    @Argument(help: ArgumentHelp("A file with declarations.", valueName: "file"), completion: .file())
    var file: String?

    func validate() throws {
        if convert, file == nil { throw ValidationError("--convert needs a file with declarations.") }
    }

    func run() throws {
        var host = host
        // Somebody else's container may be read: its script is not run for that.
        host.noInit = true
        let path = file.map(ItemFileArgument.absolute)
        // Naming the file is consent to read it.
        if let path { host.allowRead.append(path) }
        let work = HostWork(Self.chunk, name: "cubby fields", status: ExitStatus.ofExchange) { results, _ in
            for line in (results.first?.textValue ?? "").split(separator: "\n", omittingEmptySubsequences: false) {
                Report.line(String(line))
            }
        }
        try ScriptSession(
            host, source: .work(work), arguments: [path ?? "", convert ? "convert" : ""], staysAtPrompt: false
        ).run()
    }

    /// The chunk, as a script would write it.
    private static let chunk = """
        local path, convert = ...
        if path ~= "" then
            local text = assert(fs.read(path))
            local declare = assert(load(text, "@" .. path:match("[^/]*$"), "t", { date = date, data = data }))
            local fields = declare()
            assert(type(fields) == "table", path .. " returns no table of fields: return { price = \\"real\\" }")
            assert(items:declare(fields, { convert = convert == "convert" }))
        end
        return tostring(items:fields())
        """
}
