/// Handling of keys.
extension LineEditor {
    func handle(_ key: Key) {
        switch key {
        case .focus(let hasFocus): outcomes.append(.focus(hasFocus))
        case .report(let report): outcomes.append(.report(report))
        case .paste(let text): handlePaste(text)
        case .press(let code, let modifiers):
            if search != nil, handleInSearch(key) { return }
            if menu != nil, handleInMenu(key) { return }
            if let command = options.keys[key] {
                perform(command)
            } else if case .character(let character) = code, modifiers.isSubset(of: .shift) {
                type(character)
            }
        }
    }

    /// Inserts a typed character.
    private func type(_ character: Character) {
        walk = nil
        let isWord = EditBuffer.isWord(character)
        buffer.insert(String(character))
        dedent()
        refineMenu(isWord: isWord)
    }

    private func handlePaste(_ text: String) {
        if search != nil {
            let line = EditBuffer.normalized(text).prefix { !$0.is("\n") }
            search?.append(String(line), in: history)
            return
        }
        menu = nil
        walk = nil
        var cleaned = PastedText.cleaned(
            text, prompts: [prompt.text] + options.pastedPrompts,
            continuations: [continuationPrompt.text] + options.pastedContinuations)
        // A trailing line break would add an empty line, and a paste waits for Enter anyway.
        if buffer.isAtEnd, cleaned.contains("\n") {
            while cleaned.hasSuffix("\n") { cleaned.removeLast() }
        }
        buffer.paste(cleaned)
    }

    func perform(_ command: EditorCommand) {
        switch command {
        case .up, .down, .olderEntry, .newerEntry: break
        default: walk = nil
        }
        switch command {
        case .edit(let command): perform(command)
        case .enter: enter()
        case .newLine: beginNewLine()
        case .submit: submit()
        case .up: if !buffer.moveUp() { recall(older: true) }
        case .down: if !buffer.moveDown() { recall(older: false) }
        case .olderEntry: recall(older: true)
        case .newerEntry: recall(older: false)
        case .searchOlder, .searchNewer: search = HistorySearch(from: buffer)
        case .complete: completeOrIndent()
        case .completeBackward: outdent()
        case .acceptSuggestion: acceptSuggestion(wholeWords: nil)
        case .interrupt: interrupt()
        case .suspend:
            menu = nil
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
            if acceptSuggestion(wholeWords: false) { return }
        case .moveWordRight:
            if acceptSuggestion(wholeWords: true) { return }
        case .deleteBackward:
            if deleteIndentation() { return }
        default: break
        }
        buffer.perform(command)
    }

    @discardableResult
    private func acceptSuggestion(wholeWords: Bool?) -> Bool {
        guard let suggestion else { return false }
        buffer.closeUndoGroup()
        if wholeWords == true {
            let rest = EditBuffer(suggestion)
            buffer.insert(String(rest.characters[..<rest.wordEnd(after: 0)]))
        } else {
            buffer.insert(suggestion)
        }
        buffer.closeUndoGroup()
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
        let isRecalled = recalledRevision == buffer.revision
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
        if indent == nil {
            switch services.completeness(buffer.textBeforeCursor) {
            case .incomplete(let wanted): columns = wanted
            case .complete, .invalid: columns = 0
            }
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
