/// A value that Lua holds inline, in eight bytes, without an object.
@usableFromInline
package protocol LuaInline {
    init(luaBits: UInt64)
    var luaBits: UInt64 { get }
}

/// The conversion of whole numbers to inline values: the value's bits are those of the number minus an offset. Others are
/// left to the function.
package struct LuaNumberConversion {
    let cls: OpaquePointer
    let offset: Double

    package init<T: LuaInline>(_ cls: LuaClass<T>, offset: Double) {
        self.cls = cls.pointer
        self.offset = offset
    }
}
