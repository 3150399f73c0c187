import Application
import LineEditor
import Scripting
import Wording

/// Shows what is longer than the screen in a pager, the user's own or the prompt's.
extension REPL {
    /// Prints a text, paged if longer than the screen, with data escaped.
    func page(_ text: String) { page(PrintedValues(VisibleText.escaped(text))) }

    /// The same for values from the printer, with pictures. What is left on the screen is as long as a short result.
    func page(_ printed: PrintedValues) {
        var rest = printed.text
        // While a line is being edited, only the editor reads keys.
        if isEditing, isRunningEntry, let content = content(of: printed), showInPager(content, printed) {
            // For the screen as it is now.
            if var table = printed.table {
                rest = printer.text(&table, time: printed.time) + "\n"
            } else {
                rest = head(of: rest)
            }
        }
        draw(rest + printed.picture)
    }

    /// What a pager shows; nil for what fits on the screen.
    private func content(of printed: PrintedValues) -> (any PagerContent)? {
        if let table = printed.table { return PagerTable(table) }
        let (columns, rows) = (printer.columns, printer.rows)
        guard PagerText.isPageable(printed.text), PagerText.isNeeded(printed.text, rows: rows, columns: columns) else {
            return nil
        }
        return PagerText(printed.text, columns: columns)
    }

    /// The beginning of a text that stays on the screen.
    private func head(of text: String) -> String {
        var lines = PagerText(text, columns: printer.columns)
        let count = lines.count
        let shown = lines.draw(0..<min(count, printer.rowLimit), columns: printer.columns)
        return shown.joined(separator: "\n") + "\n … and \((count - shown.count).counted("more line", "more lines"))\n"
    }

    /// - Returns: false when the content has to be drawn by other means.
    private func showInPager(_ content: any PagerContent, _ printed: PrintedValues) -> Bool {
        if let command = Environment.value("PAGER"), !command.isEmpty {
            switch ExternalPager(command).show(printed, in: self) {
            case .shown: return true
            case .failed(let reason): complain("\(reason); the prompt's own pager has it")
            }
        }
        return run(Pager(content, rows: printer.rows, columns: printer.columns))
    }

    /// Serves a pager until it is left. Events are served meanwhile.
    private func run(_ pager: Pager) -> Bool {
        do { try mode.enter() } catch { return false }
        let screen = PagerScreen(pager, palette: palette)
        pagerScreen = screen
        defer {
            put(screen.hide())
            pagerScreen = nil
            waitWithKeys()
        }
        put(screen.show())
        while host.exitCode == nil, !host.isCancelRequested {
            let patience = screen.isSearching ? 0 : screen.isWaiting ? 0.04 : nil
            let input = nextInput(within: patience) { !$0.isEmpty }
            let effect: Pager.Effect
            if isInterrupted {
                guard screen.stopSearch() else { return true }
                effect = .none
            } else if screen.isEntry(input) {
                typedAhead += input
                return true
            } else if !input.isEmpty {
                effect = screen.feed(input)
            } else if screen.isSearching {
                put(screen.searchOn())
                continue
            } else if patience != nil {
                effect = screen.flush()
            } else {
                return true
            }
            switch effect {
            case .leave: return true
            case .suspend:
                leaveEditing()
                host.handle(.suspend, cause: .sigtstp)
            case .none: put(screen.draw())
            }
        }
        return true
    }

    /// Shows the pager again after a return to the foreground.
    func showPager() {
        guard let pagerScreen else { return }
        try? mode.enter()
        resized()
        put(pagerScreen.show())
    }
}
