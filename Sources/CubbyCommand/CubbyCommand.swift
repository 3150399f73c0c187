import Application
import ArgumentParser

/// The command: a REPL, a script, or a chunk.
@main
struct CubbyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cubby",
        abstract: "A scriptable home for the things an application keeps.",
        discussion: """
            Without arguments: a prompt, or the script on standard input when that is no terminal.
            Ctrl-Z is the Home button: the application goes to the background and saves.
            """,
        version: "1.0",
        subcommands: [StartCommand.self, RunCommand.self],
        defaultSubcommand: StartCommand.self)

    static func main() {
        // Before any thread exists: the signal thread alone receives what drives the life cycle.
        SignalMask.blockAtLaunch()
        main(nil)
    }
}
