/// What scripts can ask of an error: `err.domain`, `err.code`, `err.message`, `err.path`.
///
/// A Swift error that conforms shows these to scripts; any other shows its description as the message.
public protocol LuaErrorDetails: Error {
    var luaDomain: String { get }
    var luaCode: LuaErrorCode { get }
    var luaMessage: String { get }
    var luaPath: String? { get }
    /// Whether the script is at fault: it is then raised as a string with the place in front, as Lua's own libraries do.
    var isScriptsFault: Bool { get }
}

extension LuaErrorDetails {
    public var isScriptsFault: Bool { false }
}

/// An error's code, as a number or as a word.
public enum LuaErrorCode: Sendable {
    case number(Int)
    case word(String)
}

/// A Swift error as scripts hold it.
final class LuaErrorObject {
    let error: any Error

    init(_ error: any Error) { self.error = error }

    var details: (any LuaErrorDetails)? { error as? any LuaErrorDetails }

    var message: String { details?.luaMessage ?? (error as? LuaError)?.message ?? String(describing: error) }
}
