/// The candidates for a position.
public struct CompletionResult: Hashable, Sendable {
    /// The replaced range in UTF-8 bytes; it ends at or before the end of the cursor's word.
    package var replacement: Range<Int>
    /// The candidates in display order.
    package var candidates: [CompletionCandidate]

    /// Creates a result: candidates for a range of the text.
    public init(replacement: Range<Int>, candidates: [CompletionCandidate]) {
        self.replacement = replacement
        self.candidates = candidates
    }

    /// The common prefix of all candidates' texts.
    package var commonPrefix: String {
        guard let first = candidates.first?.text else { return "" }
        return candidates.dropFirst().reduce(first) { common, candidate in
            String(zip(common, candidate.text).prefix { $0 == $1 }.map(\.0))
        }
    }
}

/// A request for candidates that come later.
public struct CompletionRequest: Hashable, Sendable {
    /// The text for which they are.
    public let text: String
    /// The place of the cursor, in UTF-8 bytes.
    public let cursor: Int
    /// Tells requests for the same text apart.
    let number: Int
}

/// A completion candidate.
public struct CompletionCandidate: Hashable, Sendable {
    /// The kind of a candidate, shown beside it.
    package enum Kind: String, Hashable, Sendable {
        /// No particular kind.
        case none = ""
        /// A keyword of the language.
        case keyword
        /// A variable.
        case variable
        /// A constant.
        case constant
        /// A function.
        case function
        /// A method.
        case method
        /// A field.
        case field
        /// A module.
        case module
        /// A type.
        case type = "class"
        /// An event.
        case event
        /// A key of a table.
        case key
        /// A string.
        case string
        /// A file.
        case file
        /// A folder.
        case folder
        /// A command of the prompt.
        case command
    }

    /// The text that replaces the range.
    package var text: String
    /// The menu's text, if different.
    package var label: String
    /// The kind, shown in the menu.
    package var kind: Kind
    /// A short detail beside it: a signature, a type.
    package var detail: String
    /// The text that follows an accepted candidate: a parenthesis, a closing quote.
    package var suffix: String
    /// A sentence of documentation, shown below the menu while selected.
    package var documentation: String

    /// Creates a candidate with the text that it inserts, and what the menu shows beside and below it.
    public init(_ text: String, detail: String = "", documentation: String = "") {
        self.init(text, kind: .none, detail: detail, documentation: documentation)
    }

    /// The same with a kind.
    package init(
        _ text: String, label: String? = nil, kind: Kind, detail: String = "", suffix: String = "",
        documentation: String = ""
    ) {
        self.text = text
        self.label = label ?? text
        self.kind = kind
        self.detail = detail
        self.suffix = suffix
        self.documentation = documentation
    }
}

/// The list of candidates below the text, with its selection.
struct CompletionMenu: Sendable {
    let candidates: [CompletionCandidate]
    /// The selected candidate, which is inserted in the text; nil without a selection.
    private(set) var selection: Int?
    /// The first candidate that is visible.
    private var first = 0

    init(_ candidates: [CompletionCandidate]) { self.candidates = candidates }

    var selected: CompletionCandidate? { selection.map { candidates[$0] } }

    /// Moves the selection by a number of candidates, cyclically.
    mutating func advance(by step: Int) {
        guard !candidates.isEmpty else { return }
        guard let current = selection else {
            selection = step > 0 ? 0 : candidates.count - 1
            return
        }
        let next = (current + step) % candidates.count
        selection = next < 0 ? next + candidates.count : next
    }

    /// The lines to show, limited in number; the renderer truncates each.
    ///
    /// With documented candidates, the last line is the documentation, empty without a selection.
    mutating func lines(height: Int, columns: Int) -> [StyledText] {
        let isDocumented = height > 2 && candidates.contains { !$0.documentation.isEmpty }
        let height = max(1, isDocumented ? height - 1 : height)
        let hasMore = candidates.count > height
        let visible = hasMore ? max(1, height - 1) : candidates.count
        if let selection {
            first = min(max(first, selection - visible + 1), selection)
        }
        first = max(0, min(first, candidates.count - visible))
        let shown = first..<first + visible
        let widest = candidates[shown].map { DisplayWidth.of($0.label) }.max() ?? 0
        let labelWidth = min(widest, max(8, columns / 2))
        let kindWidth = candidates[shown].reduce(0) { max($0, $1.kind.rawValue.count) }
        var lines = shown.map { line($0, labelWidth: labelWidth, kindWidth: kindWidth) }
        if hasMore, height > 1 {
            lines.append(StyledText("  \(first + 1)–\(first + visible) of \(candidates.count)", .menuDetail))
        }
        if isDocumented, let documentation = selected?.documentation, !documentation.isEmpty {
            let line = documentation.prefix { !$0.isNewline }
            lines.append(StyledText("  " + line, .notice))
        }
        return lines
    }

    private func line(_ index: Int, labelWidth: Int, kindWidth: Int) -> StyledText {
        let candidate = candidates[index]
        let isSelected = index == selection
        var line = StyledText()
        // The mark shows the selection on a terminal without colours.
        line.append(isSelected ? "▸ " : "  ", .menuText)
        line.append(Self.padded(candidate.label, to: labelWidth), isSelected ? .menuSelection : .menuText)
        if kindWidth > 0 { line.append("  " + Self.padded(candidate.kind.rawValue, to: kindWidth), .menuKind) }
        if !candidate.detail.isEmpty { line.append("  " + candidate.detail, .menuDetail) }
        return line
    }

    /// A text padded to a number of columns, or truncated with an ellipsis.
    private static func padded(_ text: String, to width: Int) -> String {
        let wordWidth = DisplayWidth.of(text)
        if wordWidth <= width { return text + String(repeating: " ", count: width - wordWidth) }
        var cut = ""
        var column = 0
        for character in text {
            let next = column + DisplayWidth.of(character)
            if next > width - 1 { break }
            cut.append(character)
            column = next
        }
        return cut + "…" + String(repeating: " ", count: max(0, width - 1 - column))
    }
}

/// The completion of an editor: the open menu, or the candidates that are to come.
struct CompletionState: Sendable {
    var menu: CompletionMenu?
    /// The range that the menu's selection replaces, while none is selected.
    var range = 0..<0
    /// The candidates that are to come, and the text for which they were requested.
    var awaited: (request: CompletionRequest, revision: Int, isRefinement: Bool)?
    /// Whether further keys wait for Tab's candidates.
    var isAwaiting = false
    /// The number of requests so far.
    var requests = 0
}

/// Completion and the menu of candidates.
extension TerminalLineEditor {
    /// Completes at the cursor: inserts a single candidate, or the common prefix of several, and opens the menu.
    func complete() {
        if let result = candidates(isRefinement: false) { complete(with: result) }
    }

    /// The candidates at the cursor; nil if there are none, or they arrive later.
    private func candidates(isRefinement: Bool) -> CompletionResult? {
        let (text, cursor) = (buffer.text, buffer.utf8Cursor)
        cancelRequest()
        if let result = services.complete(text, cursor) { return result }
        guard let send = services.requestCandidates else { return nil }
        completion.requests += 1
        let request = CompletionRequest(text: text, cursor: cursor, number: completion.requests)
        completion.awaited = (request, buffer.revision, isRefinement)
        completion.isAwaiting = options.waitsForCandidates && !isRefinement
        send(request)
        return nil
    }

    /// Gives up candidates that are to come.
    func cancelRequest() {
        guard let awaited = completion.awaited else { return }
        (completion.awaited, completion.isAwaiting) = (nil, false)
        services.cancelCandidates?(awaited.request)
    }

    /// Gives up candidates for another text, or another place of it.
    func cancelStaleRequest() {
        guard let awaited = completion.awaited else { return }
        let isCurrent =
            isActive && recall.search == nil && awaited.revision == buffer.revision
            && awaited.request.cursor == buffer.utf8Cursor
        if !isCurrent { cancelRequest() }
    }

    func complete(with result: CompletionResult) {
        guard let first = result.candidates.first else { return }
        let range = range(of: result)
        if result.candidates.count == 1 {
            replace(range, with: first, isFinal: true)
            return
        }
        completion.range = range
        let common = result.commonPrefix
        let typed = String(buffer.characters[range])
        if common.utf8.count > typed.utf8.count {
            buffer.replaceAlone(range, with: common)
            completion.range = range.lowerBound..<buffer.cursor
        }
        completion.menu = CompletionMenu(result.candidates)
    }

    /// Handles a key while the menu is open. False if the key's own command is to run as well.
    func handleInMenu(_ key: EditorKey) -> Bool {
        guard let current = completion.menu else { return false }
        let page = max(1, options.menuHeight - 1)
        switch (key, options.keys[key]) {
        case (_, .complete), (_, .down): advance(by: 1)
        case (_, .completeBackward), (_, .up): advance(by: -1)
        case (.press(.pageDown, _), _): advance(by: page)
        case (.press(.pageUp, _), _): advance(by: -page)
        case (_, .cancel):
            if current.selection != nil { buffer.undo() }
            completion.menu = nil
        case (_, .enter):
            guard current.selection != nil else {
                completion.menu = nil
                return false
            }
            acceptSelection()
        case (.press(.character, let modifiers), nil) where modifiers.isSubset(of: .shift):
            // Without a selection a typed character narrows the list; with one it follows the accepted text.
            if current.selection != nil { acceptSelection(suffix: false) }
            return false
        case (_, .edit(.deleteBackward)) where current.selection == nil:
            buffer.perform(.deleteBackward)
            refineMenu(isWord: true)
        default:
            if current.selection != nil { acceptSelection(suffix: false) }
            completion.menu = nil
            return false
        }
        return true
    }

    /// Updates the candidates after the word has changed under an open menu.
    func refineMenu(isWord: Bool) {
        guard completion.menu != nil || completion.awaited?.isRefinement ?? false else { return }
        completion.menu = nil
        if isWord, let result = candidates(isRefinement: true) { refineMenu(with: result) }
    }

    func refineMenu(with result: CompletionResult) {
        let range = range(of: result)
        guard !range.isEmpty, !result.candidates.isEmpty else { return }
        let typed = String(buffer.characters[range])
        if result.candidates.count == 1, result.candidates[0].text == typed { return }
        completion.range = range
        completion.menu = CompletionMenu(result.candidates)
    }

    private func advance(by step: Int) {
        guard var current = completion.menu else { return }
        // Each candidate replaces the previous one, as one undo step.
        if current.selection != nil { buffer.undo() }
        current.advance(by: step)
        completion.menu = current
        if let candidate = current.selected { replace(completion.range, with: candidate, isFinal: false) }
    }

    private func acceptSelection(suffix: Bool = true) {
        if suffix, let candidate = completion.menu?.selected, !candidate.suffix.isEmpty {
            buffer.undo()
            replace(completion.range, with: candidate, isFinal: true)
        }
        completion.menu = nil
    }

    private func replace(_ range: Range<Int>, with candidate: CompletionCandidate, isFinal: Bool) {
        buffer.replaceAlone(range, with: candidate.text + (isFinal ? candidate.suffix : ""))
    }

    /// The range of characters that a result replaces.
    private func range(of result: CompletionResult) -> Range<Int> {
        let lower = buffer.position(ofUTF8: result.replacement.lowerBound)
        return lower..<max(lower, buffer.position(ofUTF8: result.replacement.upperBound))
    }
}
