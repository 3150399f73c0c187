/// The fields of an error for scripts: `err.domain`, `err.code`, `err.message`, `err.path`.
///
/// The message of an error without conformance is its description.
public protocol LuaErrorDetails: Error {
    var luaDomain: String { get }
    var luaCode: LuaErrorCode { get }
    var luaMessage: String { get }
    var luaPath: String? { get }
    /// Whether the script is at fault: the error is then raised as a string with its place, as Lua's libraries do.
    var isScriptsFault: Bool { get }
}

extension LuaErrorDetails {
    /// False.
    public var isScriptsFault: Bool { false }
}

/// An error's code: a number or a word.
public enum LuaErrorCode: Sendable {
    case number(Int)
    case word(String)
}

/// A Swift error as a Lua object.
final class LuaErrorObject {
    let error: any Error

    init(_ error: any Error) { self.error = error }

    var details: (any LuaErrorDetails)? { error as? any LuaErrorDetails }

    var message: String { details?.luaMessage ?? (error as? LuaError)?.message ?? String(describing: error) }
}
