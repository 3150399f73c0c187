/// A search through the lines of a content, in steps.
struct PagerSearch {
    /// Number of texts searched before keys are served again.
    private static let textsPerStep = 20_000

    let pattern: SearchPattern
    let isForward: Bool
    private var next: Int
    private let first: Int

    /// - Parameters:
    ///   - pattern: the text.
    ///   - line: the first line to search.
    ///   - isForward: whether to search forward.
    init(_ pattern: SearchPattern, from line: Int, isForward: Bool) {
        (self.pattern, self.isForward, next, first) = (pattern, isForward, line, line)
    }

    /// The result of a step.
    enum Step: Equatable {
        case found(Int)
        case searching(percent: Int)
        case absent
    }

    /// Searches some lines.
    mutating func step(_ content: any PagerContent) -> Step {
        for _ in 0..<max(1, Self.textsPerStep / content.textsPerLine) {
            guard next >= 0, next < content.count else { return .absent }
            if content.contains(pattern, in: next) { return .found(next) }
            next += isForward ? 1 : -1
        }
        let whole = isForward ? content.count - first : first + 1
        return .searching(percent: whole > 0 ? abs(next - first) * 100 / whole : 100)
    }
}
