import TestSupport

@testable import LineEditor

/// A person at a terminal: types at an editor and looks at the screen.
final class Typist {
    let editor: TerminalLineEditor
    var screen: Screen
    private(set) var events: [EditorOutcome] = []

    init(columns: Int = 40, rows: Int = 12, history: [String] = [], palette: TerminalPalette = .standard) {
        screen = Screen(columns: columns, rows: rows)
        editor = TerminalLineEditor(
            renderer: TerminalRenderer(columns: columns, rows: rows, palette: palette), services: Self.services,
            history: EditorHistory(history))
        see(editor.begin(prompt: "> ", continuation: "… "))
    }

    /// What the editor has reported, besides what is to be written; asking takes it.
    func takeEvents() -> [EditorOutcome] {
        defer { events = [] }
        return events
    }

    func see(_ outcomes: [EditorOutcome]) {
        screen.apply(outcomes)
        events += outcomes.filter { outcome in
            if case .write = outcome { return false }
            return true
        }
    }

    /// Types key by key, each of which the editor sees alone.
    func type(_ text: String) {
        var decoder = KeyDecoder()
        for key in decoder.decode(Array(text.utf8)) { see(editor.press(key)) }
    }

    /// Sends all bytes at once.
    func send(_ text: String) { see(editor.feed(Array(text.utf8))) }

    func begin() { see(editor.begin(prompt: "> ", continuation: "… ")) }

    func paste(_ text: String) { send("\u{1B}[200~\(text)\u{1B}[201~") }

    var line: String { screen.lines[screen.row] }

    // MARK: A small language: do and end, print and pairs.

    static let names = ["pairs", "print", "printf", "items", "ipairs"]

    static var services: EditorServices {
        var services = EditorServices()
        services.completeness = { text in
            let depth = Self.depth(text)
            return depth > 0 ? .incomplete(indent: depth * 2) : depth < 0 ? .invalid : .complete
        }
        services.highlight = { text in
            var spans: [StyledSpan] = []
            var offset = 0
            for word in text.split(separator: " ", omittingEmptySubsequences: false) {
                if word == "do" || word == "end" {
                    spans.append(StyledSpan(offset..<offset + word.utf8.count, .keyword))
                }
                if word.hasPrefix("\"") { spans.append(StyledSpan(offset..<offset + word.utf8.count, .string)) }
                offset += word.utf8.count + 1
            }
            return spans
        }
        services.indentation = { before, line in
            line.drop(while: \.isWhitespace) == "end" ? (Self.depth(before) - 1) * 2 : nil
        }
        services.complete = { text, cursor in
            let before = Array(text.utf8)[..<cursor]
            var start = cursor
            while start > 0, before[start - 1] >= 0x61, before[start - 1] <= 0x7A { start -= 1 }
            let word = String(decoding: before[start...], as: UTF8.self)
            let found = names.filter { $0.hasPrefix(word) }.sorted()
            return CompletionResult(
                replacement: start..<cursor,
                candidates: found.map { CompletionCandidate($0, kind: .function, detail: "(…)", suffix: "(") })
        }
        return services
    }

    private static func depth(_ text: String) -> Int {
        text.split(whereSeparator: \.isWhitespace).reduce(0) { $0 + ($1 == "do" ? 1 : $1 == "end" ? -1 : 0) }
    }
}

extension Screen {
    /// Applies what an editor wants written.
    mutating func apply(_ outcomes: [EditorOutcome]) {
        for case .write(let bytes) in outcomes { apply(bytes) }
    }
}
