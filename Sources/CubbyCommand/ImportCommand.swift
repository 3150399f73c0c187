import Application
import ArgumentParser
import CSV
import Files
import Items
import LineEditor
import Lua
import PropertyList
import REPL
import Scripting
import Wording

/// `cubby import FILE`: the items of a file into the container.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract:
            "Import items from a file: CSV, JSON, JSON Lines, a spreadsheet, SQLite, a property list or an archive with its pictures.",
        discussion: """
            With --key, an import can be repeated: rows of existing items update them. What is assumed of a file is said, and \
            each assumption has an option. Without a file, --pictures attaches pictures to the items that are there.
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
        help: ArgumentHelp(
            "The types of values: infer (per column, the default), text, or that of a field, such as price=real or bought=date(dd.MM.yyyy); repeat it for several.",
            valueName: "kinds"),
        completion: .list(["infer", "text"]))
    var types: [String] = []

    @Option(
        help: ArgumentHelp("The file's format (default: by its extension).", valueName: "format"),
        completion: .list(ItemFileFormat.allCases.map(\.rawValue)))
    var format: String?

    @Option(help: ArgumentHelp("The separator of CSV cells (default: found by the rows).", valueName: "character"))
    var delimiter: String?

    @Option(
        help: ArgumentHelp("Leave out lines above the header (default: those of a plain title).", valueName: "lines"))
    var skip: Int?

    @Option(help: ArgumentHelp("Leave out lines that begin with a text, such as '#'.", valueName: "text"))
    var comment: String?

    @Flag(help: "The file has no header: its columns are column1, column2, ….")
    var noHeader = false

    @Option(help: ArgumentHelp("The names of the columns of a file without a header.", valueName: "a,b,c"))
    var header: String?

    @Option(
        help: ArgumentHelp("A text that stands for no value, such as n/a; repeat it for several.", valueName: "text"))
    var null: [String] = []

    @Option(
        help: ArgumentHelp("The sign before decimals: point or comma (default: found).", valueName: "sign"),
        completion: .list(["point", "comma"]))
    var decimal: String?

    @Option(
        help: ArgumentHelp(
            "The pattern of dates, such as dd.MM.yyyy (default: found by each column).", valueName: "pattern"))
    var date: String?

    @Option(
        help: ArgumentHelp(
            "How columns become fields: the name of an earlier answer (default: that of the same columns).",
            valueName: "name"))
    var profile: String?

    @Flag(inversion: .prefixedNo, help: "On a terminal: ask what columns become that are not known yet.")
    var ask = true

    @Option(help: ArgumentHelp("The sheet of a spreadsheet (default: the first).", valueName: "name"))
    var sheet: String?

    @Option(help: ArgumentHelp("Where the records are in JSON, such as results or data.items.", valueName: "keys"))
    var path: String?

    @Option(
        help: ArgumentHelp(
            "The text encoding (default: found): utf-8, latin1, windows-1252, utf-16, utf-16le, utf-16be or auto.",
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

    @Option(
        help: ArgumentHelp("Skip invalid rows, and write them to a file with the reasons.", valueName: "file"),
        completion: .file())
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
        try ImportWords.checkTypes(types)
        if let delimiter, delimiter.utf8.count != 1 {
            throw ValidationError("--delimiter takes one ASCII character, and not '\(delimiter)'.")
        }
        if let skip, skip < 0 { throw ValidationError("--skip takes a number of lines, and not \(skip).") }
        if comment?.isEmpty ?? false { throw ValidationError("--comment takes what comments begin with, such as '#'.") }
        if noHeader, header != nil { throw ValidationError("--no-header and --header exclude each other.") }
        if let decimal, !["point", "comma"].contains(decimal) {
            throw ValidationError("--decimal takes point or comma, and not '\(decimal)'.")
        }
        if let date { try ImportWords.checkPattern(date, of: "--date") }
        if let format, ItemFileFormat(exactly: format) == nil {
            let formats = ItemFileFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--format takes one of \(formats), and not '\(format)'.")
        }
        if let file, format == nil, ItemFileFormat(path: file) == nil, file != "-",
            !ItemFileFormat.hasNoExtension(file),
            !ImportWords.isKnown(file)
        {
            let formats = ItemFileFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("The extension of '\(file)' names no format: give --format (\(formats)).")
        }
    }

    func run() throws {
        var host = host
        let folder = try pictures.map(ItemFileArgument.absolute)
        if let folder { host.allowRead.append(folder) }
        // Without a file the pictures are for the items that are there.
        let path = try file.map(ItemFileArgument.absolute) ?? folder ?? "-"
        // Naming the file is consent to read it, and for an archive also the files beside it.
        if path != "-", StandardDescriptor.descriptor(of: path) == nil {
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
        types.forEach { add("types", $0) }
        add("format", format)
        add("delimiter", delimiter)
        add("encoding", encoding)
        add("table", table)
        add("skip", skip.map(String.init))
        add("comment", comment)
        if noHeader { add("header", "") }
        header?.split(separator: ",", omittingEmptySubsequences: false).forEach { add("header", String($0)) }
        null.forEach { add("null", $0) }
        add("decimal", decimal)
        add("date", date)
        add("sheet", sheet)
        add("path", self.path)
        add("onError", onError)
        if let rejects {
            let path = try ItemFileArgument.absolute(rejects)
            if path != "-" { host.allowWrite.append(PathText.parent(of: path)) }
            add("rejects", path)
        }
        add("pictures", file == nil ? nil : folder)
        add("by", by)
        if update ?? !key.isEmpty { add("update", "true") }
        if dryRun { add("dryRun", "true") }
        guard try addAnswer(path, &words) else { return }
        let work = HostWork(Self.chunk, name: "cubby import", status: ExitStatus.ofExchange) { results, _ in
            for line in (results.first?.textValue ?? "").split(separator: "\n") { Report.line(String(line)) }
        }
        try OptionWords.$areOfCommand.withValue(true) {
            try ImportWords.withInput(of: path) { path in
                words[0] = path
                try ScriptSession(host, source: .work(work), arguments: words).run()
            }
        }
    }

    /// Adds what a profile, or the user, says of the columns; false if the user has cancelled.
    private func addAnswer(_ path: String, _ words: inout [String]) throws -> Bool {
        let isOpen = map.isEmpty && types.isEmpty && header == nil && !noHeader
        guard file != nil, profile != nil || isOpen, path != "-", StandardDescriptor.descriptor(of: path) == nil else {
            return true
        }
        let kind = format.flatMap { ItemFileFormat(exactly: $0) } ?? ItemFileFormat(path: path) ?? .csv
        var options = ItemFileOptions(format: kind)
        options.encoding = encoding.flatMap { ItemFileEncoding(exactly: $0) }
        options.delimiter = delimiter?.utf8.first
        (options.skippedLines, options.comment, options.nulls) = (skip, comment, null)
        options.decimal = decimal.flatMap { NumberStyle.Decimal(rawValue: $0) }
        options.dateStyle = try date.map { try DateStyle(pattern: $0) }
        (options.sheet, options.recordPath) = (sheet, self.path)
        // The import itself says so.
        if options.foreignOption != nil { return true }
        let question = ImportQuestion(
            path: path, options: options, profileName: profile, asks: ask && isOpen, usesColor: !host.noColor,
            profiles: try profiles(), schema: (try? OwnFields.schema(of: host)) ?? .household)
        let answer: ImportQuestion.Answer
        do { answer = try OptionWords.$areOfCommand.withValue(true) { try question.answer() } } catch let exit
            as ExitCode
        { throw exit } catch let error as ConfigurationError {
            throw CommandFailure.exit(.badData, error.message)
        } catch {
            // The import itself says what is wrong with the file.
            return true
        }
        switch answer {
        case .none: return true
        case .cancelled:
            CommandFailure.say("cancelled: nothing was imported")
            return false
        case .profile(let profile):
            for (column, field) in profile.fields.sorted(by: { $0.key < $1.key }) {
                words += ["column", column, "field", field]
            }
            for (field, kind) in profile.kinds.sorted(by: { $0.key < $1.key }) {
                words += ["kindOf", field, "kind", kind]
            }
            if key.isEmpty, !profile.key.isEmpty {
                for name in profile.key { words += ["key", name] }
                if update ?? true { words += ["update", "true"] }
            }
            return true
        }
    }

    /// The container's profiles; nil for one in memory, and without a folder for configurations.
    private func profiles() throws -> ImportProfiles? {
        guard !ContainerArgument.isMemory(host.container), let folder = ConfigurationFolder.locate() else { return nil }
        let container = try ContainerArgument.locate(host.container)
        return (try? ConfigurationFile(for: container, in: folder)).map(ImportProfiles.init)
    }

    /// The chunk, as a script would write it.
    private static let chunk = """
        local column, kindOf
        local path, words = ..., { select(2, ...) }
        local options = { progress = true }
        for place = 1, #words, 2 do
            local name, value = words[place], words[place + 1]
            if name == "map" then
                local old, new = value:match("^(.[^=]*)=(.*)$")
                options.map = options.map or {}
                options.map[old] = new ~= "" and new
            elseif name == "key" or name == "null" then
                options[name] = options[name] or {}
                table.insert(options[name], value)
            elseif name == "header" then
                options.header = value ~= "" and (options.header or {})
                if options.header then table.insert(options.header, value) end
            elseif name == "types" and value:find("=", 1, true) then
                local field, kind = value:match("^(.*)=([^=]*)$")
                if type(options.types) ~= "table" then options.types = {} end
                options.types[field] = kind
            elseif name == "column" then column = value
            elseif name == "field" then
                options.map = options.map or {}
                if options.map[column] == nil then options.map[column] = value ~= "" and value end
            elseif name == "kindOf" then kindOf = value
            elseif name == "kind" then
                if type(options.types) ~= "table" then options.types = {} end
                options.types[kindOf] = options.types[kindOf] or value
            elseif name == "skip" then
                options.skip = math.tointeger(value)
            else
                options[name] = (name == "update" or name == "dryRun") or value
            end
        end
        local count, report = items:import(path, options)
        return assert(count and tostring(report), report)
        """
}

/// The words of `cubby import`.
enum ImportWords {
    /// - Throws: `ValidationError` for words of `--types` that are no kinds.
    static func checkTypes(_ types: [String]) throws {
        for word in types where !["infer", "text"].contains(word) {
            guard let sign = word.lastIndex(where: { $0.is("=") }), sign > word.startIndex else {
                throw ValidationError("--types takes infer, text or FIELD=KIND, and not '\(word)'.")
            }
            let kind = String(word[word.index(after: sign)...])
            do throws(DatePatternError) {
                if try ItemColumnKind(kind) != nil { continue }
            } catch {
                throw ValidationError("--types \(word): \(error).")
            }
            let kinds = ItemFieldKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--types \(word): a kind is one of \(kinds), date(PATTERN), and not '\(kind)'.")
        }
    }

    /// - Throws: `ValidationError` for a pattern by which no date can be read.
    static func checkPattern(_ pattern: String, of option: String) throws {
        do throws(DatePatternError) { _ = try ItemColumnKind("date(\(pattern))") } catch {
            throw ValidationError("\(option) \(pattern): \(error).")
        }
    }

    /// Whether the import itself says what to do with a file of this extension.
    static func isKnown(_ file: String) -> Bool {
        ["xz", "zst", "bz2", "zip", "xls", "numbers"].contains { file.lowercased().hasSuffix(".\($0)") }
    }

    /// Runs a body with an open descriptor that a path names, as shells do for `<(…)`, as standard input.
    static func withInput(of path: String, _ body: (String) throws -> Void) throws {
        let present = ProcessSurroundings.current
        guard let descriptor = StandardDescriptor.descriptor(of: path), descriptor == present.input || descriptor > 2
        else { return try body(path) }
        let surroundings = ProcessSurroundings(
            input: descriptor, output: present.output, error: present.error, environment: present.environment)
        try ProcessSurroundings.$current.withValue(surroundings) { try body("-") }
    }
}

/// Files named in commands.
enum ItemFileArgument {
    /// The absolute path; `-`, the standard stream, is unchanged.
    ///
    /// - Throws: the exit status, after the message, when the working folder is gone.
    static func absolute(_ path: String) throws -> String {
        if path == "-" { return path }
        do throws(FileError) { return try WorkingDirectory.absolute(path) } catch { throw CommandFailure.exit(error) }
    }
}

/// What `cubby import` knows of a file's columns before it imports them: a profile, or the answer of the user.
struct ImportQuestion {
    /// The file's absolute path.
    let path: String
    /// How the file is read.
    let options: ItemFileOptions
    /// The name of a profile that was asked for.
    let profileName: String?
    /// Whether the user may be asked.
    let asks: Bool
    let usesColor: Bool
    /// The container's profiles; nil for one in memory, which keeps none.
    let profiles: ImportProfiles?
    /// The fields of every item of the container.
    var schema = ItemSchema.household

    /// What the columns become.
    enum Answer {
        /// As the import finds out by itself.
        case none
        case profile(ImportProfile)
        /// The user has cancelled the import.
        case cancelled
    }

    /// Finds the profile of the file's header, or asks.
    ///
    /// - Throws: `ConfigurationError`; `CSVError`, `FileError` and others for a file that cannot be read.
    func answer() throws -> Answer {
        let known = try profiles?.read() ?? []
        let asks = asks && ImportFormScreen.canAsk
        var found: ImportProfile?
        if let profileName {
            found = known.first { $0.name == profileName }
            if found == nil, !asks {
                let hint = NearestNames.hint(for: profileName, among: known.map(\.name))
                throw CommandFailure.exit(.usage, "there is no profile '\(profileName)'\(hint)")
            }
        }
        if let found { return .profile(found) }
        // A file of one value is read twice only for a question, or for a profile.
        guard asks || !known.isEmpty else { return .none }
        guard let preview = try preview() else { return .none }
        let header = preview.columns.map(\.name)
        if profileName == nil, let same = known.first(where: { $0.header == header }) {
            CommandFailure.say("the columns are those of the profile \(VisibleText.line(same.name))")
            return .profile(same)
        }
        guard asks, !preview.columns.isEmpty,
            !preview.columns.allSatisfy({ schema.has($0.name) })
        else { return .none }
        return try ask(preview, header)
    }

    private func preview() throws -> ItemImportPreview? {
        let layer = PosixFileLayer()
        guard try layer.status(path)?.kind == .regular else { return nil }
        let file = try layer.open(path, .read)
        defer { layer.close(file) }
        return try ItemImportPreview(try ImportFile(file, layer), options, schema)
    }

    private func ask(_ preview: ItemImportPreview, _ header: [String]) throws -> Answer {
        let rows = preview.columns.map {
            ImportForm.Row(
                name: $0.name, field: $0.field, kind: $0.kindText, cells: $0.cells, isTyped: $0.isTyped)
        }
        let form = preview.form.map { ": \($0)" } ?? ""
        let title = "\(PathText.name(of: path))\(form)"
        let naming = preview.titleField.map { (field: $0, columns: preview.likelyNames) }
        let table = ImportForm(title, rows, ImportFormScreen.size, naming: naming)
        guard let answer = ImportFormScreen(usesColor: usesColor).run(table)
        else { return .cancelled }
        let profile = Self.profile(profileName ?? PathText.stem(of: path), header, answer, schema)
        if let profiles {
            try profiles.save(profile)
            CommandFailure.say(
                "kept as the profile \(VisibleText.line(profile.name)), for the next file with these columns")
        }
        return .profile(profile)
    }

    /// The profile of an answer.
    static func profile(
        _ name: String, _ header: [String], _ rows: [ImportForm.Row], _ schema: ItemSchema = .household
    ) -> ImportProfile {
        var fields: NameTable<String> = [:]
        var kinds: NameTable<String> = [:]
        for row in rows {
            if row.field != row.name { fields[row.name] = row.field ?? "" }
            if let field = row.field, !schema.has(field) { kinds[field] = row.givenKind }
        }
        return ImportProfile(
            name: name, header: header, fields: fields, kinds: kinds,
            key: rows.filter(\.isKey).compactMap(\.field))
    }
}

extension PathText {
    /// The name of a file without its extensions.
    fileprivate static func stem(of path: String) -> String {
        let name = name(of: path)
        return String(name.dropFirst().prefix { !$0.is(".") }.reduce(String(name.prefix(1))) { $0 + String($1) })
    }
}
