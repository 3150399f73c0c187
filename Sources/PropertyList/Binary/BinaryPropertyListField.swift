/// One entry of a dictionary that `BinaryPropertyListWriter` adds in one call: a registered key and a scalar or an
/// object of the table.
@frozen package struct BinaryPropertyListField: BitwiseCopyable, Sendable {
    @frozen package enum Kind: UInt8, BitwiseCopyable, Sendable {
        /// The payload is an object's number.
        case object
        case uid
        case boolean
        case integer
        case real
        /// A real with a unique value, which is not looked up.
        case unsharedReal
        case single
    }

    package let key: BinaryPropertyListWriter.KeyNumber
    package let kind: Kind
    package let payload: UInt64

    @inlinable
    package init(key: BinaryPropertyListWriter.KeyNumber, kind: Kind, payload: UInt64) {
        self.key = key
        self.kind = kind
        self.payload = payload
    }
}
