import LineEditor
import Scripting

/// Long results at an attached prompt: the prompt pages texts, the host tables.
extension AttachSession {
    func page(_ printed: PrintedValues) {
        if let table = printed.table, isEditing, pager == nil, !isEnded {
            guard environment("PAGER") == nil else { return send(AttachMessage(.page, Self.text(printed))) }
            return open(table, time: printed.time, picture: printed.picture)
        }
        if !printed.text.isEmpty { send(AttachMessage(.page, printed.text)) }
        draw(printed.picture, toStandardError: false)
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
