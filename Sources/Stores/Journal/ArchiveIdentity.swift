/// Which archive a journal follows: its size and a checksum of its contents.
///
/// Of a large file the checksum takes the head, the tail and a sample at even distances, so that opening a mapped
/// archive does not read all of it. An archive that is not there, or empty, has the identity ``none``.
public struct ArchiveIdentity: Sendable, Hashable {
    public var size: UInt64
    public var checksum: UInt64

    public static let none = ArchiveIdentity(size: 0, checksum: 0)

    /// Files up to this size are taken whole.
    private static let wholeLimit = 1 << 20
    private static let endLength = 1 << 16
    private static let sampleCount = 256
    private static let sampleLength = 1 << 10

    init(size: UInt64, checksum: UInt64) {
        self.size = size
        self.checksum = checksum
    }

    /// The identity of an archive's contents.
    public init(of bytes: UnsafeRawBufferPointer) {
        size = UInt64(bytes.count)
        guard bytes.count > 0 else {
            self = .none
            return
        }
        guard bytes.count > Self.wholeLimit else {
            checksum = Checksum.hash(bytes)
            return
        }
        func piece(_ start: Int, _ length: Int) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: bytes[start..<start + length])
        }
        // Each piece's checksum is the seed of the next.
        var sum = Checksum.hash(piece(0, Self.endLength))
        let distance = (bytes.count - 2 * Self.endLength) / Self.sampleCount
        for sample in 0..<Self.sampleCount {
            sum = Checksum.hash(piece(Self.endLength + sample * distance, Self.sampleLength), seed: sum)
        }
        checksum = Checksum.hash(piece(bytes.count - Self.endLength, Self.endLength), seed: sum)
    }

    /// The identity of an archive's contents.
    public init(of bytes: [UInt8]) {
        self = bytes.withUnsafeBytes { ArchiveIdentity(of: $0) }
    }
}
