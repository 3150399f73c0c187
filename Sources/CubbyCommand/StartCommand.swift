import ArgumentParser
import Glibc

/// `cubby`, `cubby FILE.lua ARGS…`, `cubby -e CODE`.
struct StartCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start", _superCommandName: CubbyCommand.name,
        abstract: "The prompt, a script, or a chunk (this is what runs without a command).")

    @OptionGroup var host: HostOptions

    @Option(
        name: .customShort("e"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Run a chunk; several run one after the other.", valueName: "code"))
    var code: [String] = []

    @Option(
        name: .customShort("l"),
        help: ArgumentHelp(
            "First require a module, from this folder, too, as a global of its name.", valueName: "module"))
    var modules: [String] = []

    @Flag(name: .customShort("i"), help: "A prompt after the script.")
    var staysAtPrompt = false

    @Argument(parsing: .captureForPassthrough, help: "A script and its arguments.")
    var arguments: [String] = []

    func validate() throws {
        guard code.isEmpty, let first = arguments.first, first.hasPrefix("-"), first != "-" else { return }
        throw ValidationError("Unknown option '\(first)': options are listed by cubby help start.")
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
            host, source: source, arguments: arguments, modules: modules, staysAtPrompt: staysAtPrompt
        ).run()
    }
}
