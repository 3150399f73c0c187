import CFileFormats
import Wording

/// Decompresses the body of an answer as it arrives: gzip, of one member or several, and deflate, with zlib's header or
/// without.
///
/// One thread owns it.
final class HTTPDecompression {
    /// Why a body cannot be decompressed.
    enum Failure: Error, Equatable {
        case endsEarly
        case damaged
        case unknown(String)

        var reason: String {
            switch self {
            case .endsEarly: "the compressed body ends early"
            case .damaged: "the compressed body is damaged"
            case .unknown(let name):
                "the body is compressed as \(VisibleText.line(name.shortened(to: 100))), and \(HTTPDecompression.accepted) are read"
            }
        }
    }

    /// The encodings, for a request's header.
    static let accepted = "gzip, deflate"

    private static var library: UnsafePointer<cformats_zlib>? {
        var reason: UnsafePointer<CChar>?
        return cformats_zlib(&reason)
    }

    /// Whether zlib is installed.
    static var isAvailable: Bool { library != nil }

    private let library: UnsafePointer<cformats_zlib>
    private let stream: UnsafeMutablePointer<cformats_stream>
    private let isGzip: Bool
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    /// Whether the body may end here.
    private(set) var hasEnded = false

    /// Makes what decompresses a body, by its header; nil if it is not compressed.
    ///
    /// - Parameters:
    ///   - headers: the answer's header.
    ///   - first: the first byte of the body.
    ///   - takesUnknown: whether a body of an unknown encoding is taken as it is, since the caller has asked for it.
    /// - Throws: `Failure` for another encoding.
    init?(of headers: [HTTPField], first: UInt8, takesUnknown: Bool) throws(Failure) {
        let names = headers.filter { $0.isNamed("content-encoding") }
            .flatMap { HTTPField.small($0.value).split { $0 == "," || $0 == " " || $0 == "\t" } }
            .filter { $0 != "identity" }
        guard let name = names.first else { return nil }
        guard names.count == 1, ["gzip", "x-gzip", "deflate"].contains(name), let library = Self.library else {
            if takesUnknown { return nil }
            throw .unknown(names.joined(separator: ", "))
        }
        (self.library, isGzip) = (library, name != "deflate")
        stream = .allocate(capacity: 1)
        stream.initialize(to: cformats_stream())
        // The low half of zlib's first byte is 8. Without its header it would begin a stored block, and no writer sets that bit.
        let window: Int32 = isGzip ? 15 + 16 : first & 15 == 8 ? 15 : -15
        let size = Int32(MemoryLayout<cformats_stream>.size)
        guard library.pointee.inflateInit2_(stream, window, library.pointee.zlibVersion(), size) == 0 else {
            throw .damaged
        }
    }

    deinit {
        _ = library.pointee.inflateEnd(stream)
        stream.deallocate()
    }

    /// Decompresses the next bytes of the body.
    ///
    /// - Parameters:
    ///   - bytes: the bytes.
    ///   - take: takes a piece of the content; false stops.
    /// - Returns: whether `take` has not stopped.
    /// - Throws: `Failure` for bytes that are not of such a stream.
    func decompress(
        _ bytes: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) -> Bool
    ) throws(Failure) -> Bool {
        stream.pointee.next_in = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_in = UInt32(bytes.count)
        var isFull = false
        while stream.pointee.avail_in > 0 || isFull {
            if hasEnded {
                guard isGzip else { throw .damaged }
                // Writers of blocks, such as tar, fill up the last one with zeros.
                if let next = stream.pointee.next_in, next.pointee == 0 {
                    (stream.pointee.next_in, stream.pointee.avail_in) = (next + 1, stream.pointee.avail_in - 1)
                    continue
                }
                guard library.pointee.inflateReset(stream) == 0 else { throw .damaged }
                hasEnded = false
            }
            var (result, count): (Int32, Int) = (0, 0)
            let hasCapacity = buffer.withUnsafeMutableBytes { buffer in
                stream.pointee.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
                stream.pointee.avail_out = UInt32(buffer.count)
                result = library.pointee.inflate(stream, 0)
                count = buffer.count - Int(stream.pointee.avail_out)
                return count == 0 || take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
            guard hasCapacity else { return false }
            // -5: no progress, which a full buffer may have left for now.
            guard result == 0 || result == 1 || (result == -5 && isFull) else { throw .damaged }
            hasEnded = result == 1
            isFull = result == 0 && count == buffer.count
        }
        return true
    }
}
