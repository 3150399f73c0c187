import Application
import ArgumentParser
import KeyedArchive
import PropertyList

/// `cubby check FILE`, `cubby check CONTAINER`
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Say what is wrong in a keyed archive or property list, where, and what can be rescued.",
        discussion: "Exit status 65 when something cannot be read.")

    @Option(help: ArgumentHelp("Write what can be had of a damaged file there, in binary form.", valueName: "out"))
    var repair: String?

    @Argument(help: "The file, - for standard input, or a container.")
    var path: String

    func validate() throws {
        if repair == "" { throw ValidationError("--repair takes the path of a file to write.") }
    }

    func run() throws {
        SignalMask.restore()
        if path != "-", PosixFileLayer().exists(PathText.join(path, ".")) {
            return try ContainerCheck(path, repair: repair).run()
        }
        try FileCheck(path, repair: repair).run()
    }
}
