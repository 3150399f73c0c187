/// A value that Lua can hold in eight bytes, without an object behind it.
public protocol LuaInline {
    init(luaBits: UInt64)
    var luaBits: UInt64 { get }
}

/// How numbers make values of a class that Lua holds in place: the value's bits are those of the number less an offset.
public struct LuaNumberConversion {
    let cls: OpaquePointer
    let offset: Double

    public init<T: LuaInline>(_ cls: LuaClass<T>, offset: Double) {
        self.cls = cls.pointer
        self.offset = offset
    }
}
