import LineEditor
import Wording

/// Pages a long text screen by screen. A value: keys in, output out.
struct Pager {
    /// The action of a key.
    enum Step: Equatable {
        case page, line, rest, end
        case nothing
    }

    private let lines: [Substring]
    private let rows: Int
    private let columns: Int
    private var next = 0

    /// - Parameters:
    ///   - text: the text.
    ///   - rows: the height of the screen; one row is kept for the question.
    ///   - columns: its width, for wrapping.
    init(_ text: String, rows: Int, columns: Int) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        self.rows = max(3, rows)
        self.columns = max(2, columns)
    }

    /// Whether a text is higher than the screen.
    static func isNeeded(_ text: String, rows: Int, columns: Int) -> Bool {
        var count = 0
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            count += height(of: line, max(2, columns))
            // The text after the last line break is not a line.
            if count > rows { return true }
        }
        return false
    }

    /// The number of rows of a line. A picture consists of control sequences and has at most one row a line.
    private static func height(of line: Substring, _ columns: Int) -> Int {
        guard line.utf8.count > columns, !line.utf8.contains(0x1B) else { return 1 }
        return max(1, (DisplayWidth.of(line) + columns - 1) / columns)
    }

    var isAtEnd: Bool { next >= lines.count }

    /// The lines of the next page.
    mutating func page() -> String { take(linesOfPage) }

    private var linesOfPage: Int {
        var left = rows - 1
        var count = 0
        for line in lines[next...] {
            left -= Self.height(of: line, columns)
            guard left >= 0 || count == 0 else { break }
            count += 1
        }
        return count
    }

    /// The output of a step.
    mutating func take(_ step: Step) -> String {
        switch step {
        case .page: page()
        case .line: take(1)
        case .rest: take(lines.count)
        case .end, .nothing: ""
        }
    }

    private mutating func take(_ count: Int) -> String {
        let end = min(next + count, lines.count)
        defer { next = end }
        // The text after the last line break is not a line.
        let isLast = end == lines.count
        return lines[next..<end].joined(separator: "\n") + (isLast && lines.last?.isEmpty ?? false ? "" : "\n")
    }

    /// The question in the bottom row.
    var question: String {
        "-- \(next) of \(lines.count) lines · space: more, enter: a line, G: the rest, q: enough --"
    }

    /// The action of a key's bytes.
    static func step(_ bytes: some Collection<UInt8>) -> Step {
        switch bytes.first {
        case UInt8(ascii: " "), UInt8(ascii: "f"), 0x06, 0x16: .page
        case 0x0D, 0x0A, UInt8(ascii: "j"): .line
        case UInt8(ascii: "G"), UInt8(ascii: ">"): .rest
        case UInt8(ascii: "q"), UInt8(ascii: "Q"), 0x03, 0x04, 0x1A: .end
        case 0x1B:
            switch Array(bytes) {
            case [0x1B]: .end
            case let key where key.last == UInt8(ascii: "B"): .line
            case let key where key.starts(with: [0x1B, 0x5B, 0x36]): .page
            case let key where key.last == UInt8(ascii: "F"): .rest
            default: .nothing
            }
        default: .nothing
        }
    }
}
