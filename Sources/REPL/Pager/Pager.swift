import LineEditor

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
    /// The entry that shows what was shown last after steps in the pager; nil before the first.
    private(set) var entry: String?

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
        let style: TextStyle = question == nil ? .searchMatch : .plain
        return lines + [StyledText(TextTable.cut(VisibleText.line(state(visible)), to: columns), style)]
    }

    private func styled(_ line: String, _ number: Int) -> StyledText {
        let isSelected = view.content.isSelectable && number == view.selected
        var line = isSelected && line.first == " " ? ">" + line.dropFirst() : line
        let style: TextStyle = isSelected ? .emphasis : .plain
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
        var keys = ["q: \(views.count > 1 ? "back" : "leave")"]
        if view.content.isSelectable {
            let actions = ColumnAction.allCases.map { "\($0.key.character): \($0.key.text)" }
            keys += ["/: search", "←→ \(actions[0])"] + actions.dropFirst() + ["Enter: the \(unit)", "space: more"]
        } else {
            keys += ["space: more", "/: search"]
        }
        let parts = [place] + (view.content.title.map { [$0] } ?? [])
        // The last keys give way on a narrow screen.
        while !keys.isEmpty {
            let text = " \((parts + [keys.joined(separator: ", ")]).joined(separator: " · ")) "
            if DisplayWidth.of(text) <= columns { return text }
            keys.removeLast()
        }
        let text = " \(parts.joined(separator: " · ")) "
        // What was done is more than the place; of a long entry there is the beginning, and the way back.
        guard DisplayWidth.of(text) > columns, let title = view.content.title else { return text }
        let back = " · q: back "
        let isLong = DisplayWidth.of(" \(title) ") > columns && columns > 2 * back.count
        return isLong ? " " + TextTable.cut(title, to: columns - back.count - 1) + back : " \(title) "
    }

    // MARK: Keys

    /// Whether a search text is being typed.
    var isAsking: Bool { question != nil }

    /// Handles a key.
    mutating func press(_ key: EditorKey) -> Effect {
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
        case .press(.character(let character), let modifiers)
        where modifiers.isSubset(of: .shift) && Self.action(character) != nil && view.content.isSelectable:
            if let action = Self.action(character) { perform(action) }
        default: move(key)
        }
        return .none
    }

    private mutating func move(_ key: EditorKey) {
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

    private static func action(_ character: Character) -> ColumnAction? {
        ColumnAction.allCases.first { $0.key.character == character }
    }

    /// Shows what an action on the selected column makes; q goes back.
    private mutating func perform(_ action: ColumnAction) {
        let columns = columns
        push(replacing: action == .sort && view.content.isSorted) {
            try $0.content(after: action, at: $1, columns: columns)
        }
    }

    private mutating func open() {
        if push(replacing: false, { try $0.contents(of: $1) }) { return }
        guard let text = view.content.detail(view.selected, columns: columns) else { return }
        views.append(PagerView(PagerText(text, columns: columns)))
        found = nil
    }

    /// Shows a content that is made of the present one; an error is said in the last row.
    ///
    /// - Returns: whether there is one, or an error.
    @discardableResult
    private mutating func push(
        replacing isReplacing: Bool, _ make: (any PagerContent, Int) throws -> (any PagerContent)?
    ) -> Bool {
        do {
            guard let content = try make(view.content, view.selected) else { return false }
            if isReplacing { views.removeLast() }
            views.append(PagerView(content))
            found = nil
            if content.isEntry { entry = content.title }
        } catch { notice = "\(error)" }
        return true
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
    private mutating func type(_ key: EditorKey) {
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

/// A text to search for. Without capital letters, case is ignored.
struct SearchPattern {
    let text: String
    private let characters: [String]
    private let ignoresCase: Bool

    /// - Parameter text: the text; a long one is truncated.
    init(_ text: String) {
        self.text = String(text.prefix(200))
        ignoresCase = self.text == self.text.lowercased()
        characters = self.text.map(String.init)
    }

    /// Whether a text contains the pattern.
    func isFound(in other: String) -> Bool {
        !text.isEmpty && (ignoresCase ? other.lowercased() : other).firstRange(of: text) != nil
    }

    /// The places of the pattern in a line of the screen, without overlaps.
    func ranges(in line: String) -> [Range<String.Index>] {
        let indices = Array(line.indices) + [line.endIndex]
        let letters = line.map { ignoresCase ? $0.lowercased() : String($0) }
        var ranges: [Range<String.Index>] = []
        var start = 0
        while !characters.isEmpty, start + characters.count <= letters.count {
            if letters[start..<start + characters.count].elementsEqual(characters) {
                ranges.append(indices[start]..<indices[start + characters.count])
                start += characters.count
            } else {
                start += 1
            }
        }
        return ranges
    }
}
