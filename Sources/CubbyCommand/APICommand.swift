public import ArgumentParser
import Files
public import Scripting

/// `cubby api`: the reference of the scripts' API, for editors, people and programs.
struct APICommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "api", abstract: "Write the reference of the scripts' API.")

    @Option(help: "The format: luacats (annotations for editors), markdown or json.")
    var format: ReferenceFormat = .markdown

    @Option(
        help: ArgumentHelp(
            "Write files to a folder, for markdown one per page (default: standard output).", valueName: "dir"),
        completion: .directory)
    var output: String?

    func validate() throws {
        if output == "" { throw ValidationError("--output takes the path of a folder.") }
    }

    func run() throws {
        let reference = try ReferenceOutput.reference()
        guard let output else {
            StandardStream.output.put(try reference.text(format))
            return
        }
        let folder = try ReferenceOutput.folder(output)
        for page in try reference.files(format) { try ReferenceOutput.write(page, into: folder) }
    }
}

extension ReferenceFormat: ExpressibleByArgument {}
