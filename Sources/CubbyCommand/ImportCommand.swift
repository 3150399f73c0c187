import ArgumentParser
import Files
import Items
import Lua
import Scripting

/// `cubby import FILE`: the items of a file into the container.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract:
            "Import items from a file: CSV, JSON, JSON Lines, SQLite, a property list or an archive with its pictures.",
        discussion: """
            With --key, an import can be repeated: rows of existing items update them. Without a file, --pictures attaches \
            pictures to the items that are there.
            """)

    @OptionGroup var host: HostOptions

    @Option(
        help: ArgumentHelp("The field that identifies a row's item; repeat it for several.", valueName: "name"),
        completion: .fields)
    var key: [String] = []

    @Flag(
        inversion: .prefixedNo,
        help: "Update the fields of existing items (default with --key), and replace pictures they have.")
    var update: Bool?

    @Option(help: ArgumentHelp("Rename a column; an empty new name omits it.", valueName: "old=new"))
    var map: [String] = []

    @Option(
        help: ArgumentHelp("The types of values: infer (per column, the default) or text.", valueName: "kinds"),
        completion: .list(["infer", "text"]))
    var types: String?

    @Option(
        help: ArgumentHelp("The file's format (default: by its extension).", valueName: "format"),
        completion: .list(ItemFileFormat.allCases.map(\.rawValue)))
    var format: String?

    @Option(help: ArgumentHelp("The separator of CSV cells.", valueName: "character"))
    var delimiter: String?

    @Option(
        help: ArgumentHelp(
            "The text encoding: utf-8 (the default), latin1, windows-1252, utf-16, utf-16le, utf-16be or auto.",
            valueName: "encoding"),
        completion: .list(ItemFileEncoding.allCases.map(\.rawValue)))
    var encoding: String?

    @Option(help: ArgumentHelp("The table or view of a SQLite database.", valueName: "name"))
    var table: String?

    @Option(
        help: ArgumentHelp(
            "For an invalid row: stop (the default) and change nothing, or skip it.", valueName: "action"),
        completion: .list(["stop", "skip"]))
    var onError: String?

    @Option(help: ArgumentHelp("A file for skipped rows and the reasons.", valueName: "file"), completion: .file())
    var rejects: String?

    @Flag(help: "Change nothing, and report what would be done.")
    var dryRun = false

    @Option(
        help: ArgumentHelp(
            "A folder with pictures of the items: A1.jpg, and A1-2.jpg as a further one.", valueName: "folder"),
        completion: .directory)
    var pictures: String?

    @Option(
        help: ArgumentHelp("The field whose text is the name of an item's pictures.", valueName: "field"),
        completion: .fields)
    var by: String?

    @Argument(help: ArgumentHelp("The file; - is standard input.", valueName: "file"), completion: .file())
    var file: String?

    func validate() throws {
        if (pictures == nil) != (by == nil), pictures != nil || file == nil {
            throw ValidationError("--pictures FOLDER and --by FIELD go together.")
        }
        if file == nil, pictures == nil {
            throw ValidationError(
                "cubby import takes a file, or a folder of --pictures and --by, the field of their names.")
        }
        if let wrong = map.first(where: { !$0.dropFirst().contains("=") }) {
            throw ValidationError("--map takes OLD=NEW, and '\(wrong)' has no new name.")
        }
    }

    func run() throws {
        var host = host
        let folder = pictures.map(ItemFileArgument.absolute)
        if let folder { host.allowRead.append(folder) }
        // Without a file the pictures are for the items that are there.
        let path = file.map(ItemFileArgument.absolute) ?? folder ?? "-"
        // Naming the file is consent to read it, and for an archive also the files beside it.
        if path != "-" {
            let kind = format.flatMap { ItemFileFormat(rawValue: $0) } ?? ItemFileFormat(path: path)
            let isAlone = if case .keyedArchive? = kind { false } else { true }
            host.allowRead.append(isAlone ? path : PathText.parent(of: path))
            // SQLite's files beside a database have a part of its content.
            if case .sqlite? = kind {
                let layer = PosixFileLayer()
                host.allowRead += ["-wal", "-shm", "-journal"].map { path + $0 }.filter(layer.exists)
            }
        }
        var words: [String] = [path]
        func add(_ name: String, _ value: String?) { if let value { words += [name, value] } }
        key.forEach { add("key", $0) }
        map.forEach { add("map", $0) }
        add("types", types)
        add("format", format)
        add("delimiter", delimiter)
        add("encoding", encoding)
        add("table", table)
        add("onError", onError)
        if let rejects {
            let path = ItemFileArgument.absolute(rejects)
            if path != "-" { host.allowWrite.append(PathText.parent(of: path)) }
            add("rejects", path)
        }
        add("pictures", file == nil ? nil : folder)
        add("by", by)
        if update ?? !key.isEmpty { add("update", "true") }
        if dryRun { add("dryRun", "true") }
        let work = HostWork(Self.chunk, name: "cubby import", status: ExitStatus.ofExchange) { results, _ in
            for line in (results.first?.textValue ?? "").split(separator: "\n") { Report.line(String(line)) }
        }
        try ScriptSession(host, source: .work(work), arguments: words, staysAtPrompt: false).run()
    }

    /// The chunk, as a script would write it.
    private static let chunk = """
        local path, words = ..., { select(2, ...) }
        local options = { progress = true }
        for place = 1, #words, 2 do
            local name, value = words[place], words[place + 1]
            if name == "map" then
                local old, new = value:match("^(.[^=]*)=(.*)$")
                options.map = options.map or {}
                options.map[old] = new ~= "" and new
            elseif name == "key" then
                options.key = options.key or {}
                table.insert(options.key, value)
            else
                options[name] = value == "true" or value
            end
        end
        local count, report = items:import(path, options)
        return assert(count and tostring(report), report)
        """
}

/// Files named in commands.
enum ItemFileArgument {
    /// The absolute path; `-`, the standard stream, is unchanged.
    static func absolute(_ path: String) -> String {
        path == "-" ? path : PathText.absolute(path, from: WorkingDirectory.path ?? "/")
    }
}
