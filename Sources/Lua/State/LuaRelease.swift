import CLuaShim

/// The Lua release that the program was compiled with.
package enum LuaRelease {
    /// `Lua 5.4.4`.
    package static var name: String { String(cString: clua_release()) }
}
