/// A value that Lua can hold in eight bytes, without an object behind it.
public protocol LuaInline {
    init(luaBits: UInt64)
    var luaBits: UInt64 { get }
}
