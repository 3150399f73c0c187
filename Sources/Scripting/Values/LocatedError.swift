import Lua

/// An error in a file's content, with the file's path.
struct LocatedError: Error, LuaErrorDetails, CustomStringConvertible {
    let error: any LuaErrorDetails
    let luaPath: String?

    init(_ error: any LuaErrorDetails, _ path: String) {
        self.error = error
        luaPath = path
    }

    var description: String { luaMessage }
    var luaDomain: String { error.luaDomain }
    var luaCode: LuaErrorCode { error.luaCode }
    var luaMessage: String { "\(luaPath ?? ""): \(error.luaMessage)" }
}
