import Application
import ArgumentParser
import Files
import KeyedArchive
import PropertyList

/// `cubby check FILE`, `cubby check CONTAINER`
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Say what is wrong in a keyed archive or property list, where, and what can be rescued.",
        discussion: "Exit status 65 when something cannot be read.")

    @Option(
        defaultAsFlag: "",
        help: ArgumentHelp(
            "Write what can be had of a damaged file there, in binary form; of a container no file: repair it in place.",
            valueName: "out"), completion: .file())
    var repair: String?

    @Argument(help: "The file, - for standard input, or a container.", completion: .file())
    var path: String?

    /// `--repair CONTAINER` means `CONTAINER --repair`.
    mutating func validate() throws {
        if path == nil, let repair, isFolder(repair) { (path, self.repair) = (repair, "") }
        guard let path else { throw ValidationError("Say which file or container to check.") }
        if repair == "", !isFolder(path) { throw ValidationError("--repair takes the path of a file to write.") }
    }

    private func isFolder(_ path: String) -> Bool {
        !path.isEmpty && path != "-" && PosixFileLayer().exists(PathText.join(path, "."))
    }

    func run() throws {
        SignalMask.restore()
        guard let path else { return }
        if isFolder(path) { return try ContainerCheck(path, repair: repair).run() }
        try FileCheck(path, repair: repair).run()
    }
}
