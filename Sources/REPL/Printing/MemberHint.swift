import Lua
import Scripting
import Wording

/// "Did you mean" for a nil field of a table: Lua's message has the name, the source has the table.
enum MemberHint {
    /// The end of the message; empty without a hint.
    static func text(for error: LuaError, host: ScriptHost, locals: LuaTable?) -> String {
        let message = error.message
        guard error.kind == .runtime, !message.contains("did you mean"), message.contains("a nil value"),
            let name = name(in: message), let line = line(of: message, host)
        else { return "" }
        let lua = LuaText(String(line))
        for index in lua.tokens.indices where lua.name(index) == name {
            guard lua.isToken(index - 1, ".") || lua.isToken(index - 1, ":") else { continue }
            let resolver = ExpressionResolver(host, locals: locals, lua: lua, before: index - 1)
            let members = MemberList(resolver: resolver).members(of: resolver.expression(endingAt: index - 2))
            let hint = NearestNames.hint(for: name, among: members.map(\.name))
            if !hint.isEmpty { return hint }
        }
        return ""
    }

    /// The name in `(field 'x')` or `(method 'x')`.
    private static func name(in message: String) -> String? {
        guard message.contains("(field '") || message.contains("(method '") else { return nil }
        let parts = message.split(separator: "'", omittingEmptySubsequences: false)
        return parts.count >= 3 ? String(parts[parts.count - 2]) : nil
    }

    private static func line(of message: String, _ host: ScriptHost) -> Substring? {
        let parts = message.split(separator: ":", maxSplits: 2)
        guard parts.count == 3, let number = Int(parts[1]) else { return nil }
        return host.sources.line(number, of: String(parts[0]))
    }
}
