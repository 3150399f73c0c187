/// The fields of an error for scripts: `err.domain`, `err.code`, `err.message`, `err.path`.
///
/// For an error that does not conform, the message is its description.
public protocol LuaErrorDetails: Error {
    /// The source of the error: `err.domain`.
    var luaDomain: String { get }
    /// Identifies the error within its domain: `err.code`.
    var luaCode: LuaErrorCode { get }
    /// Explains the problem, its location and a remedy: `err.message`.
    var luaMessage: String { get }
    /// The path of the file concerned: `err.path`.
    var luaPath: String? { get }
    /// Whether the script caused it: the error is then raised as a string with its position, as by Lua's libraries.
    var isScriptsFault: Bool { get }
}

extension LuaErrorDetails {
    /// False.
    public var isScriptsFault: Bool { false }
}

/// An error's code: a number or a word.
public enum LuaErrorCode: Sendable {
    /// A number, as for Cocoa and POSIX.
    case number(Int)
    /// A custom word.
    case word(String)
}

/// A Swift error as a Lua object.
final class LuaErrorObject {
    let error: any Error

    init(_ error: any Error) { self.error = error }

    var details: (any LuaErrorDetails)? { error as? any LuaErrorDetails }

    var message: String { details?.luaMessage ?? (error as? LuaError)?.message ?? String(describing: error) }
}
