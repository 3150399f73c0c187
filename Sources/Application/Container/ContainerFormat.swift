import Files

/// The format number of a container's files. It is raised when older programs would misread or damage them.
///
/// `Library/format` holds it in decimal digits, and is part of backups. Format 1 has no such file.
package enum ContainerFormat {
    /// The newest format that this program reads and writes.
    package static let current = 1
    static let file = "Library/format"

    /// Refuses a container of a newer format, before anything in it is changed.
    ///
    /// - Parameter container: the container, which need not exist.
    /// - Throws: ``ContainerFormatError``; `FileError` when the number cannot be read.
    package static func check(_ container: Container) throws {
        let path = PathText.join(container.path, file)
        guard PosixFileLayer().exists(container.library) else { return }
        let layer = try BeneathFileLayer(container.path)
        guard try layer.contains(path, .regular) else { return }
        let text = String(decoding: try layer.contents(of: path, limit: 64), as: UTF8.self)
        let digits = text.hasSuffix("\n") ? text.dropLast() : text[...]
        guard let number = Int(digits), (1...current).contains(number) else {
            throw ContainerFormatError(container: container.displayPath, format: String(digits))
        }
    }
}
