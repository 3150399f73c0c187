import Application
import LineEditor
import Scripting

/// The pager of a table at an attached prompt. It runs in the host, which has the rows: keys come in, drawings go out.
/// A page of a million rows costs the same as at the host's own prompt.
final class AttachPager {
    private static let interruptKey: [UInt8] = [0x03]
    /// Seconds after which a single escape is a key.
    private static let patience = 0.04

    let screen: PagerScreen
    private let loop: EventLoop
    private let draw: ([UInt8]) -> Void
    private let onEnd: (_ typedAhead: [UInt8]) -> Void
    private var timer: LoopTimer?

    /// - Parameters:
    ///   - screen: the pager.
    ///   - loop: the thread's loop.
    ///   - draw: writes to the prompt's terminal.
    ///   - onEnd: called when the pager is closed, with input for the next entry.
    init(
        _ screen: PagerScreen, loop: EventLoop, draw: @escaping ([UInt8]) -> Void,
        onEnd: @escaping (_ typedAhead: [UInt8]) -> Void
    ) {
        self.screen = screen
        self.loop = loop
        self.draw = draw
        self.onEnd = onEnd
        draw(screen.show())
    }

    deinit { timer?.cancel() }

    /// Takes input; without bytes, draws the whole screen.
    func take(_ bytes: [UInt8]) {
        timer?.cancel()
        if bytes.isEmpty {
            _ = screen.hide()
            return draw(screen.show())
        }
        if bytes == Self.interruptKey {
            guard screen.stopSearch() else { return end() }
            return perform(.none)
        }
        if screen.isEntry(bytes) { return end(bytes) }
        perform(screen.feed(bytes))
    }

    func resize(columns: Int, rows: Int) { draw(screen.resize(columns: columns, rows: rows)) }

    private func perform(_ effect: Pager.Effect) {
        switch effect {
        case .leave: return end()
        // The prompt suspends itself.
        case .suspend: break
        case .none: draw(screen.draw())
        }
        schedule()
    }

    private func schedule() {
        if screen.isSearching {
            timer = loop.after(0) { [weak self] in
                guard let self else { return }
                draw(screen.searchOn())
                schedule()
            }
        } else if screen.isWaiting {
            timer = loop.after(Self.patience) { [weak self] in
                guard let self else { return }
                perform(screen.flush())
            }
        }
    }

    private func end(_ typedAhead: [UInt8] = []) {
        timer?.cancel()
        draw(screen.hide())
        onEnd(typedAhead)
    }
}

/// Long results at an attached prompt: the prompt pages texts, the host tables.
extension AttachSession {
    func page(_ printed: PrintedValues) {
        if let table = printed.table, isEditing, pager == nil, !isEnded {
            guard environment("PAGER") == nil else { return send(AttachMessage(.page, Self.text(printed))) }
            return open(table, time: printed.time, picture: printed.picture)
        }
        if session.printer.isWhole { return sendWhole(printed.text) }
        if !printed.text.isEmpty { send(AttachMessage(.page, printed.text)) }
        draw(printed.picture, toStandardError: false)
    }

    /// Sends the result of a command's single entry, of which nothing is dropped for a slow reader: it is in memory anyway.
    private func sendWhole(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            channel.send(AttachMessage(.page, Array(rest.prefix(1 << 20))))
            rest = rest.dropFirst(1 << 20)
        }
    }

    private func open(_ table: TableText, time: String, picture: String) {
        let content = Pager(PagerTable(table), rows: session.printer.rows, columns: session.printer.columns)
        pager = AttachPager(
            PagerScreen(content, palette: palette), loop: host.loop,
            draw: { [unowned self] in if !$0.isEmpty { channel.send(AttachMessage(.pager, $0)) } },
            onEnd: { [unowned self] typedAhead in
                channel.send(AttachMessage(.pagerEnd, typedAhead))
                let entry = pager?.screen.entry
                pager = nil
                var table = table
                draw(session.printer.text(&table, time: time) + "\n" + picture, toStandardError: false)
                if let entry { session.print(StyledText(entry + "\n", .dimmed)) }
                for output in held { channel.send(output: output) }
                held = []
                guard isHeld else { return }
                isHeld = false
                ended()
            })
    }

    /// A table's text for the `PAGER` of the prompt, limited in size.
    private static func text(_ printed: PrintedValues) -> String {
        var text = ""
        for piece in ExternalPager.pieces(of: printed) {
            guard text.utf8.count + piece.utf8.count < Channel.outputLimit else {
                return text + "… the rest is longer than an attached prompt is sent\n"
            }
            text += piece
        }
        return text
    }
}
