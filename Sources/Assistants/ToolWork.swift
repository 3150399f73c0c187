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
    /// The mark of a host's readiness for calls.
    private static let ready = "ready"
    /// The largest size of the output in an answer, in bytes.
    private static let outputLimit = 64 << 10

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
    package static func isScript(_ call: [UInt8]) -> Bool { (try? JSONValue(json: call))?["tool"]?.text == "run" }

    /// The entry that performs a call on such a host.
    package static func entry(for call: [UInt8]) -> String {
        return """
            if not \(name) then
              error("another process has the container, and takes no calls: it may do more than cubby config grants", 0)
            end
            \(name)(\(String(decoding: call, as: UTF8.self).quoted()))
            """
    }

    private static func mark(of call: JSONValue?) -> [UInt8] { [0x1E] + Array((call?["mark"]?.text ?? ready).utf8) }

    /// The answer in what has been written for a call, with the output before it; nil if it is not there yet.
    static func answer(to call: JSONValue?, in bytes: [UInt8]) -> JSONValue? {
        let mark = mark(of: call)
        guard let start = bytes.firstRange(of: mark)?.upperBound,
            let end = bytes[start...].firstRange(of: mark),
            var answer = try? JSONValue(json: Array(bytes[end.upperBound...].prefix { $0 != 0x0A }))
        else { return nil }
        let output = bytes[start..<end.lowerBound]
        guard !output.isEmpty, answer["data"] != nil else { return answer }
        let rest = output.count - outputLimit
        let text = String(decoding: output.prefix(outputLimit), as: UTF8.self)
        answer["data"]?["output"] = .string(rest > 0 ? "\(text)\n[\(rest.counted("byte")) more]" : text)
        return answer
    }
}

/// The work of one call.
final class ToolWork {
    unowned let host: ScriptHost
    let arguments: JSONValue
    private let call: JSONValue
    private let isDry: Bool
    /// What the assistant is told in the program's own words, and the data.
    var summary = ""
    var data: PropertyListFields = [:]
    /// The result of a request for resources.
    var result: JSONValue?
    var values = AnswerValues()

    init(_ host: ScriptHost, _ call: JSONValue, isDry: Bool) {
        (self.host, self.call, self.isDry) = (host, call, isDry)
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
        if case .failure(let error) = host.run(work, seconds: call["arguments"]?["time_limit"]?.double ?? 30) {
            isError = true
            switch error.underlying {
            case let error as ResourceError:
                return .object(["invalid": .string(error.description), "isError": .boolean(true)])
            case let error as ToolError: summary = error.description
            default:
                let text = ErrorText.describe(error, sources: host.sources, traceback: false)
                data["error"] = .string(values.text(text))
                // The values are shown after the changes are committed.
                summary =
                    data["changes"] == nil
                    ? "\(call["tool"]?.text ?? "") failed and has changed no item; the error is below."
                    : summary + " Its values cannot be shown; the error is below."
            }
        }
        if values.omitted > 0 { summary += " Left out, as too long for an answer: \(values.omitted.counted("value"))." }
        return .object([
            "summary": .string(summary), "data": .fields(data), "isError": .boolean(isError), "result": result,
        ])
    }

    private func run() throws {
        guard !host.items.isInTransaction else { throw ToolError("another call is under way here: call again") }
        switch call["tool"]?.text {
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
        let script = try compile(text("script"))
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

    /// An expression or a block. The globals that it sets are its own, and gone with it.
    private func compile(_ text: String) throws(LuaError) -> LuaFunction {
        let (state, bytes) = (host.state, Array(text.utf8))
        host.sources.remember(text, as: "script")
        let (globals, metatable) = (state.makeTable(), state.makeTable())
        metatable["__index"] = .table(state.globals)
        globals.setMetatable(metatable)
        if let expression = try? state.load(Array("return ".utf8) + bytes, name: "=script", environment: globals) {
            return expression
        }
        return try state.load(bytes, name: "=script", environment: globals)
    }

    private func undo() throws {
        let tally = host.items.undoTally?.inverted
        guard let tally, try host.items.undo() else {
            throw ToolError("there is nothing to take back: a session undoes what was changed in it")
        }
        summary = "The last commit is taken back."
        data["changes"] = .object([
            "counts": .object([
                "created": .number(tally.created), "changed": .number(tally.changed), "removed": .number(tally.removed),
                "moved": .number(tally.moved),
            ])
        ])
    }
}
