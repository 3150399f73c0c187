/// Handling of keys.
extension TerminalLineEditor {
    func handle(_ key: EditorKey) {
        switch key {
        case .focus(let hasFocus): outcomes.append(.focus(hasFocus))
        case .report(let report): outcomes.append(.report(report))
        case .paste(let text): handlePaste(text)
        case .press(let code, let modifiers):
            if recall.search != nil, handleInSearch(key) { return }
            if completion.menu != nil, handleInMenu(key) { return }
            if let command = options.keys[key] {
                perform(command)
            } else if case .character(let character) = code, modifiers.isSubset(of: .shift) {
                type(character)
            }
        }
    }

    /// Inserts a typed character.
    private func type(_ character: Character) {
        recall.walk = nil
        let isWord = EditBuffer.isWord(character)
        buffer.insert(String(character))
        dedent()
        refineMenu(isWord: isWord)
    }

    private func handlePaste(_ text: String) {
        if recall.search != nil {
            let line = EditBuffer.normalized(text).prefix { !$0.is("\n") }
            recall.search?.append(String(line), in: history)
            return
        }
        completion.menu = nil
        recall.walk = nil
        var cleaned = PastedText.cleaned(
            text, prompts: [prompts.first.text] + options.pastedPrompts,
            continuations: [prompts.further.text] + options.pastedContinuations)
        // A trailing line break would add an empty line, and a paste waits for Enter anyway.
        if buffer.isAtEnd, cleaned.contains("\n") {
            while cleaned.hasSuffix("\n") { cleaned.removeLast() }
        }
        buffer.paste(cleaned)
    }

    func perform(_ command: EditorCommand) {
        switch command {
        case .up, .down, .olderEntry, .newerEntry: break
        default: recall.walk = nil
        }
        switch command {
        case .edit(let command): perform(command)
        case .enter: enter()
        case .newLine: beginNewLine()
        case .submit: submit()
        case .up: if !buffer.moveUp() { recallEntry(older: true) }
        case .down: if !buffer.moveDown() { recallEntry(older: false) }
        case .olderEntry: recallEntry(older: true)
        case .newerEntry: recallEntry(older: false)
        case .searchOlder, .searchNewer: recall.search = HistorySearch(from: buffer)
        case .complete: completeOrIndent()
        case .completeBackward: outdent()
        case .acceptSuggestion: acceptSuggestion(word: false)
        case .interrupt: interrupt()
        case .suspend:
            completion.menu = nil
            if isVisible { markSuspended() }
            // What was typed behind it is the shell's, as far as it is not read yet; here it is dropped, as the kernel
            // does it.
            dropKeys()
            outcomes.append(.suspend)
        case .deleteOrEnd:
            if buffer.isEmpty {
                finish(.endOfInput)
            } else {
                buffer.perform(.deleteForward)
            }
        case .clearScreen: if isVisible { clearScreen() }
        case .cancel: break
        }
    }

    private func perform(_ command: EditCommand) {
        switch command {
        case .moveRight, .moveToLineEnd, .moveToEnd:
            if acceptSuggestion(word: false) { return }
        case .moveWordRight:
            if acceptSuggestion(word: true) { return }
        case .deleteBackward:
            if deleteIndentation() { return }
        default: break
        }
        buffer.perform(command)
    }

    @discardableResult
    private func acceptSuggestion(word isWord: Bool) -> Bool {
        guard let suggestion else { return false }
        let rest = EditBuffer(suggestion)
        let end = isWord ? rest.wordEnd(after: 0) : rest.characters.count
        buffer.replaceAlone(buffer.cursor..<buffer.cursor, with: String(rest.characters[..<end]))
        return true
    }

    /// Clears the line and begins a new one; the cleared text stays on the screen.
    private func interrupt() {
        leaveModes()
        if isVisible { leaveDisplay(mark: "^C") }
        buffer.reset()
        outcomes.append(.interrupt)
    }

    // MARK: Enter

    private func enter() {
        let isRecalled = recall.revision == buffer.revision
        let isAtInnerEnd = !buffer.isOnLastLine && buffer.cursor == buffer.lineEnd(of: buffer.cursor)
        guard isRecalled || !isAtInnerEnd else { return beginNewLine() }
        switch services.completeness(buffer.text) {
        case .complete, .invalid: submit()
        case .incomplete(let indent): beginNewLine(indent: buffer.isAtEnd ? indent : nil)
        }
    }

    private func submit() {
        buffer.closeUndoGroup()
        let text = buffer.text
        history.add(text)
        finish(.submitted(text), margin: services.margin(text))
    }

    /// Breaks the line at the cursor. The new line gets the indentation of its context, unless an unbracketed paste
    /// brings its own.
    private func beginNewLine(indent: Int? = nil) {
        buffer.closeUndoGroup()
        defer { buffer.closeUndoGroup() }
        guard !hasMoreKeys else {
            buffer.insert("\n")
            return
        }
        dedent()
        var columns = indent ?? 0
        if indent == nil, case .incomplete(let wanted) = services.completeness(buffer.textBeforeCursor) {
            columns = wanted
        }
        // An empty line keeps no indentation.
        let start = buffer.lineStart(of: buffer.cursor)
        let isBlank = start < buffer.cursor && buffer.isInIndentation
        let text = "\n" + String(repeating: " ", count: max(0, min(columns, 200)))
        buffer.replace((isBlank ? start : buffer.cursor)..<buffer.cursor, with: text)
    }

    // MARK: Indentation

    /// Reduces the indentation of a line whose first word ends a block.
    private func dedent() {
        guard let indentation = services.indentation, !hasMoreKeys else { return }
        let start = buffer.lineStart(of: buffer.cursor)
        guard start > 0, buffer.cursor == buffer.lineEnd(of: buffer.cursor), !buffer.isInIndentation else { return }
        let line = buffer.line(at: buffer.cursor)
        let word = line.drop(while: \.isWhitespace)
        // Only short words end a block; for other input the service is not called.
        guard word.count <= 8, word.allSatisfy({ EditBuffer.isWord($0) }) || word.count == 1 else { return }
        guard let wanted = indentation(String(buffer.characters[..<start]), line) else { return }
        if wanted < buffer.indentation(ofLineAt: start) { buffer.setIndentation(ofLineAt: start, to: wanted) }
    }

    /// In the leading white space, backspace deletes to the previous tab stop.
    private func deleteIndentation() -> Bool {
        let start = buffer.lineStart(of: buffer.cursor)
        let count = buffer.cursor - start
        guard count > 1, buffer.characters[start..<buffer.cursor].allSatisfy({ $0.is(" ") }) else { return false }
        let width = max(1, options.indentWidth)
        let stop = (count - 1) / width * width
        buffer.replace(start + stop..<buffer.cursor, with: "")
        return true
    }

    private func completeOrIndent() {
        guard !buffer.isEmpty, buffer.isInIndentation else { return complete() }
        let width = max(1, options.indentWidth)
        let column = buffer.cursor - buffer.lineStart(of: buffer.cursor)
        buffer.insert(String(repeating: " ", count: width - column % width))
    }

    private func outdent() {
        let start = buffer.lineStart(of: buffer.cursor)
        let columns = buffer.indentation(ofLineAt: start)
        guard columns > 0 else { return }
        let width = max(1, options.indentWidth)
        buffer.setIndentation(ofLineAt: start, to: (columns - 1) / width * width)
    }
}

/// Finds the counterpart of the bracket at the cursor.
enum BracketMatcher {
    /// The spans to mark: both brackets of a pair, or an unmatched closing one. Brackets in strings and comments, by
    /// the text's styles, are ignored. Complexity: linear in the text and the spans.
    static func spans(in text: String, cursor: Int, styled spans: [StyledSpan]) -> [StyledSpan] {
        let bytes = Array(text.utf8)
        let places = [cursor, cursor - 1].filter(bytes.indices.contains)
        guard let place = places.first(where: { partners[bytes[$0]] != nil }) else { return [] }
        var isHidden = [Bool](repeating: false, count: bytes.count)
        for span in spans where span.style == .string || span.style == .comment || span.style == .escape {
            for index in span.range.clamped(to: bytes.indices) { isHidden[index] = true }
        }
        guard !isHidden[place] else { return [] }
        let opens = isOpening(bytes[place])
        var expected: [UInt8] = []
        for index in stride(from: place, through: opens ? bytes.count - 1 : 0, by: opens ? 1 : -1) {
            guard !isHidden[index], let partner = partners[bytes[index]] else { continue }
            if isOpening(bytes[index]) == opens {
                expected.append(partner)
                continue
            }
            guard expected.popLast() == bytes[index] else { return [StyledSpan(index..<index + 1, .unmatchedBracket)] }
            if expected.isEmpty { return [place, index].map { StyledSpan($0..<$0 + 1, .matchingBracket) } }
        }
        // An unmatched opening bracket is being typed; an unmatched closing one is an error.
        return opens ? [] : [StyledSpan(place..<place + 1, .unmatchedBracket)]
    }

    private static func isOpening(_ byte: UInt8) -> Bool { byte == 0x28 || byte == 0x5B || byte == 0x7B }

    private static let partners: [UInt8: UInt8] = [
        0x28: 0x29, 0x29: 0x28, 0x5B: 0x5D, 0x5D: 0x5B, 0x7B: 0x7D, 0x7D: 0x7B,
    ]
}

/// Converts a pasted text for insertion: normalizes line breaks, and removes prompts copied from a session.
enum PastedText {
    /// The text without prompts.
    ///
    /// If the first line begins with a prompt, the text is a transcript: prompts are removed, and lines without a
    /// prompt, the session's output, are dropped. If all lines but the first begin with a continuation prompt, the
    /// first was copied without its prompt. Any other text is unchanged. A number at the margin of a line with a prompt
    /// is removed, too.
    static func cleaned(_ text: String, prompts: [String], continuations: [String]) -> String {
        let normalized = EditBuffer.normalized(text)
        var lines = normalized.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        while lines.count > 1, lines.first?.allSatisfy(\.isWhitespace) ?? false { lines.removeFirst() }
        guard let first = lines.first else { return normalized }
        if strip(first, prompts) != nil {
            return lines.compactMap { line in
                strip(line, prompts).map(withoutMargin) ?? strip(line, continuations)
            }.joined(separator: "\n")
        }
        let rest = lines.dropFirst()
        if !rest.isEmpty {
            let stripped = rest.compactMap { strip($0, continuations) }
            if stripped.count == rest.count { return ([first] + stripped).joined(separator: "\n") }
        }
        return normalized
    }

    /// The line without a trailing number that follows at least four blanks.
    private static func withoutMargin(_ line: String) -> String {
        let bytes = Array(line.utf8)
        var end = bytes.count
        // From the end, in one pass: a pasted line may be long, and mostly blank.
        func skip(_ isSkipped: (UInt8) -> Bool) -> Int {
            let start = end
            while end > 0, isSkipped(bytes[end - 1]) { end -= 1 }
            return start - end
        }
        _ = skip { $0 == 0x20 }
        guard (1...6).contains(skip { (0x30...0x39).contains($0) }), skip({ $0 == 0x20 }) >= 4 else { return line }
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    /// The line without its prompt; nil if it has none. Copying may drop trailing blanks, so a prompt alone matches
    /// without them.
    private static func strip(_ line: String, _ prompts: [String]) -> String? {
        for prompt in prompts.sorted(by: { $0.count > $1.count }) where !prompt.isEmpty {
            if line.hasPrefix(prompt) { return String(line.dropFirst(prompt.count)) }
            let bare = String(prompt.reversed().drop(while: \.isWhitespace).reversed())
            if !bare.isEmpty, line == bare { return "" }
        }
        return nil
    }
}
