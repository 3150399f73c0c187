import Files
import Images
import PropertyList

/// The HTML of a report.
struct ReportPage {
    private let content: ReportContent
    private let options: ItemReport.Options
    private let pictureCount: Int
    /// The number of pictures that are known to be unreadable before they are decoded.
    private let unreadCount: Int

    init(_ content: ReportContent, _ options: ItemReport.Options, pictures: Int, unread: Int) {
        (self.content, self.options, pictureCount, unreadCount) = (content, options, pictures, unread)
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

    /// The page after the items, of which so many pictures could not be read.
    func foot(unread count: Int) -> String {
        let more = count - unreadCount
        let text = more > 0 ? "<p>\(more.counted("more picture")) cannot be read</p>\n" : ""
        return "\(text)</main>\n</body>\n</html>\n"
    }

    private var itemCount: Int { content.sections.reduce(0) { $0 + $1.items.count } }

    private var summary: String {
        var parts = [itemCount.counted("item")]
        if content.value != nil { parts.append(content.text(content.total)) }
        if pictureCount > 0 {
            let unread = unreadCount > 0 ? ", \(unreadCount) of them cannot be read" : ""
            parts.append(pictureCount.counted("picture") + unread)
        }
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
    ///   - pictures: its pictures, as JPEG files.
    /// - Returns: the row of the table.
    func row(_ number: Int, _ row: ReportContent.Row, _ pictures: [Result<[UInt8], ImageError>]) -> String {
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

    private func picture(_ picture: Result<[UInt8], ImageError>, _ name: String) -> String {
        let bytes: [UInt8]
        switch picture {
        case .success(let found): bytes = found
        case .failure(let error): return "<em>(\(error.pictureText))</em>"
        }
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

extension ImageError {
    /// What is said in the place of a picture.
    var pictureText: String {
        fileError?.code == FileLayerCode.absent ? "the picture is missing" : "the picture cannot be read"
    }
}

extension PictureFile {
    /// The key of a failure of one of an item's pictures: the item's key, and for a further picture its place from 0.
    func failureKey(_ place: Int) -> String { place == 0 ? key : "\(key), picture \(place + 1)" }
}

/// The texts of values for people, on paper.
enum ReportText {
    /// A value's text; empty for no value and for an empty text.
    static func of(_ value: PropertyListValue?) -> String {
        switch value {
        case nil, .null?, .uid?: ""
        case .string(let text)?: text
        case .utf16?: value?.text ?? ""
        case .boolean(let flag)?: flag ? "yes" : "no"
        case .integer(let number)?: String(number)
        case .wideInteger(let number)?: String(number)
        case .real(let number)?: real(number)
        case .single(let number)?: Int64(exactly: number).map { String($0) } ?? "\(number)"
        case .date(let date)?: day(date)
        case .data(let bytes)?: bytes.count.counted("byte")
        case .array(let elements)?, .set(let elements)?: elements.map { of($0) }.joined(separator: ", ")
        case .dictionary(let entries)?:
            entries.sortedEntries.map { "\($0.key.keyText): \(of($0.value))" }.joined(separator: ", ")
        }
    }

    /// The title of a group: a moment is exact.
    static func title(_ value: PropertyListValue?) -> String {
        let text = of(value)
        if case .date(let date)? = value, text.hasSuffix("…") { return date.exchangeText }
        return text
    }

    private static func real(_ number: Double) -> String {
        Int64(exactly: number).map { String($0) } ?? "\(number)"
    }

    /// The day, and the time of UTC if it is not midnight; what is left out of the time is marked.
    private static func day(_ date: PropertyListDate) -> String {
        let text = date.exchangeText
        if text.hasSuffix("T00:00:00Z") { return String(text.dropLast(10)) }
        let parts = text.split(separator: "T")
        guard parts.count == 2, text.hasSuffix("Z") else { return text }
        let isWhole = parts[1].dropFirst(5) == ":00Z"
        return "\(parts[0]) \(parts[1].prefix(5))\(isWhole ? "" : "…")"
    }
}

/// A sum of values by their shortest decimal texts: exact while its digits have room, and marked beyond.
struct ReportSum {
    /// The number of values in the sum.
    private(set) var count = 0
    /// Values that are not numbers.
    private(set) var misfits = 0
    /// The digits of the sum, with the last `places` behind the point; nil without room.
    private var digits: Int128? = 0
    private var places = 0
    private var real = 0.0
    /// Whether a value has decimals.
    private(set) var isDecimal = false

    mutating func add(_ value: PropertyListValue?) {
        if value == nil || value == .null { return }
        guard let text = Self.decimal(value), let number = Double(text) else {
            misfits += 1
            return
        }
        count += 1
        real += number
        if number.rounded() != number { isDecimal = true }
        add(digits: text)
    }

    /// The shortest decimal text of a finite number, such as `0.1`, `12` and `1e+300`; nil for another value.
    static func decimal(_ value: PropertyListValue?) -> String? {
        switch value {
        case .integer(let number)?: String(number)
        case .wideInteger(let number)?: String(number)
        case .real(let number)? where number.isFinite: "\(number)"
        case .single(let number)? where number.isFinite: "\(number)"
        default: nil
        }
    }

    private mutating func add(digits text: String) {
        let parts = text.split(separator: "e")
        let point = parts[0].split(separator: ".")
        let fraction = point.count > 1 && point[1] != "0" ? point[1] : ""
        let places = fraction.utf8.count - (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
        let most = max(places, self.places, 0)
        guard let sum = digits.flatMap({ Self.shifted($0, by: most - self.places) }),
            let number = Int128(String(point[0] + fraction)).flatMap({ Self.shifted($0, by: most - places) })
        else {
            digits = nil
            return
        }
        let (total, isTooLarge) = sum.addingReportingOverflow(number)
        (digits, self.places) = (isTooLarge ? nil : total, most)
    }

    /// A number times a power of ten; nil without room.
    private static func shifted(_ number: Int128, by places: Int) -> Int128? {
        if number == 0 { return 0 }
        guard places < 39 else { return nil }
        return (0..<places).reduce(number) { number, _ in
            guard let (product, isTooLarge) = number?.multipliedReportingOverflow(by: 10) else { return nil }
            return isTooLarge ? nil : product
        }
    }

    /// The sum, grouped by thousands, with two decimals or more if a value has decimals; behind `≈` if it is not exact.
    ///
    /// - Parameters:
    ///   - currency: what is before it.
    ///   - hasDecimals: whether it has decimals in any case, like those beside it.
    /// - Returns: the text.
    func text(_ currency: String, hasDecimals: Bool = false) -> String {
        guard let digits else { return (count > 1 ? "≈" : "") + (real < 0 ? "-" : "") + currency + "\(abs(real))" }
        let text = String(digits.magnitude)
        let padded = String(repeating: "0", count: max(0, places + 1 - text.utf8.count)) + text
        var decimals = padded.suffix(places)
        while decimals.last == "0" { decimals.removeLast() }
        if isDecimal || hasDecimals { decimals += String(repeating: "0", count: max(0, 2 - decimals.utf8.count)) }
        return (digits < 0 ? "-" : "") + currency + Self.grouped(padded.dropLast(places))
            + (decimals.isEmpty ? "" : "." + decimals)
    }

    private static func grouped(_ digits: Substring) -> String {
        var result = ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.utf8.count - place).isMultiple(of: 3) { result.append(",") }
            result.append(digit)
        }
        return result
    }
}
