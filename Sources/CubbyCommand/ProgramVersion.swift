import CPlatform
import Lua
import Scripting

/// The line of `cubby --version`: `cubby 1.0.0 (1a2b3c4d5e6f), Swift 6.3.1, Lua 5.4.4`.
enum ProgramVersion {
    static var text: String { "\(CubbyCommand.name) \(number)" }

    /// The version without the name.
    static var number: String {
        let build = String(cString: cubby_build())
        return "\(CubbyVersion.string) \(build.isEmpty ? "(development build)" : build), \(LuaRelease.name)"
    }
}
