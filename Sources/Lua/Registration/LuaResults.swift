/// The results of a host function, on Lua's stack. Made by the `returns` methods of ``LuaCall``, and returned by the
/// function's body.
@frozen
public struct LuaResults {
    let count: Int32

    init(_ count: Int32) { self.count = count }

    /// Concatenates results, in the order in which they were made.
    public static func + (first: LuaResults, second: LuaResults) -> LuaResults {
        LuaResults(first.count + second.count)
    }

    static var none: LuaResults { LuaResults(0) }
    static var one: LuaResults { LuaResults(1) }
}
