/// Mutable data of an archive, with an identity.
public final class ArchivedMutableData {
    public var bytes: [UInt8]

    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }
}
