/// Shows a long text a screen at a time. It is a value: keys go in, what to write comes out.
struct Pager {
    /// What a key does.
    enum Step: Equatable {
        case page, line, rest, end
        case nothing
    }

    private let lines: [Substring]
    private let rows: Int
    private var next = 0

    /// - Parameters:
    ///   - text: what is shown.
    ///   - rows: the height of the screen; one row is kept for the question.
    init(_ text: String, rows: Int) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        self.rows = max(3, rows)
    }

    /// Whether a text needs one: it has more lines than the screen.
    static func isNeeded(_ text: String, rows: Int) -> Bool {
        var count = 0
        for byte in text.utf8 where byte == 0x0A {
            count += 1
            if count >= rows { return true }
        }
        return false
    }

    var isAtEnd: Bool { next >= lines.count }

    /// The lines of the next screen.
    mutating func page() -> String { take(rows - 1) }

    /// What a step shows.
    mutating func take(_ step: Step) -> String {
        switch step {
        case .page: take(rows - 1)
        case .line: take(1)
        case .rest: take(lines.count)
        case .end, .nothing: ""
        }
    }

    private mutating func take(_ count: Int) -> String {
        let end = min(next + count, lines.count)
        defer { next = end }
        // What follows the last line break is no line.
        let isLast = end == lines.count
        return lines[next..<end].joined(separator: "\n") + (isLast && lines.last?.isEmpty ?? false ? "" : "\n")
    }

    /// The question at the bottom.
    var question: String {
        "-- \(next) of \(lines.count) lines · space: more, enter: a line, G: the rest, q: enough --"
    }

    /// What a key means.
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
