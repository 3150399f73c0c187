import Lua

/// Bytes as an argument: a string or data.
typealias BytesArgument = LuaEither<LuaString, DataValue>

extension LuaEither<LuaString, DataValue> {
    var bytes: [UInt8] {
        switch self {
        case .first(let string): string.bytes
        case .second(let data): data.bytes
        }
    }
}
