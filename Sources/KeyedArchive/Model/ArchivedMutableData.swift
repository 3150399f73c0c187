/// Mutable data of an archive, with an identity.
public final class ArchivedMutableData {
    /// The bytes.
    public var bytes: [UInt8]

    /// Creates an object with bytes.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }
}
