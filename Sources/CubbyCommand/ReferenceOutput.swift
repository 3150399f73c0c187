import Application
import ArgumentParser
import Files
import Scripting

/// The output of `cubby api` and `cubby init`: a file error ends them with the status of input and output.
enum ReferenceOutput {
    static func reference() throws -> APIReference {
        do { return try APIReference.standard() } catch let error as FileError { throw failure(error) }
    }

    /// Writes a whole file, creating the folders above it.
    static func write(_ page: ReferencePage, into folder: String) throws {
        let path = PathText.join(folder, page.path)
        let layer = PosixFileLayer()
        do {
            try layer.makeDirectories(PathText.parent(of: path), permissions: 0o755)
            try FileTarget.write(Array(page.text.utf8), to: path, using: layer)
        } catch {
            throw failure(error)
        }
    }

    private static func failure(_ error: FileError) -> ExitCode {
        CommandFailure.exit(.inputOutput, error.message)
    }
}
