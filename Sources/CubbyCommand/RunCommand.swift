import ArgumentParser

/// `cubby run FILE ARGS…`
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", _superCommandName: CubbyCommand.name,
        abstract: "Run a script; - is standard input. What follows the file is the script's.")

    @OptionGroup var host: HostOptions

    @Flag(name: .customShort("i"), help: "A prompt after the script.")
    var staysAtPrompt = false

    @Argument(help: "The script.", completion: .file())
    var file: String

    @Argument(parsing: .captureForPassthrough, help: "Its arguments, in `arg` and `…`.")
    var arguments: [String] = []

    func run() throws {
        try ScriptSession(host, source: .file(file), arguments: arguments, staysAtPrompt: staysAtPrompt).run()
    }
}
