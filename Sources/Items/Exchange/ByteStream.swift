/// Bytes that come in pieces.
enum ByteStream {
    /// All of them.
    ///
    /// - Parameters:
    ///   - size: how many there will probably be.
    ///   - read: fills a buffer with the next ones, and gives how many; 0 at the end.
    /// - Returns: the bytes.
    /// - Throws: what `read` throws.
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
