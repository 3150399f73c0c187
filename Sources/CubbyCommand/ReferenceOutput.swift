import Application
import ArgumentParser
import Files
import Scripting

/// The output of `cubby api` and `cubby init`: a file error ends them with the status of input and output.
enum ReferenceOutput {
    static func reference() throws -> APIReference {
        do { return try APIReference.standard() } catch let error as FileError { throw failure(error) }
    }

    /// A folder for files of the reference, which exists then. The folder may be a link, what is beneath it may not.
    static func folder(_ path: String) throws -> BeneathFileLayer {
        let path = PathText.absolute(path, from: WorkingDirectory.path ?? "/")
        do {
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
