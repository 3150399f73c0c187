import LineEditor
import Wording

/// Pages a long text or table. A value: keys in, lines of the screen out.
struct Pager {
    /// The owner's action after a key.
    enum Effect: Equatable { case none, leave, suspend }

    private var columns: Int
    private var rows: Int
    /// The content, and on top of it the opened details.
    private var views: [PagerView]
    /// The text of a search that is being typed.
    private var question: (text: String, isForward: Bool)?
    private var pattern: SearchPattern?
    private var isForward = true
    private var search: PagerSearch?
    /// The line found by the last search; nil after a key that moves.
    private var found: Int?
    private var notice = ""

    /// - Parameters:
    ///   - content: the content to show.
    ///   - rows: the height of the screen; one row is reserved for the status line.
    ///   - columns: its width.
    init(_ content: any PagerContent, rows: Int, columns: Int) {
        views = [PagerView(content)]
        (self.rows, self.columns) = (max(3, rows), max(2, columns))
    }

    private var view: PagerView {
        get { views[views.count - 1] }
        set { views[views.count - 1] = newValue }
    }

    private var height: Int { max(1, rows - 1 - view.content.headingCount) }

    /// Adapts to a new size of the screen.
    mutating func resize(columns: Int, rows: Int) {
        (self.rows, self.columns) = (max(3, rows), max(2, columns))
        for index in views.indices {
            views[index].resize(
                columns: self.columns, height: max(1, self.rows - 1 - views[index].content.headingCount))
        }
    }

    // MARK: The screen

    /// The lines of the screen; the last is the status line.
    mutating func lines() -> [StyledText] {
        let visible = view.visible(height)
        let headings = view.content.headingCount
        let drawn = view.content.draw(visible, columns: columns)
        var lines = drawn.enumerated().map { place, line in
            place < headings ? StyledText(line, .heading) : styled(line, visible.lowerBound + place - headings)
        }
        while lines.count < rows - 1 { lines.append("") }
        let style: Style = question == nil ? .searchMatch : .plain
        return lines + [StyledText(TextTable.cut(VisibleText.line(state(visible)), to: columns), style)]
    }

    private func styled(_ line: String, _ number: Int) -> StyledText {
        let isSelected = view.content.isSelectable && number == view.selected
        var line = isSelected && line.first == " " ? ">" + line.dropFirst() : line
        let style: Style = isSelected ? .emphasis : .plain
        guard let pattern, pattern.isFound(in: PagerText.plain(line)) else { return StyledText(line, style) }
        line = PagerText.plain(line)
        var text = StyledText()
        var start = line.startIndex
        for range in pattern.ranges(in: line) {
            text.append(String(line[start..<range.lowerBound]), style)
            text.append(String(line[range]), .searchMatch)
            start = range.upperBound
        }
        text.append(String(line[start...]), style)
        return text
    }

    private func state(_ visible: Range<Int>) -> String {
        if let question { return (question.isForward ? "/" : "?") + question.text }
        if !notice.isEmpty { return " \(notice) " }
        let unit = view.content.unit
        let place =
            "\(unit)s \((visible.lowerBound + 1).grouped)–\(visible.upperBound.grouped) of \(view.content.count.grouped)"
        var keys = ["q: \(views.count > 1 ? "back" : "leave")", "space: more", "/: search"]
        if view.content.isSelectable { keys += ["←→: columns", "Enter: the \(unit)"] }
        // The last keys give way on a narrow screen.
        while !keys.isEmpty {
            let text = " \(place) · \(keys.joined(separator: ", ")) "
            if DisplayWidth.of(text) <= columns { return text }
            keys.removeLast()
        }
        return " \(place) "
    }

    // MARK: Keys

    /// Whether a search text is being typed.
    var isAsking: Bool { question != nil }

    /// Handles a key.
    mutating func press(_ key: Key) -> Effect {
        switch key {
        case .press(.character("c"), .control):
            if stopSearch() { return .none }
            return .leave
        case .press(.character("z"), .control): return .suspend
        default: break
        }
        if question != nil {
            type(key)
            return .none
        }
        _ = stopSearch()
        notice = ""
        switch key {
        case .press(.character("q"), []), .press(.character("Q"), _), .press(.escape, _),
            .press(.character("d"), .control):
            guard views.count > 1 else { return .leave }
            views.removeLast()
            found = nil
        case .press(.enter, _) where view.content.isSelectable: open()
        case .press(.character("/"), []): question = ("", true)
        case .press(.character("?"), _): question = ("", false)
        case .press(.character("n"), []): find(again: isForward)
        case .press(.character("N"), _): find(again: !isForward)
        default: move(key)
        }
        return .none
    }

    private mutating func move(_ key: Key) {
        let height = height
        found = nil
        switch key {
        case .press(.character(" "), []), .press(.character("f"), _), .press(.pageDown, _),
            .press(.character("v"), .control):
            view.page(by: 1, height: height)
        case .press(.character("b"), _), .press(.pageUp, _), .press(.character("v"), .alt):
            view.page(by: -1, height: height)
        case .press(.down, _), .press(.enter, _), .press(.character("j"), []): view.move(by: 1, height: height)
        case .press(.up, _), .press(.character("k"), []): view.move(by: -1, height: height)
        case .press(.home, _), .press(.character("g"), []), .press(.character("<"), _): view.go(to: 0, height: height)
        case .press(.end, _), .press(.character("G"), _), .press(.character(">"), _):
            view.go(to: view.content.count - 1, height: height)
        case .press(.right, _): view.content.move(by: 1)
        case .press(.left, _): view.content.move(by: -1)
        default: break
        }
    }

    private mutating func open() {
        guard let text = view.content.detail(view.selected, columns: columns) else { return }
        views.append(PagerView(PagerText(text, columns: columns)))
        found = nil
    }

    // MARK: Searches

    /// Whether a search is in progress: call ``searchOn()``.
    var isSearching: Bool { search != nil }

    /// Searches further lines.
    ///
    /// - Returns: whether the screen has changed.
    mutating func searchOn() -> Bool {
        guard var search else { return false }
        let before = notice
        let step = search.step(view.content)
        self.search = search
        switch step {
        case .found(let line):
            view.go(to: line, height: height)
            (self.search, found, notice) = (nil, line, "")
        case .absent:
            self.search = nil
            notice = "no \(search.pattern.text) \(search.isForward ? "below" : "above")"
        case .searching(let percent): notice = "searching for \(search.pattern.text): \(percent) %, Ctrl-C stops"
        }
        return notice != before || self.search == nil
    }

    /// Stops a search; false if there is none.
    mutating func stopSearch() -> Bool {
        guard search != nil else { return false }
        search = nil
        notice = "the search was stopped"
        return true
    }

    private mutating func find(again forward: Bool) {
        guard let pattern else { return }
        search = PagerSearch(pattern, from: (found ?? view.place) + (forward ? 1 : -1), isForward: forward)
    }

    /// Handles a key in a search's text.
    private mutating func type(_ key: Key) {
        guard let (text, forward) = question else { return }
        switch key {
        case .press(.enter, _):
            question = nil
            isForward = forward
            guard !text.isEmpty else { return find(again: forward) }
            let sought = SearchPattern(text)
            (pattern, search) = (sought, PagerSearch(sought, from: view.place, isForward: forward))
        case .press(.backspace, _) where !text.isEmpty: question = (String(text.dropLast()), forward)
        case .press(.escape, _), .press(.backspace, _): question = nil
        case .press(.character(let character), let modifiers) where modifiers.isSubset(of: .shift):
            question = (text + String(character), forward)
        case .paste(let pasted): question = (text + pasted.filter { !$0.isNewline }.prefix(200), forward)
        default: break
        }
    }
}
