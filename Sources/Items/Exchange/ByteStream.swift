/// Reads bytes that arrive in pieces.
enum ByteStream {
    /// Reads all bytes.
    ///
    /// - Parameters:
    ///   - size: the expected number of bytes.
    ///   - read: fills a buffer with the next bytes and returns their number; 0 at the end.
    /// - Returns: the bytes.
    /// - Throws: errors of `read`.
    static func contents(_ size: Int, _ read: (UnsafeMutableRawBufferPointer) throws -> Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { chunk.deallocate() }
        while true {
            let count = try read(chunk)
            if count == 0 { return bytes }
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: chunk[..<count]))
        }
    }
}
