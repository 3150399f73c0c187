/// One entry of a dictionary that `BinaryPropertyListWriter` adds in one go: a registered key and a scalar, or an object
/// that is in the table already.
@frozen public struct BinaryPropertyListField: BitwiseCopyable, Sendable {
    @frozen public enum Kind: UInt8, BitwiseCopyable, Sendable {
        /// The payload is an object's number.
        case object
        case uid
        case boolean
        case integer
        case real
        /// A real that the caller knows to be the only one of its value, and that is not looked up.
        case unsharedReal
        case single
    }

    public let key: BinaryPropertyListWriter.KeyNumber
    public let kind: Kind
    public let payload: UInt64

    @inlinable
    public init(key: BinaryPropertyListWriter.KeyNumber, kind: Kind, payload: UInt64) {
        self.key = key
        self.kind = kind
        self.payload = payload
    }
}
