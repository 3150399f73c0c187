import ArgumentParser
import Files
import Glibc
import Wording

/// `cubby`, `cubby FILE.lua ARGS…`, `cubby -e CODE`.
struct StartCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start", _superCommandName: CubbyCommand.name,
        abstract: "Open the prompt, or run a script or a chunk (the default command).")

    @OptionGroup var host: HostOptions

    @Option(.code) var code: [String] = []

    @Option(.modules) var modules: [String] = []

    @Flag(.staysAtPrompt) var staysAtPrompt = false

    @Argument(parsing: .captureForPassthrough, help: "A script and its arguments.", completion: .file())
    var arguments: [String] = []

    func validate() throws {
        guard code.isEmpty, let first = arguments.first, first != "-" else { return }
        if first.hasPrefix("-") {
            let name = String(first.prefix { !$0.is("=") })
            throw ValidationError(
                "Unknown option '\(first)'\(NearestNames.hint(for: name, among: Self.optionNames)); "
                    + "options are listed by cubby help start.")
        }
        // A misspelt command; paths and scripts' names are excluded. A command's name after options is not one.
        let names = CubbyCommand.commandNames
        guard first.allSatisfy({ $0.isLetter || $0.is("-") }), !names.contains(first), !PosixFileLayer().exists(first)
        else { return }
        let hint = NearestNames.hint(for: first, among: names)
        guard hint.isEmpty else { throw ValidationError("There is no command and no file '\(first)'\(hint)") }
    }

    /// The options listed in the help.
    private static var optionNames: [String] {
        CubbyCommand.helpMessage(for: Self.self).split { !$0.isLetter && !$0.is("-") }.map(String.init)
            .filter { $0.hasPrefix("--") && $0.count > 2 }
    }

    func run() throws {
        let source: ScriptSession.Source
        var arguments = arguments
        if !code.isEmpty {
            source = .chunks(code)
        } else if let file = arguments.first {
            source = .file(file)
            arguments.removeFirst()
        } else {
            source = isatty(STDIN_FILENO) == 1 ? .prompt : .file("-")
        }
        try ScriptSession(
            host, source: source, arguments: arguments, modules: modules,
            staysAtPrompt: staysAtPrompt
        ).run()
    }
}
