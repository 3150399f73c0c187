/// Mutable data of an archive: bytes that several owners can share and change.
public final class ArchivedMutableData {
    public var bytes: [UInt8]

    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }
}
