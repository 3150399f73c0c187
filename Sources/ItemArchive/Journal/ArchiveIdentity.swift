import ColumnEngine
import Files

/// Identifies the archive that a journal follows: its size and a checksum of its contents.
///
/// For a large file the checksum covers the head, the tail and evenly spaced samples, so that opening a mapped archive
/// does not read all of it. A missing or empty archive has the identity ``none``.
public struct ArchiveIdentity: Sendable, Hashable {
    /// The size in bytes.
    public var size: UInt64
    /// The checksum of the bytes.
    public var checksum: UInt64

    /// The identity of a missing archive.
    public static let none = ArchiveIdentity(size: 0, checksum: 0)

    /// Files up to this size are hashed whole.
    private static let wholeLimit = 1 << 20
    private static let endLength = 1 << 16
    private static let sampleCount = 256
    private static let sampleLength = 1 << 10

    package init(size: UInt64, checksum: UInt64) {
        self.size = size
        self.checksum = checksum
    }

    /// The identity of an archive's contents.
    public init(of bytes: UnsafeRawBufferPointer) {
        self.init(size: bytes.count) { piece, seed in
            Checksum.hash(UnsafeRawBufferPointer(rebasing: bytes[piece]), seed: seed)
        }
    }

    /// The identity of an archive's contents; it reads only the samples.
    init(of file: OpenFile, size: Int, using layer: any FileLayer) throws(FileError) {
        let length = size > Self.wholeLimit ? Self.endLength : size
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 8)
        defer { buffer.deallocate() }
        try self.init(size: size) { piece, seed throws(FileError) in
            var done = 0
            while done < piece.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<piece.count])
                let count = try layer.read(file, at: piece.lowerBound + done, into: rest)
                // The file is shorter than its status said: the identity will be another one.
                if count == 0 { break }
                done += count
            }
            return Checksum.hash(UnsafeRawBufferPointer(rebasing: buffer[..<done]), seed: seed)
        }
    }

    /// Each piece's checksum is the seed for the next.
    private init<Failure: Error>(
        size: Int, checksum hash: (Range<Int>, UInt64) throws(Failure) -> UInt64
    ) throws(Failure) {
        guard size > 0 else {
            self = .none
            return
        }
        self.size = UInt64(size)
        guard size > Self.wholeLimit else {
            checksum = try hash(0..<size, 0)
            return
        }
        var sum = try hash(0..<Self.endLength, 0)
        let distance = (size - 2 * Self.endLength) / Self.sampleCount
        for sample in 0..<Self.sampleCount {
            let start = Self.endLength + sample * distance
            sum = try hash(start..<start + Self.sampleLength, sum)
        }
        checksum = try hash(size - Self.endLength..<size, sum)
    }

    /// The identity of an archive's contents.
    public init(of bytes: [UInt8]) {
        self = bytes.withUnsafeBytes { ArchiveIdentity(of: $0) }
    }
}
