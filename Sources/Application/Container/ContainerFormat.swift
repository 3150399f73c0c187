import Files

/// The format of a container's files: a number that a program raises when those before it would misread or spoil them.
///
/// `Library/format` has it in decimal digits, and goes into backups. Format 1 has no such file.
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
