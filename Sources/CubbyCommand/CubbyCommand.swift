import Application
import ArgumentParser
import Files
import Glibc
import Scripting
import Wording

/// The command: a REPL, a script, or a chunk.
@main
struct CubbyCommand: ParsableCommand {
    /// The commands that scripts start name it as the one above them, when they are parsed alone: then the library does not
    /// look for a request for completions, which takes as long as a third of the parsing.
    static let name = "cubby"

    static let configuration = CommandConfiguration(
        commandName: name,
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
        version: CubbyVersion.string,
        subcommands: [
            StartCommand.self, RunCommand.self, AttachCommand.self, BackupCommand.self, RestoreCommand.self,
            InspectCommand.self, ConvertCommand.self, CheckCommand.self, GalleryCommand.self, DoctorCommand.self,
            APICommand.self, InitCommand.self,
        ],
        defaultSubcommand: StartCommand.self)

    static func main() {
        // Before any thread exists: the signal thread alone receives what drives the life cycle.
        SignalMask.blockAtLaunch()
        var words = Array(ProgramArguments.current.dropFirst())
        // Parsing is a good part of a short run: one command is parsed alone, and all of them for help and for errors only.
        var command = parsed(words)
        if let start = command as? StartCommand, let others = subcommandFirst(words, start) {
            words = others
            command = parsed(words)
        }
        do {
            if command == nil { try checkSubject(ofHelp: words) }
            var known = try command ?? parseAsRoot(words)
            try known.run()
        } catch let code as ExitCode {
            // The library would look through all commands for how to tell it.
            Glibc.exit(code.rawValue)
        } catch {
            end(error)
        }
    }

    /// As the library ends, but that what was on the command line obeys nothing on a terminal.
    private static func end(_ error: any Error) -> Never {
        let status = exitCode(for: error)
        let message = fullMessage(for: error)
        if status == .success {
            if !message.isEmpty { print(message) }
        } else {
            StandardErrorLogHandler.writeToStandardError(message + "\n")
        }
        Glibc.exit(status.rawValue)
    }

    /// `cubby help nosuch`: the library would show the help on everything, as if all were well.
    private static func checkSubject(ofHelp words: [String]) throws {
        guard words.first == "help", words.count > 1, !words[1].hasPrefix("-") else { return }
        let names = commandNames
        guard !names.contains(words[1]) else { return }
        throw ValidationError("There is no command '\(words[1])'\(NearestNames.hint(for: words[1], among: names))")
    }

    /// What can stand as the first word.
    static var commandNames: [String] {
        ["help"] + configuration.subcommands.compactMap { $0.configuration.commandName }
    }

    /// The command that the words say, if they say one without a fault.
    private static func parsed(_ words: [String]) -> (any ParsableCommand)? {
        guard words.first != "help" else { return nil }
        guard let named = configuration.subcommands.first(where: { $0.configuration.commandName == words.first }) else {
            return try? StartCommand.parse(words)
        }
        return try? named.parse(Array(words.dropFirst()))
    }

    /// `cubby --read-only run FILE` as well as `cubby run --read-only FILE`: the options mean the same before the word.
    private static func subcommandFirst(_ words: [String], _ start: StartCommand) -> [String]? {
        guard start.code.isEmpty, let word = start.arguments.first,
            commandsOfHosts.contains(where: { $0.configuration.commandName == word })
        else { return nil }
        let position = words.count - start.arguments.count
        return [word] + words[..<position] + words[(position + 1)...]
    }

    /// The commands that take the options of ``StartCommand``.
    private static let commandsOfHosts: [any ParsableCommand.Type] = [
        RunCommand.self, AttachCommand.self, BackupCommand.self, RestoreCommand.self, DoctorCommand.self,
        GalleryCommand.self,
    ]
}
