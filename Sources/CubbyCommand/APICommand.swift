public import ArgumentParser
import Cubby
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

/// `cubby init`: editor settings and a first test beside a user's scripts.
struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract:
            "Write editor settings and a first test beside scripts: .luarc.json, .luacheckrc, stylua.toml, annotations, debugger setup."
    )

    @Flag(help: "Replace existing files, except .vscode/launch.json and the first test.")
    var force = false

    @Argument(help: "The scripts' folder; . is the working folder.", completion: .directory)
    var folder = "."

    func validate() throws {
        if folder.isEmpty { throw ValidationError("The scripts' folder is a path; . is the working folder.") }
    }

    func run() throws {
        var unchanged = 0
        let layer = try ReferenceOutput.folder(folder)
        for file in try ReferenceOutput.reference().editorFiles {
            let path = PathText.join(folder, file.path)
            let isReplaced = force && !APIReference.usersFiles.contains(file.path)
            guard isReplaced || !layer.exists(PathText.join(layer.path, file.path)) else {
                if !force { unchanged += 1 }
                Report.line("kept \(path)")
                continue
            }
            try ReferenceOutput.write(file, into: layer)
            Report.line("wrote \(path)")
        }
        if unchanged > 0 { Report.line("--force replaces what was kept.") }
    }
}

/// The output of `cubby api` and `cubby init`: a file error ends them with the status of input and output.
enum ReferenceOutput {
    static func reference() throws -> APIReference {
        do { return try APIReference.standard() } catch let error as FileError { throw failure(error) }
    }

    /// A folder for files of the reference, which exists then. The folder may be a link, what is beneath it may not.
    static func folder(_ path: String) throws -> BeneathFileLayer {
        do {
            let path = try WorkingDirectory.absolute(path)
            try PosixFileLayer().makeDirectories(path, permissions: 0o755)
            return try BeneathFileLayer(path)
        } catch {
            throw failure(error)
        }
    }

    /// Writes a whole file, creating the folders above it. It is written through no link.
    static func write(_ page: ReferencePage, into folder: BeneathFileLayer) throws {
        let path = PathText.join(folder.path, page.path)
        do {
            try folder.makeDirectories(PathText.parent(of: path), permissions: 0o755)
            _ = try folder.contains(path, .regular)
            try AtomicFile.write(Array(page.text.utf8), to: path, using: folder)
        } catch {
            throw failure(error)
        }
    }

    private static func failure(_ error: FileError) -> ExitCode {
        CommandFailure.exit(.inputOutput, error.message)
    }
}
