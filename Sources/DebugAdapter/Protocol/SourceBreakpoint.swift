import Lua
import PropertyList

/// A breakpoint of a client.
struct SourceBreakpoint {
    /// Its number for the client, which stays the same when the program is started again.
    let number: Int
    /// Its line, from 1, as the client asked for it.
    let line: Int
    private let condition: String?
    private let hits: String?
    private let message: String?
    /// The debugger's breakpoint; nil while there is none.
    var set: LuaBreakpoint?

    init?(_ value: JSONValue, number: Int, _ conventions: ClientConventions) {
        guard let line = value["line"]?.number else { return nil }
        self.number = number
        self.line = conventions.line(client: line)
        condition = Self.text(value["condition"])
        hits = Self.text(value["hitCondition"])
        message = Self.text(value["logMessage"])
    }

    private static func text(_ value: JSONValue?) -> String? { value?.text.flatMap { $0.isEmpty ? nil : $0 } }

    /// The debugger's breakpoint.
    func breakpoint(in path: String) throws(DebugRefusal) -> LuaBreakpoint {
        guard line > 0 else { throw DebugRefusal("there is no line \(line)") }
        return LuaBreakpoint(
            path: path, line: line, condition: condition, firstHit: try firstHit(), message: message)
    }

    /// `5`, `>= 5` and `> 4` are the same: the fifth hit, and those after it.
    private func firstHit() throws(DebugRefusal) -> Int {
        guard let hits else { return 1 }
        let text = hits.filter { $0 != " " }
        let isAfter = text.hasPrefix(">") && !text.hasPrefix(">=")
        guard let number = Int(text.drop { ">=".contains($0) }), (0...1 << 30).contains(number) else {
            throw DebugRefusal("a hit count is a number, from which on the script stops: not \(hits)")
        }
        return isAfter ? number + 1 : max(number, 1)
    }
}
