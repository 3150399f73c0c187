#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension LuaType {
    /// The declared type of a Swift type that is converted by ``LuaDecoder`` and ``LuaEncoder``, or as a
    /// ``LuaRepresentable``; any value for a custom conformance.
    init(codable type: Any.Type) {
        if let representable = type as? any LuaRepresentable.Type {
            self = representable.luaType
        } else if type == Data.self {
            self = .string
        } else if type == Date.self {
            self = .number
        } else if type == URL.self {
            self = .text
        } else if type == LuaAsyncFunction.self {
            self = .function
        } else {
            self = .any
        }
    }
}
