/// The results of a function of the host, on Lua's stack. The `returns` methods of ``LuaCall`` make it; the function's
/// body gives it back.
@frozen
public struct LuaResults {
    let count: Int32

    init(_ count: Int32) { self.count = count }

    /// Results one after the other, in the order in which they were made.
    public static func + (first: LuaResults, second: LuaResults) -> LuaResults {
        LuaResults(first.count + second.count)
    }

    static var none: LuaResults { LuaResults(0) }
    static var one: LuaResults { LuaResults(1) }
}
