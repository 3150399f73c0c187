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
        main(subcommandFirst(Array(CommandLine.arguments.dropFirst())))
    }

    /// `cubby --read-only run FILE` as well as `cubby run --read-only FILE`: the options mean the same before the word.
    static func subcommandFirst(_ words: [String]) -> [String] {
        guard let start = try? StartCommand.parse(words), start.code.isEmpty, let word = start.arguments.first,
            [
                RunCommand.self, AttachCommand.self, BackupCommand.self, RestoreCommand.self, DoctorCommand.self,
                GalleryCommand.self,
            ].contains(where: { (command: any ParsableCommand.Type) in command.configuration.commandName == word })
        else { return words }
        let position = words.count - start.arguments.count
        return [word] + words[..<position] + words[(position + 1)...]
    }
}
