import Application
import ArgumentParser
import Files
import Glibc

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
        try ScriptSession(host, source: .chapter, arguments: [], staysAtPrompt: false).run()
    }
}
