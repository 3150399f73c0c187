import Lua
import PropertyList

/// A breakpoint set by a client.
struct SourceBreakpoint {
    /// The client's number for it; it stays the same when the program is restarted.
    let number: Int
    /// The requested line, counted from 1.
    let line: Int
    private let condition: String?
    private let hits: String?
    private let message: String?
    /// The debugger's breakpoint; nil while it is not set.
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

    /// Makes the debugger's breakpoint.
    func breakpoint(in path: String) throws(DebugRefusal) -> LuaBreakpoint {
        guard line > 0 else { throw DebugRefusal("there is no line \(line)") }
        return LuaBreakpoint(
            path: path, line: line, condition: condition, firstHit: try firstHit(), message: message)
    }

    /// `5`, `>= 5` and `> 4` all mean the fifth hit and later ones.
    private func firstHit() throws(DebugRefusal) -> Int {
        guard let hits else { return 1 }
        let text = hits.filter { !$0.is(" ") }
        let isAfter = text.hasPrefix(">") && !text.hasPrefix(">=")
        guard let number = Int(text.drop { ">=".contains($0) }), (0...1 << 30).contains(number) else {
            throw DebugRefusal("a hit count is a number, from which on the script stops: not \(hits)")
        }
        return isAfter ? number + 1 : max(number, 1)
    }
}
