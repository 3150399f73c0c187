/// The last killed texts, newest first.
package struct KillRing: Sendable {
    private static let capacity = 60
    private var texts: [String] = []
    private var current = 0

    /// The end of the last kill that a text is added to.
    enum Direction {
        case forward, backward
    }

    package init() {}

    /// The text of the next yank; nil without kills.
    package var top: String? { current < texts.count ? texts[current] : nil }

    mutating func add(_ text: String, joining direction: Direction?) {
        guard !text.isEmpty else { return }
        current = 0
        switch (direction, texts.first) {
        case (.forward, let last?): texts[0] = last + text
        case (.backward, let last?): texts[0] = text + last
        default:
            texts.insert(text, at: 0)
            if texts.count > Self.capacity { texts.removeLast() }
        }
    }

    /// The next older text; after the oldest, the newest.
    mutating func rotate() -> String? {
        guard !texts.isEmpty else { return nil }
        current = (current + 1) % texts.count
        return texts[current]
    }
}
