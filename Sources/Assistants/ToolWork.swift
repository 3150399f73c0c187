import Application
import Images
import Items
package import Lua
import PropertyList
import REPL
package import Scripting
import Wording

/// Calls of tools as code of a host: its task has the limits, its output is before the answer.
///
/// What a script prints may imitate an answer. So each call has a random mark, before its output and before its answer.
package enum ToolCalls {
    /// The global of a host that takes calls from other processes.
    private static let name = "assistantCall"

    /// The function of a host that performs a call, which is JSON, and writes its output and its answer.
    ///
    /// - Parameters:
    ///   - host: the host.
    ///   - isDry: whether nothing that a script changes is kept.
    /// - Returns: the function.
    package static func function(on host: ScriptHost, isDry: Bool) -> LuaFunction {
        host.state.makeFunction(LuaFunctionDeclaration(name, [LuaParameter("call", .text)])) { [unowned host] call in
            let message = try JSONValue(json: try call.bytes(0))
            host.write(mark(of: message))
            let answer = ToolWork(host, message, isDry: isDry).perform()
            host.write(mark(of: message) + ((try? answer.json()) ?? []) + [0x0A])
            return call.returnsNothing()
        }
    }

    /// Has a host take calls by entries of attached prompts.
    package static func install(on host: ScriptHost) {
        host.state.globals[name] = .function(function(on: host, isDry: false))
    }

    /// What a host says that takes calls from now on.
    package static let readiness = mark(of: nil) + mark(of: nil) + Array("{\"isReady\":true}\n".utf8)

    /// Whether a call runs a script.
    package static func isScript(_ call: String) -> Bool {
        (try? JSONValue(json: Array(call.utf8)))?["tool"]?.text == "run"
    }

    /// The entry that performs a call on such a host.
    package static func entry(for call: String) -> String {
        return """
            if not \(name) then
              error("another process has the container, and takes no calls: it may do more than cubby config grants", 0)
            end
            \(name)(\(call.quoted()))
            """
    }

    private static func mark(of call: JSONValue?) -> [UInt8] { [0x1E] + Array((call?["mark"]?.text ?? "ready").utf8) }

    /// The answer in what has been written for a call, with the output before it; nil if it is not there yet.
    static func answer(to call: JSONValue?, in bytes: [UInt8]) -> JSONValue? {
        let mark = mark(of: call)
        guard let start = bytes.firstRange(of: mark)?.upperBound,
            let end = bytes[start...].firstRange(of: mark),
            var answer = try? JSONValue(json: Array(bytes[end.upperBound...].prefix { $0 != 0x0A }))
        else { return nil }
        let output = bytes[start..<end.lowerBound]
        if !output.isEmpty { answer["data"]?["output"] = .string(AnswerValues.cut(output)) }
        return answer
    }
}

/// The work of one call.
final class ToolWork {
    unowned let host: ScriptHost
    let arguments: JSONValue
    private let tool: String
    private let isDry: Bool
    /// What the assistant is told in the program's own words, and the data.
    var summary = ""
    var data: PropertyListFields = [:]
    /// The result of a request for resources.
    var result: JSONValue?
    var values = AnswerValues()

    init(_ host: ScriptHost, _ call: JSONValue, isDry: Bool) {
        (self.host, tool, self.isDry) = (host, call["tool"]?.text ?? "", isDry)
        arguments = call["arguments"] ?? .object([:])
    }

    func text(_ name: String) -> String { arguments[name]?.text ?? "" }

    /// Does the work.
    ///
    /// - Returns: the answer, also of work that fails.
    func perform() -> JSONValue {
        let work = host.state.makeFunction(LuaFunctionDeclaration("tool", [])) { [self] call in
            try run()
            return call.returnsNothing()
        }
        var isError = false
        // What remains is not a part of its time.
        if case .failure(let error) = host.run(work, seconds: arguments["time_limit"]?.double ?? 30) {
            isError = true
            if let denial = error.underlying as? Denial {
                guard denial.code == .tool else { return .of(["invalid": denial.description, "isError": true]) }
                summary = denial.description
            } else {
                data["error"] = .string(
                    values.text(ErrorText.describe(error, sources: host.sources, traceback: false)))
                // The values are shown after the changes are committed.
                summary =
                    data["changes"] == nil
                    ? "\(tool) failed and has changed no item; the error is below."
                    : summary + " Its values cannot be shown; the error is below."
            }
        }
        if values.omitted > 0 { summary += " Left out, as too long for an answer: \(values.omitted.counted("value"))." }
        return .of(["summary": summary, "data": JSONValue.fields(data), "isError": isError, "result": result])
    }

    private func run() throws {
        guard !host.items.isInTransaction else { throw Denial("another call is under way here: call again") }
        switch tool {
        case "run": try runScript()
        case "undo": try undo()
        case "query": try query()
        case "sql": try sql()
        case "describe": try describe()
        case "inspect": try inspect()
        case "resources/list": try listResources()
        default: try readResource()
        }
    }

    // MARK: Scripts

    private func runScript() throws {
        host.sources.remember(text("script"), as: "script")
        // The globals that it sets are its own, and gone with it.
        let (globals, metatable) = (host.state.makeTable(), host.state.makeTable())
        metatable["__index"] = .table(host.state.globals)
        globals.setMetatable(metatable)
        let script = try host.state.loadEntry(text("script"), name: "=script", environment: globals)
        var results: [LuaValue] = []
        var difference: ItemStoreDiff?
        try host.items.transaction(reporting: { difference = $0 }) { results = try script.call() }
        if let difference {
            data["changes"] = values.changes(difference)
            let counts =
                "\(difference.inserted.count) created, \(difference.updated.count.counted("field")) changed, "
                + "\(difference.removed.count) removed, \(difference.moved.count) moved."
            summary = (isDry ? "A dry run, of which nothing is kept; it would make: " : "Done: ") + counts
        }
        guard !results.isEmpty else { return }
        var printer = ValuePrinter(host)
        (printer.columns, printer.rows, printer.showsTimes) = (100, 60, false)
        data["result"] = .string(values.text(printer.text(results, seconds: 0)))
    }

    private func undo() throws {
        guard let tally = host.items.undoTally?.inverted, try host.items.undo() else {
            throw Denial("there is nothing to take back: a session undoes what was changed in it")
        }
        summary = "The last commit is taken back."
        let counts = JSONValue.of([
            "created": tally.created, "changed": tally.changed, "removed": tally.removed, "moved": tally.moved,
        ])
        data["changes"] = .of(["counts": counts])
    }
}
