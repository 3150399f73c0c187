/// Why a text is no JSON, or a value has none.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    public let message: String
    public var description: String { message }
}
