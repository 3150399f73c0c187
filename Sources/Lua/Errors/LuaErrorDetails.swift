/// The fields of an error for scripts: `err.domain`, `err.code`, `err.message`, `err.path`.
///
/// The message of an error without conformance is its description.
public protocol LuaErrorDetails: Error {
    /// Who speaks: `err.domain`.
    var luaDomain: String { get }
    /// Which error: `err.code`.
    var luaCode: LuaErrorCode { get }
    /// What happened, where, and what to do: `err.message`.
    var luaMessage: String { get }
    /// The file that it is about: `err.path`.
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
    /// A number, as Cocoa's and POSIX's are.
    case number(Int)
    /// A word of one's own.
    case word(String)
}

/// A Swift error as a Lua object.
final class LuaErrorObject {
    let error: any Error

    init(_ error: any Error) { self.error = error }

    var details: (any LuaErrorDetails)? { error as? any LuaErrorDetails }

    var message: String { details?.luaMessage ?? (error as? LuaError)?.message ?? String(describing: error) }
}
