import Application
import LineEditor
import Scripting
import Wording

/// Shows output longer than the screen in a pager: the user's own or the prompt's.
extension PromptTerminal {
    /// Shows values from the printer, paged if longer than the screen. The text left on the screen is as long as a
    /// short result.
    func page(_ printed: PrintedValues) {
        var rest = printed.text
        // While a line is being edited, only the editor reads keys.
        if isEditing, isRunningEntry, !isLent, let content = content(of: printed), showInPager(content, printed) {
            rest = remains(of: printed)
        }
        draw(rest + printed.picture, toStandardError: false)
    }

    func remains(of printed: PrintedValues) -> String { head(of: printed.text) }

    /// The content for a pager; nil if the output fits on the screen.
    private func content(of printed: PrintedValues) -> (any PagerContent)? {
        if let table = printed.table { return PagerTable(table) }
        let (columns, rows) = (screen.columns, screen.rows)
        guard PagerText.isPageable(printed.text), PagerText.isNeeded(printed.text, rows: rows, columns: columns) else {
            return nil
        }
        return PagerText(printed.text, columns: columns)
    }

    /// The beginning of a text, which stays on the screen.
    func head(of text: String) -> String {
        var lines = PagerText(text, columns: screen.columns)
        let count = lines.count
        let shown = lines.draw(0..<min(count, ValuePrinter.rowLimit(screen.rows)), columns: screen.columns)
        return shown.joined(separator: "\n") + "\n … and \((count - shown.count).counted("more line", "more lines"))\n"
    }

    /// - Returns: false if the content must be drawn by other means.
    private func showInPager(_ content: any PagerContent, _ printed: PrintedValues) -> Bool {
        if let command = Environment.value("PAGER"), !command.isEmpty {
            switch ExternalPager(command).show(printed, in: self) {
            case .shown: return true
            case .failed(let reason): complain("\(reason); the prompt's own pager has it")
            }
        }
        return run(Pager(content, rows: screen.rows, columns: screen.columns))
    }

    /// Serves a pager until it is closed. Events are served meanwhile.
    private func run(_ pager: Pager) -> Bool {
        do { try mode.enter() } catch { return false }
        let shown = PagerScreen(pager, palette: palette)
        pagerScreen = shown
        defer {
            put(shown.hide())
            pagerScreen = nil
            waitWithKeys()
        }
        put(shown.show())
        waitingForUser { serve(shown) }
        return true
    }

    private func serve(_ shown: PagerScreen) {
        while !isEnding {
            let patience = shown.isSearching ? 0 : shown.isWaiting ? 0.04 : nil
            let input = nextInput(within: patience) { !$0.isEmpty }
            let effect: Pager.Effect
            if isInterrupted {
                guard shown.stopSearch() else { return }
                effect = .none
            } else if shown.isEntry(input) {
                typedAhead += input
                return
            } else if !input.isEmpty {
                effect = shown.feed(input)
            } else if shown.isSearching {
                put(shown.searchOn())
                continue
            } else if patience != nil {
                effect = shown.flush()
            } else {
                return
            }
            switch effect {
            case .leave: return
            case .suspend: suspend()
            case .none: put(shown.draw())
            }
        }
    }

    /// Shows the pager again after a return to the foreground.
    func showPager() {
        guard let pagerScreen else { return }
        try? mode.enter()
        resized()
        put(pagerScreen.show())
    }
}
