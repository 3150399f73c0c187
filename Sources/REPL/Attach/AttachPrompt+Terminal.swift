import Application
import Files
import Glibc
import LineEditor

/// The terminal of an attached prompt.
extension AttachPrompt {
    var screen: TerminalSize { shared.size }
    var screenColumns: Int { screen.columns }
    var palette: TerminalPalette { settings.palette }
    var isEditing: Bool { console.lines.isEditing }
    var isEnding: Bool { status != nil }
    var isLent: Bool { false }

    func waitWithKeys() {
        console.forgetEscape()
        console.holdKeys()
    }

    func lendTerminal() {
        console.forgetEscape()
        console.mode.leave()
    }

    func takeTerminalBack() { waitWithKeys() }

    func turn(timeout: Double?) -> Bool {
        console.loop.runOnce(timeout: timeout)
        return true
    }

    func waitingForUser<Value>(_ body: () -> Value) -> Value { body() }

    func put(_ bytes: [UInt8]) { AttachClient.put(bytes) }

    func draw(_ text: String, toStandardError: Bool) {
        show(Array(text.utf8), toStandardError: toStandardError)
    }

    func page(_ printed: PrintedValues) { console.pager.page(printed) }

    func remains(of printed: PrintedValues) -> String { console.pager.head(of: printed.text) }

    func leaveEditing() {
        console.forgetEscape()
        console.pager.hide()
        if isPaging { put(Array(PagerScreen.leaving.utf8)) }
        console.mode.leave()
    }

    func resized() {
        guard let size = TerminalSize(descriptor: StandardDescriptor.output), size != shared.size else { return }
        shared.size = size
        channel.send(AttachMessage(.screen, shared.json))
        perform(console.lines.resize(size))
        console.pager.resize(columns: size.columns, rows: size.rows)
    }

    func suspend() {
        leaveEditing()
        _ = signals.stop { false }
        // It has nothing to do in the background but to read the terminal.
        stopInBackground()
        resized()
        if console.pager.isOpen { return console.pager.resume() }
        if isPaging {
            try? console.mode.enter()
            return channel.send(AttachMessage(.keys))
        }
        if isRunningEntry { return waitWithKeys() }
        if isEditing { try? console.mode.enter() }
        perform(console.lines.resume())
    }

    /// Stops this process while it is in the background, as a read of the terminal does it.
    func stopInBackground() {
        while console.isInputTerminal, console.jobState == .background {
            let outcome = signals.stop(by: .backgroundRead) { [console] in console.jobState != .background }
            guard outcome == .done else { return }
        }
    }

    func readable() {
        stopInBackground()
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(StandardDescriptor.input, &bytes, bytes.count)
        guard count > 0 else {
            if count < 0, errno == EINTR || errno == EAGAIN { return }
            return perform(console.lines.end())
        }
        // Keys can arrive before the signal of a new size; the entry that they end must fit the new size.
        resized()
        if isPaging {
            if bytes[..<count].contains(0x1A) { return suspend() }
            return channel.send(AttachMessage(.keys, Array(bytes[..<count])))
        }
        perform(console.lines.feed(bytes[..<count]))
        console.awaitEscape()
    }

    func perform(_ outcomes: [EditorOutcome]) {
        for outcome in outcomes {
            switch outcome {
            case .write(let bytes): put(bytes)
            case .submitted(let text): submitted(text)
            case .endOfInput:
                isAtEnd = true
                if isEditing { put([0x0A]) }
                if !isRunningEntry, waiting.isEmpty { status = statusAtEnd }
            case .suspend: suspend()
            case .report(let report):
                let before = shared.capabilities
                shared.capabilities.take(report)
                if shared.capabilities != before { channel.send(AttachMessage(.screen, shared.json)) }
                if let background = shared.capabilities.background { settings.background = background }
            case .interrupt, .focus: break
            }
        }
    }
}
