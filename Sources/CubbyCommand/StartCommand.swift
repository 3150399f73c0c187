import ArgumentParser
import Glibc

/// `cubby`, `cubby FILE.lua ARGS…`, `cubby -e CODE`.
struct StartCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start", abstract: "The prompt, a script, or a chunk (this is what runs without a command).")

    @OptionGroup var host: HostOptions

    @Option(name: .customShort("e"), help: ArgumentHelp("Run a chunk.", valueName: "code"))
    var code: String?

    @Flag(name: .customShort("i"), help: "A prompt after the script.")
    var staysAtPrompt = false

    @Argument(parsing: .captureForPassthrough, help: "A script and its arguments.")
    var arguments: [String] = []

    func validate() throws {
        guard code == nil, let first = arguments.first, first.hasPrefix("-"), first != "-" else { return }
        throw ValidationError("Unknown option '\(first)': options are listed by cubby help start.")
    }

    func run() throws {
        let source: ScriptSession.Source
        var arguments = arguments
        if let code {
            source = .chunk(code)
        } else if let file = arguments.first {
            source = .file(file)
            arguments.removeFirst()
        } else {
            source = isatty(STDIN_FILENO) == 1 ? .prompt : .file("-")
        }
        try ScriptSession(host, source: source, arguments: arguments, staysAtPrompt: staysAtPrompt).run()
    }
}
