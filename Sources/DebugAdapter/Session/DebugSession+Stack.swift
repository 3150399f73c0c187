import Files
import Lua
import PropertyList
import Scripting

/// The call stack at a break, and the sources of chunks.
extension DebugSession {
    func stackTrace(_ arguments: JSONValue) throws(DebugError) -> JSONValue {
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

    func scopes(_ arguments: JSONValue) throws(DebugError) -> JSONValue {
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
    func call(_ arguments: JSONValue, _ stop: DebugStop) throws(DebugError) -> Int {
        guard let frame = arguments["frameId"]?.number else { return stop.stop.stop.innermost }
        return try stop.call(ofFrame: frame)
    }

    // MARK: Sources

    func source(_ arguments: JSONValue) throws(DebugError) -> JSONValue {
        guard let reference = arguments["source"]?["sourceReference"]?.number ?? arguments["sourceReference"]?.number
        else { throw DebugError("the source has no number") }
        let chunk = try adapter.sources.chunk(reference)
        guard let text = host.sources.text(where: { $0 == chunk }) else {
            throw DebugError("the text of \(chunk) is not known")
        }
        return .object(["content": .string(text), "mimeType": .string("text/x-lua")])
    }

    func loadedSources() -> JSONValue {
        .object([
            "sources": .array(host.sources.names.compactMap { adapter.sources.source(of: $0, in: host) })
        ])
    }
}

/// Maps a host's chunks to sources: a file, or a text that the client requests by number.
struct SourceCatalog {
    /// The chunks without a file; a chunk's number is its position, counted from 1.
    private var chunks: [String] = []
    private var paths: NameTable<String?> = [:]

    /// A chunk, named without its mark, as a `Source`.
    mutating func source(of chunk: String, in host: ScriptHost) -> JSONValue? {
        if let path = path(of: chunk) {
            return .object(["name": .string(PathText.name(of: path)), "path": .string(path)])
        }
        guard host.sources.text(where: { $0 == chunk }) != nil else { return nil }
        return .object(["name": .string(chunk), "sourceReference": .number(reference(to: chunk))])
    }

    /// The chunk of a client's `Source`: a path, or a chunk's name.
    func chunk(of source: JSONValue) throws(DebugError) -> String {
        if let reference = source["sourceReference"]?.number, reference > 0 { return try chunk(reference) }
        guard let path = source["path"]?.text ?? source["name"]?.text, !path.isEmpty else {
            throw DebugError("the source has neither a path nor a number")
        }
        return path
    }

    func chunk(_ reference: Int) throws(DebugError) -> String {
        guard chunks.indices.contains(reference &- 1) else { throw DebugError("there is no source \(reference)") }
        return chunks[reference - 1]
    }

    private mutating func reference(to chunk: String) -> Int {
        if let index = chunks.firstIndex(of: chunk) { return index + 1 }
        chunks.append(chunk)
        return chunks.count
    }

    /// The path of a chunk's file, if any.
    private mutating func path(of chunk: String) -> String? {
        if let known = paths[chunk] { return known }
        var path = chunk
        if chunk.hasPrefix("~/"), let home = HomeFolder.path { path = PathText.join(home, String(chunk.dropFirst(2))) }
        path = PathText.absolute(path, from: WorkingDirectory.path ?? "/")
        let isFile = !chunk.contains("\n") && PosixFileLayer().exists(path)
        paths[chunk] = isFile ? path : .some(nil)
        return isFile ? path : nil
    }
}
