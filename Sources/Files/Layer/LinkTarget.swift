import Glibc

/// Reads symbolic links.
package enum LinkTarget {
    /// The target of a link in an open folder.
    ///
    /// - Parameters:
    ///   - folder: a descriptor.
    ///   - name: the link's name in it.
    ///   - path: the path for errors.
    /// - Returns: the link's text.
    /// - Throws: `FileError` if it is not a link, or its text is not UTF-8.
    package static func read(_ folder: Int32, _ name: String, _ path: String) throws(FileError) -> String {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { readlinkat(folder, name, $0.assumingMemoryBound(to: CChar.self), bytes.count) }
                ?? -1
        }
        guard count >= 0 else { throw FileError(.status, path, code: errno) }
        guard let text = String(validating: buffer[..<count], as: UTF8.self) else {
            throw FileError(.status, path, code: EILSEQ, reason: "the link leads to a name that is not UTF-8")
        }
        return text
    }
}
