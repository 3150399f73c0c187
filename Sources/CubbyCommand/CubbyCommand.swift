import Application
import ArgumentParser

/// The command: a REPL, a script, or a chunk.
@main
struct CubbyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cubby",
        abstract: "A scriptable home for the things an application keeps.",
        usage: """
            cubby [<options>] [FILE.lua [ARGS …]]
            cubby [<options>] -e CODE [ARGS …]
            cubby run [<options>] FILE [ARGS …]
            cubby gallery [<options>] [PREDICATE] DIR
            cubby inspect | convert | check FILE … [<options>]
            cubby attach | backup | restore | doctor | api | init [<options>]
            """,
        discussion: """
            Without arguments: a prompt, or the script on standard input when that is no terminal.
            Ctrl-Z is the Home button: the application goes to the background and saves.
            The options are listed by cubby help start.
            """,
        version: "1.0",
        subcommands: [
            StartCommand.self, RunCommand.self, AttachCommand.self, BackupCommand.self, RestoreCommand.self,
            InspectCommand.self, ConvertCommand.self, CheckCommand.self, GalleryCommand.self, DoctorCommand.self,
            APICommand.self, InitCommand.self,
        ],
        defaultSubcommand: StartCommand.self)

    static func main() {
        // Before any thread exists: the signal thread alone receives what drives the life cycle.
        SignalMask.blockAtLaunch()
        let words = Array(CommandLine.arguments.dropFirst())
        // Parsing is a good part of a short run: what starts no other command is parsed once.
        guard !names(words.first, configuration.subcommands), let start = try? StartCommand.parse(words) else {
            return main(words)
        }
        if let words = subcommandFirst(words, start) { return main(words) }
        do { try start.run() } catch { exit(withError: error) }
    }

    /// `cubby --read-only run FILE` as well as `cubby run --read-only FILE`: the options mean the same before the word.
    private static func subcommandFirst(_ words: [String], _ start: StartCommand) -> [String]? {
        guard start.code.isEmpty, let word = start.arguments.first, names(word, commandsOfHosts) else { return nil }
        let position = words.count - start.arguments.count
        return [word] + words[..<position] + words[(position + 1)...]
    }

    /// The commands that take the options of ``StartCommand``.
    private static let commandsOfHosts: [any ParsableCommand.Type] = [
        RunCommand.self, AttachCommand.self, BackupCommand.self, RestoreCommand.self, DoctorCommand.self,
        GalleryCommand.self,
    ]

    private static func names(_ word: String?, _ commands: [any ParsableCommand.Type]) -> Bool {
        word == "help" || commands.contains { $0.configuration.commandName == word }
    }
}
