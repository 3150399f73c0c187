package import Foundation

/// A new empty directory that is removed, with all that is in it, when the last reference goes.
package final class TemporaryDirectory: Sendable {
    /// The directory's absolute path, free of symbolic links, without a trailing slash.
    package let path: String

    /// Makes the directory below the system's temporary directory.
    package init(_ name: String = "cubby") throws {
        let base = URL(fileURLWithPath: NSTemporaryDirectory()).resolvingSymlinksInPath().path
        path = "\(base)/\(name)-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of a file in the directory, whether it exists or not.
    package func file(_ name: String) -> String {
        "\(path)/\(name)"
    }

    /// Writes a file, making the folders on the way to it.
    ///
    /// - Returns: the file's path.
    @discardableResult
    package func write(_ bytes: some Sequence<UInt8>, to name: String) throws -> String {
        let url = URL(fileURLWithPath: file(name))
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
        return url.path
    }

    /// Writes a file of UTF-8 text, making the folders on the way to it.
    ///
    /// - Returns: the file's path.
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        try write(text.utf8, to: name)
    }

    /// The bytes of a file.
    package func read(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: file(name)))
    }

    /// The names of what the directory holds, sorted, hidden files among them.
    package func contents(of folder: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: file(folder)).sorted()
    }
}
