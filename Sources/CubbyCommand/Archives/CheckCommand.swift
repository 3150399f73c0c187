import Application
import ArgumentParser
import Files
import KeyedArchive
import PropertyList

/// `cubby check FILE`, `cubby check CONTAINER`
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract:
            "Check a keyed archive, a property list or a container: report faults with their place, rescue contents.",
        discussion: "The exit status is 65 if something cannot be read.")

    @Option(
        defaultAsFlag: "",
        help: ArgumentHelp(
            "Write the readable contents of a damaged file to a file, in binary format; repair a container in place.",
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
