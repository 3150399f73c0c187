/// Completion and the menu of candidates.
extension LineEditor {
    /// Completes at the cursor: inserts a single candidate, or the common prefix of several, and opens the menu.
    func complete() {
        if let result = candidates(isRefinement: false) { complete(with: result) }
    }

    /// The candidates at the cursor; nil if there are none, or they arrive later.
    private func candidates(isRefinement: Bool) -> CompletionResult? {
        let (text, cursor) = (buffer.text, buffer.utf8Cursor)
        if let result = services.complete(text, cursor) { return result }
        if let request = services.requestCandidates {
            awaited = (buffer.revision, cursor, isRefinement)
            isAwaitingCandidates = !isRefinement
            request(text, cursor)
        }
        return nil
    }

    func complete(with result: CompletionResult) {
        guard let first = result.candidates.first else { return }
        let range = range(of: result)
        if result.candidates.count == 1 {
            replace(range, with: first, isFinal: true)
            return
        }
        menuRange = range
        let common = result.commonPrefix
        let typed = String(buffer.characters[range])
        if common.utf8.count > typed.utf8.count {
            buffer.closeUndoGroup()
            buffer.replace(range, with: common)
            buffer.closeUndoGroup()
            menuRange = range.lowerBound..<buffer.cursor
        }
        menu = CompletionMenu(result.candidates)
    }

    /// Handles a key while the menu is open. False if the key's own command is to run as well.
    func handleInMenu(_ key: Key) -> Bool {
        guard let current = menu else { return false }
        let page = max(1, options.menuHeight - 1)
        switch (key, options.keys[key]) {
        case (_, .complete), (_, .down): advance(by: 1)
        case (_, .completeBackward), (_, .up): advance(by: -1)
        case (.press(.pageDown, _), _): advance(by: page)
        case (.press(.pageUp, _), _): advance(by: -page)
        case (_, .cancel):
            if current.selection != nil { buffer.undo() }
            menu = nil
        case (_, .enter):
            guard current.selection != nil else {
                menu = nil
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
            menu = nil
            return false
        }
        return true
    }

    /// Updates the candidates after the word has changed under an open menu.
    func refineMenu(isWord: Bool) {
        guard menu != nil else { return }
        menu = nil
        if isWord, let result = candidates(isRefinement: true) { refineMenu(with: result) }
    }

    func refineMenu(with result: CompletionResult) {
        let range = range(of: result)
        guard !range.isEmpty, !result.candidates.isEmpty else { return }
        let typed = String(buffer.characters[range])
        if result.candidates.count == 1, result.candidates[0].text == typed { return }
        menuRange = range
        menu = CompletionMenu(result.candidates)
    }

    private func advance(by step: Int) {
        guard var current = menu else { return }
        // Each candidate replaces the previous one, as one undo step.
        if current.selection != nil { buffer.undo() }
        current.advance(by: step)
        menu = current
        if let candidate = current.selected { replace(menuRange, with: candidate, isFinal: false) }
    }

    private func acceptSelection(suffix: Bool = true) {
        if suffix, let candidate = menu?.selected, !candidate.suffix.isEmpty {
            buffer.undo()
            replace(menuRange, with: candidate, isFinal: true)
        }
        menu = nil
    }

    private func replace(_ range: Range<Int>, with candidate: Candidate, isFinal: Bool) {
        buffer.closeUndoGroup()
        buffer.replace(range, with: candidate.text + (isFinal ? candidate.suffix : ""))
        buffer.closeUndoGroup()
    }

    /// The range of characters that a result replaces.
    private func range(of result: CompletionResult) -> Range<Int> {
        let lower = buffer.position(ofUTF8: result.replacement.lowerBound)
        return lower..<max(lower, buffer.position(ofUTF8: result.replacement.upperBound))
    }
}
