import Application
import ArgumentParser
import Scripting

/// Writes what a command makes; what the system refuses ends the command with the status of input and output.
enum FolderWriter {
    private static let inputOutputStatus: Int32 = 74

    /// Writes a file whole, making the folders on the way to it.
    static func write(_ page: ReferencePage, into folder: String) throws {
        let path = PathText.join(folder, page.path)
        let layer = PosixFileLayer()
        do {
            try layer.makeDirectories(PathText.parent(of: path), permissions: 0o755)
            try AtomicFile.write(Array(page.text.utf8), to: path, using: layer)
        } catch {
            throw failure(error.message)
        }
    }

    private static func failure(_ message: String) -> ExitCode {
        StandardErrorLogHandler.writeToStandardError("cubby: \(message)\n")
        return ExitCode(inputOutputStatus)
    }
}
