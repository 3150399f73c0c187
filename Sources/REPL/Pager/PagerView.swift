/// A content, and its visible part.
struct PagerView {
    var content: any PagerContent
    /// The first line on the screen.
    private(set) var top = 0
    /// The selected line, if the content has one.
    private(set) var selected = 0

    init(_ content: any PagerContent) { self.content = content }

    /// The line that a search starts at, and that Enter opens.
    var place: Int { content.isSelectable ? selected : top }

    /// The visible lines on a screen of some height.
    func visible(_ height: Int) -> Range<Int> {
        let start = min(top, max(0, content.count - 1))
        return start..<min(content.count, start + height)
    }

    /// Moves by lines: the selection, or the text.
    mutating func move(by lines: Int, height: Int) {
        if content.isSelectable { select(selected + lines, height: height) } else { scroll(to: top + lines, height) }
    }

    /// Moves by screens.
    mutating func page(by pages: Int, height: Int) {
        let step = pages * max(1, height)
        scroll(to: top + step, height)
        if content.isSelectable { select(selected + step, height: height) }
    }

    /// Moves to a line.
    mutating func go(to line: Int, height: Int) {
        if content.isSelectable { select(line, height: height) } else { scroll(to: line, height) }
    }

    /// Adapts to a new size of the screen.
    mutating func resize(columns: Int, height: Int) {
        let line = content.resize(columns: columns, keeping: place)
        go(to: line, height: height)
    }

    private mutating func select(_ line: Int, height: Int) {
        selected = max(0, min(line, content.count - 1))
        scroll(to: min(max(top, selected - height + 1), selected), height)
    }

    private mutating func scroll(to line: Int, _ height: Int) {
        top = max(0, min(line, content.count - height))
    }
}
