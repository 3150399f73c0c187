import PropertyList

/// The HTML of a report.
struct ReportPage {
    private let content: ReportContent
    private let options: ItemReport.Options
    private let pictureCount: Int

    init(_ content: ReportContent, _ options: ItemReport.Options, pictures: Int) {
        (self.content, self.options, pictureCount) = (content, options, pictures)
    }

    /// The page before the items: heading, totals.
    var head: String {
        let title = HTMLText.escaped(options.title)
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
            <meta name="generator" content="Cubby">
            <title>\(title)</title>
            <style>
            \(style)</style>
            </head>
            <body>
            <header>
            <h1>\(title)</h1>
            \(summary)</header>
            <main>
            \(totals)
            """
    }

    /// The page after the items.
    let foot = "</main>\n</body>\n</html>\n"

    private var itemCount: Int { content.sections.reduce(0) { $0 + $1.items.count } }

    private var summary: String {
        var parts = [itemCount.counted("item")]
        if content.value != nil { parts.append(content.text(content.total)) }
        if pictureCount > 0 { parts.append(pictureCount.counted("picture")) }
        if !options.date.isEmpty { parts.append(options.date) }
        var text = "<p>\(parts.map(HTMLText.escaped).joined(separator: " · "))</p>\n"
        if let condition = options.condition {
            text += "<p>Of all items those for which <code>\(HTMLText.escaped(condition))</code></p>\n"
        }
        if content.total.misfits > 0, let value = content.value {
            text +=
                "<p>\(content.total.misfits.counted("item")) with a \(HTMLText.escaped(value)) that is not a number: "
            text += "not in the totals</p>\n"
        }
        return text
    }

    private var totals: String {
        guard let group = content.group, !content.sections.isEmpty else { return "" }
        func row(_ kind: String, _ title: String, _ count: Int, _ sum: ReportSum) -> String {
            let amount = content.value == nil ? "" : "<td>\(HTMLText.escaped(content.text(sum)))</td>"
            return "<tr><\(kind)>\(title)</\(kind)><td>\(count.grouped)</td>\(amount)</tr>\n"
        }
        let name = HTMLText.escaped(group)
        let amount = content.value.map { "<th>\(HTMLText.escaped($0))</th>" } ?? ""
        var text = "<section class=\"totals\">\n<h2>Totals by \(name)</h2>\n<table>\n"
        text += "<thead><tr><th>\(name)</th><th>items</th>\(amount)</tr></thead>\n<tbody>\n"
        for section in content.sections { text += row("td", title(section), section.items.count, section.sum) }
        text += "</tbody>\n<tfoot>\n\(row("th", "Total", itemCount, content.total))</tfoot>\n</table>\n</section>\n"
        return text
    }

    /// The heading of a section.
    private func title(_ section: ReportContent.Section) -> String {
        section.title.isEmpty ? "(no \(HTMLText.escaped(content.group ?? "")))" : HTMLText.escaped(section.title)
    }

    /// The beginning of a section, before its rows.
    func start(ofSection number: Int) -> String {
        let section = content.sections[number]
        var text = "<section>\n"
        if content.group != nil {
            var parts = [section.items.count.counted("item")]
            if content.value != nil { parts.append(content.text(section.sum)) }
            text +=
                "<h2>\(title(section)) <small>\(parts.map(HTMLText.escaped).joined(separator: " · "))</small></h2>\n"
        }
        text += "<table class=\"items\">\n<thead><tr><th>No.</th>"
        text += pictureCount > 0 ? "<th>Picture</th>" : ""
        text += "<th>Item</th>" + (content.value.map { "<th>\(HTMLText.escaped($0))</th>" } ?? "")
        return text + "</tr></thead>\n<tbody>\n"
    }

    let endOfSection = "</tbody>\n</table>\n</section>\n"

    /// An item.
    ///
    /// - Parameters:
    ///   - number: its number in the report, from 1.
    ///   - row: its texts.
    ///   - pictures: its pictures, as JPEG files; nil for one that could not be read.
    /// - Returns: the row of the table.
    func row(_ number: Int, _ row: ReportContent.Row, _ pictures: [[UInt8]?]) -> String {
        let name = row.name.isEmpty ? "(no name)" : row.name
        var text = "<tr><td>\(number)</td>"
        if pictureCount > 0 { text += "<td>\(pictures.first.map { picture($0, name) } ?? "")</td>" }
        text += "<td><strong>\(HTMLText.escaped(name))</strong>"
        if !row.fields.isEmpty {
            text += "<dl>"
            for (name, value) in row.fields {
                text += "<div><dt>\(HTMLText.escaped(name))</dt><dd>\(HTMLText.escaped(value))</dd></div>"
            }
            text += "</dl>"
        }
        let further = pictures.dropFirst()
        if !further.isEmpty { text += "<p class=\"further\">\(further.map { picture($0, name) }.joined())</p>" }
        text += "</td>"
        if content.value != nil { text += "<td>\(HTMLText.escaped(row.value))</td>" }
        return text + "</tr>\n"
    }

    private func picture(_ bytes: [UInt8]?, _ name: String) -> String {
        guard let bytes else { return "<em>(the picture cannot be read)</em>" }
        return "<img src=\"data:image/jpeg;base64,\(Base64.text(bytes))\" alt=\"\(HTMLText.escaped(name))\">"
    }

    /// The style sheet. The margins of a printed page have the title, the date and the page's number.
    private var style: String {
        """
        :root { color-scheme: light; }
        * { box-sizing: border-box; }
        body { margin: 2rem auto; padding: 0 1rem; max-width: 60rem; background: #fff; color: #1d1d1f; font: 15px/1.4 system-ui, sans-serif; }
        h1 { margin: 0; font-size: 1.6rem; overflow-wrap: anywhere; }
        h2 { margin: 1.6rem 0 .4rem; font-size: 1.15rem; break-after: avoid; overflow-wrap: anywhere; }
        h2 small { margin-left: .4rem; color: #6b6b70; font-size: .85rem; font-weight: normal; }
        header p { margin: .2rem 0 0; color: #6b6b70; overflow-wrap: anywhere; }
        table { width: 100%; border-collapse: collapse; }
        th, td { padding: .35rem .5rem; text-align: left; vertical-align: top; border-bottom: 1px solid #dedcd6; }
        thead th { color: #6b6b70; font-size: .8rem; font-weight: normal; }
        tr { break-inside: avoid; }
        .totals { break-inside: avoid; }
        .totals table { width: auto; min-width: 50%; }
        .totals th + th, .totals td { text-align: right; }
        .totals td:first-child { text-align: left; }
        .totals td, .items td:last-child { font-variant-numeric: tabular-nums; }
        tfoot { display: table-row-group; }
        tfoot th, tfoot td { border-bottom: 0; font-weight: bold; }
        .items th:first-child, .items td:first-child { width: 3rem; color: #6b6b70; }
        \(content.value == nil ? "" : ".items th:last-child, .items td:last-child { width: 8rem; text-align: right; overflow-wrap: anywhere; }")
        \(pictureCount == 0 ? "" : ".items th:nth-child(2), .items td:nth-child(2) { width: 32mm; }")
        img { display: block; max-width: 28mm; max-height: 28mm; }
        .further { display: flex; flex-wrap: wrap; gap: 2mm; margin: .4rem 0 0; }
        .further img { max-width: 18mm; max-height: 18mm; }
        strong { overflow-wrap: anywhere; white-space: pre-wrap; }
        dl { display: flex; flex-wrap: wrap; gap: 0 1rem; margin: .15rem 0 0; font-size: .9rem; }
        dl div { display: flex; gap: .35rem; min-width: 0; }
        dt { color: #6b6b70; }
        dd { margin: 0; min-width: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
        @page {
          margin: 20mm 15mm;
          @top-left { content: \(HTMLText.styleString(options.title)); color: #6b6b70; font: 9pt system-ui, sans-serif; }
          @bottom-left { content: \(HTMLText.styleString(options.date)); color: #6b6b70; font: 9pt system-ui, sans-serif; }
          @bottom-right { content: "Page " counter(page) " of " counter(pages); color: #6b6b70; font: 9pt system-ui, sans-serif; }
        }
        @page :first { @top-left { content: none; } }
        @media print {
          body { margin: 0; padding: 0; max-width: none; font-size: 10pt; }
          * { print-color-adjust: exact; }
        }

        """
    }
}
