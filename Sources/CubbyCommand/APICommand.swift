public import ArgumentParser
public import Scripting

/// `cubby api`: what scripts can use, for editors, people and programs.
struct APICommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "api", abstract: "Write the reference of what scripts can use.")

    @Option(help: "luacats (annotations for editors), markdown or json.")
    var format: ReferenceFormat = .markdown

    @Option(help: ArgumentHelp("Write files there, one a page for markdown, instead of a text.", valueName: "dir"))
    var output: String?

    func run() throws {
        let reference = try APIReference.standard()
        guard let output else {
            print(try reference.text(format), terminator: "")
            return
        }
        for page in try reference.files(format) { try FolderWriter.write(page, into: output) }
    }
}

extension ReferenceFormat: ExpressibleByArgument {}
