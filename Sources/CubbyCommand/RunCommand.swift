import ArgumentParser

/// `cubby run FILE ARGS…`
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", _superCommandName: CubbyCommand.name,
        abstract: "Run a script; - is standard input, and words after the file are the script's arguments.")

    @OptionGroup var host: HostOptions

    @Flag(name: .customShort("i"), help: "Open a prompt after the script.")
    var staysAtPrompt = false

    @Argument(help: "The script.", completion: .file())
    var file: String

    @Argument(parsing: .captureForPassthrough, help: "The script's arguments, in `arg` and `…`.")
    var arguments: [String] = []

    func run() throws {
        try ScriptSession(host, source: .file(file), arguments: arguments, staysAtPrompt: staysAtPrompt).run()
    }
}
