import ArgumentParser
import Files
import Scripting

/// `cubby init`: editor settings beside a user's scripts.
struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract:
            "Write editor settings beside scripts: .luarc.json, .luacheckrc, stylua.toml, annotations, debugger setup.")

    @Flag(help: "Replace existing files, except .vscode/launch.json.")
    var force = false

    @Argument(help: "The scripts' folder; . is the working folder.", completion: .directory)
    var folder = "."

    func validate() throws {
        if folder.isEmpty { throw ValidationError("The scripts' folder is a path; . is the working folder.") }
    }

    func run() throws {
        var kept = 0
        let layer = try ReferenceOutput.folder(folder)
        for file in try ReferenceOutput.reference().editorFiles {
            let path = PathText.join(folder, file.path)
            let isReplaced = force && file.path != APIReference.ownEditorFile
            guard isReplaced || !layer.exists(PathText.join(layer.path, file.path)) else {
                if !force { kept += 1 }
                Report.line("kept \(path)")
                continue
            }
            try ReferenceOutput.write(file, into: layer)
            Report.line("wrote \(path)")
        }
        if kept > 0 { Report.line("--force replaces what was kept.") }
    }
}
