import Glibc

/// An open folder's entries, one at a time, in the file system's order.
package final class FolderStream {
    /// The folder's descriptor, for its entries; owned by the stream.
    package let descriptor: Int32
    private let path: String
    private let stream: OpaquePointer

    /// Consumes the descriptor.
    ///
    /// - Throws: `FileError`; the descriptor is closed then.
    package init(descriptor: Int32, path: String) throws(FileError) {
        guard let stream = fdopendir(descriptor) else {
            let code = errno
            close(descriptor)
            throw FileError(.list, path, code: code)
        }
        self.descriptor = descriptor
        self.path = path
        self.stream = stream
    }

    deinit { closedir(stream) }

    /// The bytes of the next name, without "." and ".."; nil at the end.
    package func next() throws(FileError) -> [UInt8]? {
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw FileError(.list, path, code: errno) }
                return nil
            }
            // A name may exceed Swift's array type on some file systems, so it is read through the pointer.
            let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 19
            let start = UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
            let name = UnsafeRawBufferPointer(start: start, count: strlen(start))
            if name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) { continue }
            return Array(name)
        }
    }
}
