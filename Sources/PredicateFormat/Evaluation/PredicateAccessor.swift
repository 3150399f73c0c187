public import PropertyList

/// Reads one field of an object for a compiled predicate, in the field's own type.
///
/// The typed cases avoid a `PropertyListValue` for each value.
public enum PredicateAccessor<Root> {
    /// Text, or nil.
    case string((Root) -> String?)
    /// Calls a function once with the UTF-8 bytes of a text, or with nil, and returns its result. For text that is not
    /// stored as a `String`. The bytes are valid only during the call.
    case utf8((Root, (UnsafeBufferPointer<UInt8>?) -> Bool) -> Bool)
    /// An integer, or nil.
    case integer((Root) -> Int64?)
    /// A date, or nil.
    case date((Root) -> PropertyListDate?)
    /// A value of any kind, or nil.
    case value((Root) -> PropertyListValue?)
    /// A field that no object has: always nil.
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
