@_exported import Wording

/// An error in a file of a format that other libraries read: what it is, and what to do.
package struct FormatError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of errors.
    package enum Code: Equatable, Sendable {
        /// The library of the format is missing.
        case unavailable
        /// The file is damaged, or ends early.
        case corrupt
        /// The file has what is not read, such as encrypted content.
        case unsupported
        /// The content is larger than the limits.
        case tooLarge
        /// Something asked for by name is not in the file.
        case missing
        /// The work was interrupted, for example by a script's deadline.
        case stopped
    }

    /// The kind of error.
    package let code: Code
    /// The problem, its place and its remedy.
    package let message: String

    package init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

    package var description: String { message }

    /// The same error in a place: `prices.xlsx, sheet Tools: …`.
    package func at(_ place: String) -> FormatError { FormatError(code, "\(place): \(message)") }
}

/// The bytes of a file, read at any place.
package struct ByteSource {
    /// The number of bytes.
    package let size: Int
    /// Fills part of a buffer with the bytes from an offset on, and returns their number; 0 at the end.
    package let read: (_ offset: Int, _ buffer: UnsafeMutableRawBufferPointer) throws -> Int

    package init(size: Int, read: @escaping (_ offset: Int, _ buffer: UnsafeMutableRawBufferPointer) throws -> Int) {
        (self.size, self.read) = (size, read)
    }

    /// Bytes in memory.
    package init(_ bytes: [UInt8]) {
        self.init(size: bytes.count) { offset, buffer in
            guard offset >= 0, offset < bytes.count else { return 0 }
            let count = min(buffer.count, bytes.count - offset)
            buffer.copyBytes(from: bytes[offset..<offset + count])
            return count
        }
    }
}

/// How far compressed content may expand.
package struct ExpansionLimits: Sendable, Hashable {
    /// The most bytes of the content.
    package var bytes = 8 << 30
    /// The most bytes of the content for a byte of the file; the compression of zeros reaches 1,030.
    package var ratio = 250
    /// The bytes of content up to which any ratio is taken.
    package var free = 64 << 20

    package init() {}

    package init(bytes: Int, ratio: Int, free: Int) { (self.bytes, self.ratio, self.free) = (bytes, ratio, free) }

    /// Checks an expansion.
    ///
    /// - Parameters:
    ///   - compressed: the bytes read so far.
    ///   - expanded: the bytes of content so far.
    ///   - advice: what to do, such as the program that decompresses the file.
    /// - Throws: `FormatError` with `tooLarge`.
    func check(_ compressed: Int, _ expanded: Int, _ advice: @autoclosure () -> String) throws(FormatError) {
        if expanded > bytes {
            throw FormatError(.tooLarge, "it unpacks to more than \(bytes.grouped) bytes: \(advice())")
        }
        guard expanded > free else { return }
        if expanded / ratio > compressed {
            throw FormatError(
                .tooLarge,
                "it unpacks to more than \(ratio) times its size, as files do that are made to fill a disk: \(advice())"
            )
        }
    }
}
