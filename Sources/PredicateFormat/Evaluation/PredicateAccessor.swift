public import PropertyList

/// How a compiled predicate reads one field of an object, in the type that the object keeps it in.
///
/// The typed ones are read without making a `PropertyListValue` of each value.
public enum PredicateAccessor<Root> {
    /// Text, or nil.
    case string((Root) -> String?)
    /// Calls a function once with the UTF-8 bytes of a text, or with nil, and returns what it returns: for text that is
    /// no `String` where it lies. The bytes are not kept.
    case utf8((Root, (UnsafeBufferPointer<UInt8>?) -> Bool) -> Bool)
    /// An integer, or nil.
    case integer((Root) -> Int64?)
    /// A date, or nil.
    case date((Root) -> PropertyListDate?)
    /// A value of any kind, or nil.
    case value((Root) -> PropertyListValue?)
    /// A field that no object has: nil always.
    case absent

    /// The field's value, boxed.
    @inlinable
    var value: (Root) -> PropertyListValue? {
        switch self {
        case .string(let read):
            return { read($0).map { .string($0) } }
        case .utf8(let read):
            return { root in
                var text: String?
                _ = read(root) { bytes in
                    text = bytes.map { String(decoding: $0, as: UTF8.self) }
                    return true
                }
                return text.map { .string($0) }
            }
        case .integer(let read):
            return { read($0).map { .integer($0) } }
        case .date(let read):
            return { read($0).map { .date($0) } }
        case .value(let read):
            return read
        case .absent:
            return { _ in nil }
        }
    }
}
