import LineEditor
import PropertyList
import REPL

/// Completion in the client's console.
extension DebugSession {
    func completions(_ arguments: JSONValue) throws(DebugRefusal) -> JSONValue {
        let stop = try stop
        guard let text = arguments["text"]?.text, let column = arguments["column"]?.number else {
            throw DebugRefusal("a completion needs a text and a column")
        }
        // Columns count UTF-16 units; the completer counts bytes.
        let line = arguments["line"].flatMap(\.number).map { adapter.conventions.line(client: $0) } ?? 1
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.indices.contains(line &- 1) else { throw DebugRefusal("the text has no line \(line)") }
        let current = lines[line - 1]
        let before = current.utf16.prefix(adapter.conventions.offset(client: column))
        let cursor = String(decoding: before, as: UTF16.self).utf8.count
        let completion = BreakCompletion(host, at: stop.stop, in: try call(arguments, stop))
        guard let found = completion.complete(String(current), cursor) else { return .object(["targets": .array([])]) }
        let bytes = Array(current.utf8)
        let start = String(decoding: bytes[..<min(found.replacement.lowerBound, bytes.count)], as: UTF8.self).utf16
            .count
        let length = String(
            decoding: bytes[found.replacement.clamped(to: bytes.indices)], as: UTF8.self
        ).utf16.count
        return .object([
            "targets": .array(
                found.candidates.map { candidate in
                    .object([
                        "label": .string(candidate.label), "text": .string(candidate.text),
                        "detail": candidate.detail.isEmpty ? nil : .string(candidate.detail),
                        "type": Self.types[candidate.kind].map(JSONValue.string), "start": .number(start),
                        "length": .number(length),
                    ])
                })
        ])
    }

    private static let types: [Candidate.Kind: String] = [
        .keyword: "keyword", .variable: "variable", .constant: "value", .function: "function", .method: "method",
        .field: "field", .module: "module", .type: "class", .key: "property", .string: "text", .file: "file",
    ]
}
