import CPlatform
package import Files
import Glibc
import PropertyList

/// The record of an assistant's calls: a line of JSON for the beginning, and one for the end of each, appended to a file
/// that only the user can read.
///
/// It is in the folder of the configuration, which scripts and the programs that they start cannot reach: what a tricked
/// script has done stays recorded.
package final class AuditFile {
    let path: String
    private let container: String

    /// - Parameters:
    ///   - folder: the folder of the configuration, which is made if it is not there.
    ///   - container: the path of the container.
    /// - Throws: `FileError` when it cannot be written, or others could read it.
    package init(in folder: String, container: String) throws(FileError) {
        path = PathText.join(folder, "assistants.log")
        self.container = container
        try PosixFileLayer().makeDirectories(folder, permissions: 0o700)
        close(try open())
    }

    /// Opens the file anew for each line, so that it can be moved away at any time.
    private func open() throws(FileError) -> Int32 {
        try PrivateFile.open(path, O_WRONLY | O_APPEND | O_CREAT, orSay: "it is not a file that only you can read")
    }

    /// Appends a line.
    ///
    /// - Returns: false if it cannot be written.
    @discardableResult
    func record(_ fields: KeyValuePairs<String, (any JSONConvertible)?>) -> Bool {
        var line = JSONValue.of(fields)
        (line["time"], line["process"], line["container"]) = (.date(.now()), .number(Int(getpid())), .string(container))
        guard let bytes = try? line.json() + [0x0A], let descriptor = try? open() else { return false }
        defer { close(descriptor) }
        return cubby_write(descriptor, bytes, bytes.count) == bytes.count
    }
}
