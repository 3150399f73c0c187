import Application
import ArgumentParser
import CPlatform
import Files
import Glibc
import Lua
import Scripting
@_exported import Wording

/// The command: a REPL, a script, or a chunk.
struct MainCommand: ParsableCommand {
    /// The parent's name for subcommands that are parsed separately: the library then skips the check for a completion
    /// request, which takes a third as long as the parsing.
    static let name = "cubby"

    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "A scriptable home for the things an application keeps.",
        usage: """
            cubby [<options>] [FILE.lua [ARGS …]]
            cubby [<options>] -e CODE [ARGS …]
            cubby run [<options>] FILE [ARGS …]
            cubby debug [<options>] --dap [FILE [ARGS …]]
            cubby chapter [<options>]
            cubby import [<options>] FILE
            cubby export [<options>] [PREDICATE] [FILE] --format FORMAT
            cubby sql [<options>] TEXT [--format FORMAT]
            cubby fields [<options>] [FILE]
            cubby gallery [<options>] [PREDICATE] DIR
            cubby report [<options>] [PREDICATE] FILE.html
            cubby inspect | convert | check FILE … [<options>]
            cubby inspect PATH … --json-lines | --find TEXT
            cubby timeline PATH … [<options>]
            cubby test [PATH …] [<options>]
            cubby shared init | migrate | grant | status | push | pull URL
            cubby config [set | grant | revoke | approve …] [<options>]
            cubby status [CONTAINER] [--json]
            cubby mcp [--allow-changes] [--container DIR]
            cubby kernel -f FILE [<options>]
            cubby kernel install [--user] [<options>]
            cubby attach | backup | restore | doctor | api | init [<options>]
            """,
        discussion: """
            Without arguments: open a prompt, or run the script on standard input if that is not a terminal.
            Ctrl-Z is the Home button: the application goes to the background and saves.
            cubby help start lists the options.
            """,
        version: ProgramVersion.text,
        subcommands: [
            StartCommand.self, RunCommand.self, DebugCommand.self, ChapterCommand.self, AttachCommand.self,
            BackupCommand.self, RestoreCommand.self, ImportCommand.self, ExportCommand.self, SQLCommand.self,
            InspectCommand.self, ConvertCommand.self, CheckCommand.self, TimelineCommand.self, FieldsCommand.self,
            GalleryCommand.self, ReportCommand.self,
            ConfigCommand.self,
            StatusCommand.self, DoctorCommand.self, SharedCommand.self, APICommand.self,
            TestCommand.self, InitCommand.self,
            AssistantCommand.self, KernelCommand.self,
        ],
        defaultSubcommand: StartCommand.self)

    /// The command of words.
    ///
    /// Parsing is a considerable part of a short run: a single subcommand is parsed separately, and all of them only for
    /// help and errors.
    static func command(of words: [String]) throws -> any ParsableCommand {
        var words = words
        var command = parsed(words)
        if let start = command as? StartCommand, let rewritten = try subcommandFirst(words, start) {
            words = rewritten
            command = parsed(words)
        }
        if let command {
            try checkValues(in: words, of: command)
            return command
        }
        try checkSubject(ofHelp: words)
        return try parseAsRoot(words)
    }

    /// Reports an error like the library, but escapes the command line's text for a terminal.
    ///
    /// - Returns: the exit status.
    static func report(_ error: any Error) -> Int32 {
        let status = exitCode(for: error)
        let message = fullMessage(for: error)
        if status == .success {
            if !message.isEmpty { StandardStream.output.put(message + "\n") }
        } else {
            StandardErrorLogHandler.writeToStandardError(message + "\n")
        }
        return status.rawValue
    }

    /// `cubby help nosuch`: the library would show the general help without an error.
    private static func checkSubject(ofHelp words: [String]) throws {
        guard words.first == "help", words.count > 1, !words[1].hasPrefix("-") else { return }
        let names = commandNames
        guard !names.contains(words[1]) else { return }
        throw ValidationError("There is no command '\(words[1])'\(NearestNames.hint(for: words[1], among: names))")
    }

    /// `--container="$UNSET"`: the library would take the next word for the value.
    private static func checkValues(in words: [String], of command: any ParsableCommand) throws {
        let arguments =
            switch command {
            case let command as StartCommand: command.arguments
            case let command as RunCommand: command.arguments
            default: [String]()
            }
        for word in words.dropLast(arguments.count).prefix(while: { $0 != "--" })
        where word.hasPrefix("--") && word.firstIndex(of: "=") == word.indices.last {
            throw ValidationError("\(word.dropLast()) has an empty value.")
        }
    }

    /// The valid first words.
    static var commandNames: [String] {
        ["help"] + configuration.subcommands.compactMap { $0.configuration.commandName }
    }

    /// The command of the words, if they parse without an error.
    private static func parsed(_ words: [String]) -> (any ParsableCommand)? {
        guard words.first != "help" else { return nil }
        guard let named = configuration.subcommands.first(where: { $0.configuration.commandName == words.first }) else {
            return try? StartCommand.parse(words)
        }
        return try? named.parse(Array(words.dropFirst()))
    }

    /// Accepts `cubby --read-only run FILE` like `cubby run --read-only FILE`: options may precede the command's name.
    private static func subcommandFirst(_ words: [String], _ start: StartCommand) throws -> [String]? {
        guard start.code.isEmpty, let word = start.arguments.first, commandNames.contains(word) else { return nil }
        guard commandsOfHosts.contains(where: { $0.configuration.commandName == word }) else {
            if PosixFileLayer().exists(word) { return nil }
            let options = words.prefix(words.count - start.arguments.count).filter { $0.hasPrefix("-") }
            throw ValidationError("\(word) takes no \(options.joined(separator: " ")): see cubby help \(word)")
        }
        let position = words.count - start.arguments.count
        // The subcommands of these commands take the options.
        let withCommands = [SharedCommand.configuration, ConfigCommand.configuration, KernelCommand.configuration]
        if withCommands.contains(where: { $0.commandName == word }),
            start.arguments.count > 1, !start.arguments[1].hasPrefix("-")
        {
            return [word, words[position + 1]] + words[..<position] + words[(position + 2)...]
        }
        return [word] + words[..<position] + words[(position + 1)...]
    }

    /// The commands with the options of ``StartCommand``.
    private static let commandsOfHosts: [any ParsableCommand.Type] = [
        RunCommand.self, DebugCommand.self, ChapterCommand.self, AttachCommand.self, BackupCommand.self,
        RestoreCommand.self, StatusCommand.self, DoctorCommand.self, FieldsCommand.self, GalleryCommand.self,
        ReportCommand.self,
        ImportCommand.self,
        ExportCommand.self, SQLCommand.self,
        SharedCommand.self,
        ConfigCommand.self, KernelCommand.self,
    ]
}

/// An option of `cubby` without a command's name, in addition to those of the host, for ``StartCommand`` and
/// ``CompletionCommand``. Not in an option group: the library's check of it would take a twentieth of each start.
struct ScriptOption {
    let name: NameSpecification
    let parsing: ArrayParsingStrategy
    private(set) var help: ArgumentHelp

    private init(
        _ letter: Character, parsing: ArrayParsingStrategy = .singleValue, _ help: String, value: String? = nil
    ) {
        name = .customShort(letter)
        self.parsing = parsing
        self.help = ArgumentHelp(stringLiteral: help)
        self.help.valueName = value
    }

    static let code = ScriptOption(
        "e", parsing: .unconditionalSingleValue,
        "Run a chunk, and print the values of an expression or a call; several run in order.", value: "code")
    static let modules = ScriptOption(
        "l", "First require a module, also from the working folder, as a global of its name.", value: "module")
    static let staysAtPrompt = ScriptOption("i", "Open a prompt after the script.")
}

extension Option<[String]> {
    /// An option that may be repeated.
    init(wrappedValue: [String], _ option: ScriptOption) {
        self.init(wrappedValue: wrappedValue, name: option.name, parsing: option.parsing, help: option.help)
    }
}

extension Flag<Bool> {
    /// An option without a value.
    init(wrappedValue: Bool, _ option: ScriptOption) {
        self.init(wrappedValue: wrappedValue, name: option.name, help: option.help)
    }
}

/// The line of `cubby --version`: `cubby 2.0.0 (1a2b3c4d5e6f), Swift 6.3.1, Lua 5.4.4`.
enum ProgramVersion {
    static var text: String { "\(MainCommand.name) \(number)" }

    /// The version without the name.
    static var number: String {
        let build = String(cString: cubby_build())
        return "\(CubbyVersion.string) \(build.isEmpty ? "(development build)" : build), \(LuaRelease.name)"
    }
}

/// `cubby chapter`: the chapter "Saving, Loading, and Application States" at the prompt.
struct ChapterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chapter", _superCommandName: MainCommand.name,
        abstract: "Go through the chapter on saving, loading and application states, at the prompt.",
        discussion: """
            Each step says what to type, with its line in Objective-C and in Swift, and notices what was done. The next \
            cubby chapter resumes it. Its container is cubby-chapter, beside the default one, unless --container names another.
            """)

    @OptionGroup var host: HostOptions

    func run() throws {
        guard isatty(StandardDescriptor.input) == 1 else {
            throw CommandFailure.exit(
                .usage, "chapter needs a terminal: its steps are typed. docs/chapter.md has them to read")
        }
        var host = host
        if host.container == nil, !ContainerArgument.isMemory(nil) {
            guard let usual = ApplicationContainer.locate(nil) else {
                throw ValidationError("There is no home folder: say with --container where the chapter's items live.")
            }
            host.container = usual.path + "-chapter"
        }
        try ScriptSession(host, source: .chapter).run()
    }
}
