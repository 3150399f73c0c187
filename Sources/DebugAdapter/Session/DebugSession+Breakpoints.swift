import Lua
import PropertyList
import Scripting

/// The client's breakpoints.
extension DebugSession {
    /// Maximum number of breakpoints per source: each one compiles the source.
    private static let limit = 1000

    /// Replaces the breakpoints of a source.
    func setBreakpoints(_ arguments: JSONValue) throws(DebugError) -> JSONValue {
        guard let source = arguments["source"] else { throw DebugError("there is no source") }
        let path = try adapter.sources.chunk(of: source)
        let wanted =
            arguments["breakpoints"]?.elements
            ?? (arguments["lines"]?.elements ?? []).map { .object(["line": $0]) }
        guard wanted.count <= Self.limit else { throw DebugError("at most \(Self.limit) breakpoints of a source") }
        host.debugger.core.onPlaced = { [weak self] in self?.placed($0) }
        removeBreakpoints(of: path)
        var breakpoints: [SourceBreakpoint] = []
        var answers: [JSONValue] = []
        for value in wanted {
            adapter.lastBreakpoint += 1
            guard
                var breakpoint = SourceBreakpoint(value, number: adapter.lastBreakpoint, adapter.conventions)
            else { throw DebugError("a breakpoint has no line") }
            answers.append(set(&breakpoint, path))
            breakpoints.append(breakpoint)
        }
        adapter.breakpoints[path] = breakpoints.isEmpty ? nil : breakpoints
        return .object(["breakpoints": .array(answers)])
    }

    /// Sets a breakpoint.
    ///
    /// - Returns: a `Breakpoint`, with the reason if it was not set.
    private func set(_ breakpoint: inout SourceBreakpoint, _ path: String) -> JSONValue {
        var reason: String?
        do throws(DebugError) {
            let wanted = try breakpoint.breakpoint(in: path)
            do throws(LuaError) {
                breakpoint.set = try host.debugger.add(wanted)
                if breakpoint.set == nil { reason = "no code follows this line" }
                if breakpoint.set?.isPlaced == false { reason = "no chunk of this file is loaded yet" }
            } catch { reason = error.message }
        } catch {
            reason = error.message
        }
        return answer(breakpoint, reason)
    }

    /// A breakpoint as a `Breakpoint`.
    private func answer(_ breakpoint: SourceBreakpoint, _ reason: String? = nil) -> JSONValue {
        .of([
            "id": breakpoint.number, "verified": breakpoint.set?.isPlaced ?? false, "message": reason,
            "line": adapter.conventions.client(line: breakpoint.set?.line ?? breakpoint.line),
        ])
    }

    /// Tells the client that a breakpoint has its line: a chunk of its file was loaded.
    func placed(_ placed: LuaBreakpoint) {
        for (path, breakpoints) in adapter.breakpoints {
            guard let index = breakpoints.firstIndex(where: { $0.set?.number == placed.number }) else { continue }
            adapter.breakpoints[path]?[index].set = placed
            var breakpoint = breakpoints[index]
            breakpoint.set = placed
            adapter.event("breakpoint", .of(["reason": "changed", "breakpoint": answer(breakpoint)]))
        }
    }

    /// Removes the breakpoints of a source from the debugger.
    func removeBreakpoints(of path: String) {
        for breakpoint in adapter.breakpoints[path] ?? [] {
            if let set = breakpoint.set { _ = host.debugger.core.remove(set.number) }
        }
    }

    /// Sets the client's breakpoints again after the program was restarted.
    func restoreBreakpoints() {
        if !adapter.breakpoints.isEmpty { host.debugger.core.onPlaced = { [weak self] in self?.placed($0) } }
        for (path, breakpoints) in adapter.breakpoints {
            adapter.breakpoints[path] = breakpoints.map { before in
                var breakpoint = before
                breakpoint.set = nil
                adapter.event("breakpoint", .of(["reason": "changed", "breakpoint": set(&breakpoint, path)]))
                return breakpoint
            }
        }
    }

    /// The client's numbers for a breakpoint; empty if the client did not set it.
    func numbers(of hit: LuaBreakpoint) -> [Int] {
        adapter.breakpoints.values.joined().filter { $0.set?.number == hit.number }.map(\.number)
    }
}

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
    func breakpoint(in path: String) throws(DebugError) -> LuaBreakpoint {
        guard line > 0 else { throw DebugError("there is no line \(line)") }
        return LuaBreakpoint(
            path: path, line: line, condition: condition, firstHit: try firstHit(), message: message)
    }

    /// `5`, `>= 5` and `> 4` all mean the fifth hit and later ones.
    private func firstHit() throws(DebugError) -> Int {
        guard let hits else { return 1 }
        let text = hits.filter { !$0.is(" ") }
        let digits = text.drop { !$0.isNumber }
        let comparison = text[..<digits.startIndex]
        guard ["", ">=", ">"].contains(comparison), let number = Int(digits), (0...1 << 30).contains(number) else {
            throw DebugError("a hit count is N, >= N or > N, from which on the script stops: not \(hits)")
        }
        return comparison == ">" ? number + 1 : max(number, 1)
    }
}
