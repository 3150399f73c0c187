import CSV
import Files
import KeyedArchive
import PropertyList
import TimeZones

/// Writes a timeline in a format, with a report around it if there is one.
struct TimelineOutput {
    /// The formats of a timeline.
    enum Format: String, CaseIterable { case table, csv, jsonl, html }

    private let timeline: Timeline
    private let zone: Zone
    private let provenance: Provenance?
    private let output: TextOutput

    private static let columns = ["time", "file", "sha256", "path", "class", "epoch"]

    /// - Parameters:
    ///   - timeline: a sorted one.
    ///   - zone: the zone of its times.
    ///   - provenance: the report; nil for none.
    ///   - output: receives the text.
    init(_ timeline: Timeline, zone: Zone, provenance: Provenance?, _ output: TextOutput) {
        (self.timeline, self.zone, self.provenance, self.output) = (timeline, zone, provenance, output)
    }

    func write(as format: Format) throws {
        switch format {
        case .table: writeTable()
        case .csv: try writeCSV()
        case .jsonl: writeLines()
        case .html: writePage()
        }
        output.flush()
    }

    /// A date in ISO 8601, by the clock of a zone: with Z in UTC, else with the difference from it.
    static func text(_ date: PropertyListDate, _ zone: Zone) -> String {
        // At the end of the calendar no clock is ahead of UTC.
        guard zone != .utc, let (seconds, fraction) = date.parts, abs(seconds) < CalendarDate.limit - 2 * 86400 else {
            return date.exchangeText
        }
        let offset = zone.offset(at: Int64(seconds)).seconds
        let local = PropertyListDate(secondsSince1970: seconds + offset, fraction: "").exchangeText.dropLast()
        return local + (fraction.isEmpty ? "" : ".\(fraction)") + UTCOffset.text(offset, ":")
    }

    private func cells(_ event: Timeline.Event) -> [String] {
        let file = timeline.files[event.file]
        return [
            Self.text(event.date, zone), ArchiveFiles.name(file.path), file.digest, event.path, event.className,
            event.epoch.name,
        ]
    }

    // MARK: - Formats

    private func writeTable() {
        if let provenance { provenance.head.forEach { output.line([(.detail, $0)]) } }
        // A terminal has no room for the digests: the report has them whole.
        func row(_ event: Timeline.Event) -> [String] {
            var cells = cells(event)
            if output.columns != nil { cells[2] = cells[2].prefix(12) + "…" }
            return cells.map(TextTable.plain)
        }
        var widths = Self.columns.map(\.count)
        for event in timeline.events {
            for (index, cell) in row(event).enumerated() { widths[index] = max(widths[index], DisplayWidth.of(cell)) }
        }
        func line(_ cells: [String]) -> String {
            let padded = zip(cells, widths).dropLast().map { cell, width in
                cell + String(repeating: " ", count: width - DisplayWidth.of(cell) + 2)
            }
            return padded.joined() + (cells.last ?? "")
        }
        if timeline.events.isEmpty {
            output.line([(.detail, "no dates")])
        } else {
            output.line([(.label, line(Self.columns))])
        }
        for event in timeline.events where !output.isClosed { output.append(line(row(event)) + "\n") }
        if let provenance { provenance.foot.forEach { output.line([(.detail, $0)]) } }
    }

    private func writeCSV() throws {
        if let provenance { Provenance.write(provenance.head, toError: true) }
        var writer = try CSVWriter()
        writer.appendRow(Self.columns)
        for event in timeline.events where !output.isClosed {
            writer.appendRow(cells(event))
            if writer.bytes.count > 1 << 16 { output.append(raw: writer.take()) }
        }
        output.append(raw: writer.take())
        output.flush()
        if let provenance { Provenance.write(provenance.foot, toError: true) }
    }

    private func writeLines() {
        if let provenance { output.append(json: provenance.headLine) }
        var text = JSONText(.compact)
        for event in timeline.events where !output.isClosed {
            text.append("{")
            for (index, (name, cell)) in zip(Self.columns, cells(event)).enumerated() {
                text.next(1, isFirst: index == 0)
                text.key(name)
                text.string(cell)
            }
            text.append("}\n")
            if text.bytes.count > 1 << 16 { output.append(json: text.take()) }
        }
        output.append(json: text.take())
        if let provenance { output.append(json: provenance.footLine) }
    }

    private func writePage() {
        let count = timeline.events.count.counted("date")
        let files = Set(timeline.events.map(\.file)).count.counted("file")
        output.append(EvidencePage.head(title: "Timeline", summary: "\(count) in \(files)"))
        if let provenance { output.append(provenance.headHTML) }
        output.append("<table>\n<thead><tr>\(Self.columns.map { "<th>\($0)</th>" }.joined())</tr></thead>\n<tbody>\n")
        for event in timeline.events where !output.isClosed {
            var row = "<tr>"
            for (name, cell) in zip(Self.columns, cells(event)) {
                let style =
                    switch name {
                    case "time": " class=\"time\""
                    case "sha256": " class=\"digest\""
                    case "class": " class=\"kind\""
                    default: ""
                    }
                row += "<td\(style)>\(HTMLText.escaped(cell))</td>"
            }
            output.append(row + "</tr>\n")
        }
        output.append("</tbody>\n</table>\n")
        if let provenance { output.append(provenance.footHTML) }
        output.append(EvidencePage.foot)
    }
}

/// A page of one file that needs nothing else, for a screen and for paper.
enum EvidencePage {
    static func head(title: String, summary: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
        <meta name="generator" content="Cubby">
        <title>\(HTMLText.escaped(title))</title>
        <style>
        \(style)</style>
        </head>
        <body>
        <h1>\(HTMLText.escaped(title))</h1>
        <p>\(HTMLText.escaped(summary))</p>

        """
    }

    static let foot = "</body>\n</html>\n"

    private static let style = """
        :root { color-scheme: light; }
        body { font: 14px/1.4 system-ui, sans-serif; margin: 1.5rem; color: #1d1d1f; background: #fff; }
        h1 { font-size: 1.6rem; margin: 0; }
        h2 { font-size: 1.1rem; margin: 1.4rem 0 .4rem; break-after: avoid; }
        dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
        dt { color: #6b6b70; }
        dd { margin: 0; overflow-wrap: anywhere; }
        table { border-collapse: collapse; width: 100%; font-size: .85rem; }
        thead { display: table-header-group; }
        tr { break-inside: avoid; }
        th { text-align: left; border-bottom: 1.5px solid #1d1d1f; }
        th, td { padding: .15rem .5rem .15rem 0; vertical-align: top; overflow-wrap: anywhere; }
        th, td:last-child:not(.digest) { white-space: nowrap; }
        td { border-bottom: 1px solid #d8d8dc; font-variant-numeric: tabular-nums; }
        td.time { white-space: nowrap; }
        td.kind { min-width: 8ch; }
        td.digest { font: .6rem/1.3 ui-monospace, monospace; min-width: 33ch; word-break: break-all; }
        li { overflow-wrap: anywhere; }
        @page {
          size: A4 landscape;
          margin: 15mm;
          @bottom-right { content: "Page " counter(page) " of " counter(pages); color: #6b6b70; font: 8pt system-ui, sans-serif; }
        }
        @media print { body { margin: 0; font-size: 9pt; } * { print-color-adjust: exact; } }

        """
}
