import Lua
import PropertyList
import Scripting

/// The call stack at a break, and the sources of chunks.
extension DebugSession {
    func stackTrace(_ arguments: JSONValue) throws(DebugRefusal) -> JSONValue {
        let stop = try stop
        let count = stop.calls.count
        let start = min(max(arguments["startFrame"]?.number ?? 0, 0), count)
        let levels = arguments["levels"]?.number ?? 0
        let end = levels > 0 ? min(start + min(levels, count), count) : count
        let frames = (start..<end).map { frame($0, stop) }
        return .object(["stackFrames": .array(frames), "totalFrames": .number(count)])
    }

    private func frame(_ index: Int, _ stop: DebugStop) -> JSONValue {
        let call = stop.calls[index]
        let source = call.kind == .host ? nil : adapter.sources.source(of: call.chunk, in: host)
        // A coroutine's frames are inside those that resumed it.
        let isInCoroutine = call.coroutine < (stop.calls.last?.coroutine ?? 0)
        return .object([
            "id": .number(stop.frame(index)), "name": .string(call.title + (isInCoroutine ? " (in a coroutine)" : "")),
            "source": source, "line": .number(call.line.map { adapter.conventions.client(line: $0) } ?? 0),
            "column": .number(call.line == nil ? 0 : adapter.conventions.column),
            "presentationHint": source == nil ? .string("subtle") : nil,
        ])
    }

    func scopes(_ arguments: JSONValue) throws(DebugRefusal) -> JSONValue {
        let stop = try stop
        let call = try call(arguments, stop)
        func scope(_ name: String, _ hint: String?, _ container: VariableContainer, isLarge: Bool = false) -> JSONValue
        {
            .object([
                "name": .string(name), "presentationHint": hint.map(JSONValue.string),
                "variablesReference": .number(stop.reference(to: container)), "expensive": .boolean(isLarge),
            ])
        }
        var scopes = [scope("Locals", "locals", VariableContainer(kind: .locals, call: call))]
        if !stop.stop.stop.upvalues(of: call).isEmpty {
            scopes.append(scope("Upvalues", nil, VariableContainer(kind: .upvalues, call: call)))
        }
        let globals = VariableContainer(kind: .value(.table(host.state.globals)), call: call, expression: "_G")
        scopes.append(scope("Globals", "globals", globals, isLarge: true))
        return .object(["scopes": .array(scopes)])
    }

    /// The call of a request's `frameId`; without one, the innermost call of a script.
    func call(_ arguments: JSONValue, _ stop: DebugStop) throws(DebugRefusal) -> Int {
        guard let frame = arguments["frameId"]?.number else { return stop.stop.stop.innermost }
        return try stop.call(ofFrame: frame)
    }

    // MARK: Sources

    func source(_ arguments: JSONValue) throws(DebugRefusal) -> JSONValue {
        guard let reference = arguments["source"]?["sourceReference"]?.number ?? arguments["sourceReference"]?.number
        else { throw DebugRefusal("the source has no number") }
        let chunk = try adapter.sources.chunk(reference)
        guard let text = host.sources.text(where: { $0 == chunk }) else {
            throw DebugRefusal("the text of \(chunk) is not known")
        }
        return .object(["content": .string(text), "mimeType": .string("text/x-lua")])
    }

    func loadedSources() -> JSONValue {
        .object([
            "sources": .array(host.sources.names.compactMap { adapter.sources.source(of: $0, in: host) })
        ])
    }
}
