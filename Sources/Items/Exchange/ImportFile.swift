import ColumnEngine
package import Files

/// The bytes of an import file, in order; can be rewound.
///
/// One thread owns it. The file's owner closes it.
package final class ImportFile {
    /// The number of bytes, as far as known.
    let size: Int
    private let read: (_ offset: Int, UnsafeMutableRawBufferPointer) throws(FileError) -> Int
    private(set) var position = 0

    package init(_ bytes: [UInt8]) {
        size = bytes.count
        read = { offset, buffer throws(FileError) in
            let count = min(buffer.count, bytes.count - offset)
            buffer.copyBytes(from: bytes[offset..<offset + count])
            return count
        }
    }

    /// - Throws: `FileError` if the size cannot be read.
    package init(_ file: OpenFile, _ layer: any FileLayer) throws(FileError) {
        size = try layer.status(file).size
        read = { offset, buffer throws(FileError) in try layer.read(file, at: offset, into: buffer) }
    }

    func rewind() { position = 0 }

    /// Reads the next bytes and returns their number; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        let count = try read(position, buffer)
        position += count
        return count
    }

    /// All bytes, for formats that are not streamed.
    func contents() throws -> [UInt8] { try ByteStream.contents(size) { try read(into: $0) } }
}
