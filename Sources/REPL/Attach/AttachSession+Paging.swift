import LineEditor
import Scripting

/// Long results at an attached prompt: the prompt pages texts, the host tables.
extension AttachSession {
    func page(_ printed: PrintedValues) {
        if let table = printed.table, isEditing, pager == nil, !isEnded {
            guard environment("PAGER") == nil else { return send(AttachMessage(.page, Self.text(printed))) }
            return open(table, time: printed.time, picture: printed.picture)
        }
        if printer.isWhole { return sendWhole(printed.text) }
        if !printed.text.isEmpty { send(AttachMessage(.page, printed.text)) }
        draw(printed.picture, toStandardError: false)
    }

    /// Sends the result of a command's single entry, of which nothing is dropped for a slow reader: it is in memory anyway.
    private func sendWhole(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            outbox.send(AttachMessage(.page, Array(rest.prefix(1 << 20))))
            rest = rest.dropFirst(1 << 20)
        }
    }

    private func open(_ table: TableText, time: String, picture: String) {
        let content = Pager(PagerTable(table), rows: printer.rows, columns: printer.columns)
        pager = AttachPager(
            PagerScreen(content, palette: palette), loop: host.loop,
            draw: { [unowned self] in if !$0.isEmpty { outbox.send(AttachMessage(.pager, $0)) } },
            onEnd: { [unowned self] typedAhead in
                outbox.send(AttachMessage(.pagerEnd, typedAhead))
                pager = nil
                var table = table
                draw(printer.text(&table, time: time) + "\n" + picture, toStandardError: false)
                for output in held { outbox.send(output: output) }
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
            guard text.utf8.count + piece.utf8.count < AttachOutbox.outputLimit else {
                return text + "… the rest is longer than an attached prompt is sent\n"
            }
            text += piece
        }
        return text
    }
}
