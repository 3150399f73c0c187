import Application
import Files
import Glibc
package import Images
import Items
import LineEditor
package import Lua
import Plots
import PropertyList
package import Scripting

/// Formats values for the prompt: readable at a glance, truncated where they would fill the screen.
package struct ValuePrinter {
    package var columns = 80
    package var rows = 24
    /// Draws pictures; nil when pictures are not drawn.
    var pictures: TerminalPictures?
    /// The format of results.
    var format = OutputFormat.table
    /// Whether the output is a terminal: formats for other programs are escaped there, too.
    var isForTerminal = StandardStream.output.isTerminal
    /// Whether limits are off: `full(x)`.
    package var isUnlimited = false
    /// Whether the output is for no screen, as in a pipe: nothing is truncated or wrapped, and there are no times.
    package var isWhole = false
    /// Whether a table says how long it took to find its rows.
    package var showsTimes = true
    /// Whether the prompt's pager, with its commands, shows results longer than the screen.
    var isPaged = false
    /// The fields chosen by `:columns`; all if empty.
    var chosenFields: [String] = []
    /// The colours of plots.
    var palette: () -> TerminalPalette = { .none }
    /// The time of this session's last change to an item; nil if unknown.
    var changed: (Item) -> PropertyListDate? = { _ in nil }
    private let host: ScriptHost

    /// Limits of a value's text; the excess is omitted.
    private var limits: LuaValueText.Limits {
        var limits = LuaValueText.Limits()
        guard isUnlimited || isWhole else { return limits }
        (limits.elements, limits.levels, limits.string, limits.bytes) = (.max, 100, .max, isWhole ? .max : 1 << 24)
        return limits
    }
    /// The number of table rows that keep the prompt and the entry on the screen.
    var rowLimit: Int { isWhole ? .max : isUnlimited && !isPaged ? 100_000 : Self.rowLimit(rows) }

    /// The same for a screen.
    static func rowLimit(_ rows: Int) -> Int { max(5, rows - 5) }

    /// A printer of a host's values.
    package init(_ host: ScriptHost) { self.host = host }

    /// The text of an entry's results, ending with a line break; empty without results.
    package func text(_ values: [LuaValue], seconds: Double) -> String {
        let printed = printed(values, seconds: seconds)
        return printed.text + printed.picture
    }

    /// The results without limits.
    func whole(_ values: [LuaValue]) -> PrintedValues {
        var whole = self
        whole.isUnlimited = true
        return whole.printed(values, seconds: 0)
    }

    /// The results in parts.
    func printed(_ values: [LuaValue], seconds: Double) -> PrintedValues {
        guard format == .table else { return formatted(values) }
        var printed = PrintedValues()
        // An error after nil is a failure that a function of the host returned.
        var lines: [String] = []
        for value in values {
            switch host.inspect(value) {
            case .items(let items) where items.count > 1 || values.count == 1:
                lines.append(table(ItemRows(items, record: record), seconds, &printed))
            case .item(let item) where values.count == 1 && !item.isRemoved:
                lines.append(record.text(item, columns: isWhole ? .max : columns) ?? describe(value))
                printed.picture = record.picture(item) ?? ""
            case .query(let query): lines.append(table(query, seconds, &printed))
            case .rows(let rows): lines.append(table(StatementRows(rows, host), seconds, &printed))
            case .image(let image): lines.append(picture(image, value))
            case .plot(let plot): lines.append(drawing(plot))
            default:
                if values.count == 1, let store = host.state.luaClass(of: ItemStore.self)?.object(of: value) {
                    lines.append(table(store.query(), seconds, &printed))
                } else if values.count == 1, case .table(let table) = value, let rows = RecordRows(table, self, host) {
                    lines.append(self.table(rows, seconds, &printed))
                } else {
                    lines.append(describe(value))
                }
            }
        }
        if values.count != 1 { (printed.table, printed.rows) = (nil, nil) }
        printed.text = lines.isEmpty ? "" : lines.joined(separator: "\n") + "\n"
        return printed
    }

    /// The table of a query's items, with the time of finding them.
    private func table(_ query: ItemQuery, _ seconds: Double, _ printed: inout PrintedValues) -> String {
        let start = MonotonicTime.now()
        do {
            let rows = try ItemRows(query, record: record)
            return table(rows, seconds + MonotonicTime.now().seconds(since: start), &printed)
        } catch { return VisibleText.escaped("query: \(error)") }
    }

    /// A table's text; stores the table in `printed` if the pager can show more.
    private func table(_ rows: any TableRows, _ seconds: Double, _ printed: inout PrintedValues) -> String {
        printed.time = showsTimes ? Self.duration(seconds) : ""
        guard rows.count > 0 else {
            let nothing = rows is StatementRows ? "no rows" : "no items"
            return isWhole || !showsTimes ? nothing : "\(nothing) · \(printed.time)"
        }
        printed.rows = rows
        var table = TableText(rows, in: 0..<min(rows.count, rowLimit), chosen: chosenFields)
        let text = text(&table, time: printed.time)
        // Without limits hidden columns count, too: the pager scrolls to them.
        if !isWhole, rows.count > rowLimit || isUnlimited && table.hiddenCount > 0 { printed.table = table }
        return text
    }

    /// A table's text for the screen as it is.
    func text(_ table: inout TableText, time: String) -> String {
        if isWhole { return table.wholeText }
        let advice = table.rows.hasOwnOrder ? "; full(_) shows them" : "; :columns chooses"
        return table.text(limit: rowLimit, columns: columns, advice: isPaged ? advice : "", time: time)
    }

    /// A duration for display.
    static func duration(_ seconds: Double) -> String {
        if seconds < 0.000_95 { return "\(Int((seconds * 1e6).rounded())) µs" }
        if seconds < 0.995 { return "\(Int((seconds * 1000).rounded())) ms" }
        let tenths = Int((seconds * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) s"
    }

    var record: ItemRecord {
        ItemRecord(host: host, pictures: pictures, limit: limits.string, isWhole: isWhole, changed: changed)
    }

    /// The results in a format for other programs.
    private func formatted(_ values: [LuaValue]) -> PrintedValues {
        let converter = PlainValues(host: host)
        var printed = PrintedValues()
        for (place, value) in values.enumerated() {
            let plain = converter.plain(value)
            if let objection = plain.objection(to: format) {
                printed.failure = values.count > 1 ? "value \(place + 1): \(objection)" : objection
                break
            }
            switch format {
            case .json: printed.text += shown(PlainValueJSON.text(plain), as: .json) + "\n"
            case .csv: printed.text += shown(CSVText.text(plain), as: .lua) + "\n"
            default: printed.text += LuaLiteral.text(plain) + "\n"
            }
        }
        return printed
    }

    private func shown(_ text: String, as notation: VisibleText.Notation) -> String {
        isForTerminal ? VisibleText.escaped(text, as: notation) : text
    }

    /// A picture, drawn if the terminal supports it, with its description.
    package func picture(_ image: BitmapImage, _ value: LuaValue? = nil) -> String {
        let caption = value.map(description) ?? "\(image.width)×\(image.height)"
        do throws(ImageError) { return (try pictures?.text(image) ?? "") + "(\(caption))" } catch {
            return "(\(caption): \(VisibleText.line(error.message)))"
        }
    }

    /// A plot: as a picture where the terminal has graphics finer than characters, otherwise as text.
    func drawing(_ plot: Plot) -> String {
        guard !isWhole else { return host.drawing(of: plot) }
        let height = max(8, min(20, rows - 4))
        let text = { plot.lines(width: columns, height: height, style: PlotStyle(palette())).joined(separator: "\n") }
        do throws(ImageError) {
            guard let picture = try pictures?.text(plot, columns: columns, rows: height) else { return text() }
            return picture + "(\(VisibleText.line(plot.summary)))"
        } catch { return text() + "\n(drawn as text: \(VisibleText.line(error.message)))" }
    }

    // MARK: Values

    /// One value: strings quoted, tables unfolded.
    package func describe(_ value: LuaValue) -> String {
        var text = LuaValueText(limits)
        text.columns = columns
        text.width = DisplayWidth.of
        text.contents = { table in
            guard case .contents(let contents) = host.inspect(.table(table)) else { return nil }
            return contents
        }
        text.isInterrupted = { Interruption.isDue }
        return host.showing { text.describe(value) }
    }

    /// The text of `tostring`, escaped for a terminal.
    private func description(_ value: LuaValue) -> String {
        VisibleText.escaped(host.state.describe(value).description)
    }
}

/// An entry's results as the prompt shows them.
struct PrintedValues {
    /// The text, a table truncated to the screen; ends with a line break unless it is empty.
    var text = ""
    /// The picture below the text.
    var picture = ""
    /// Why a value is not in the text: a format for other programs cannot have it.
    var failure: String?
    /// The duration of the entry, if the text includes it.
    var time = ""
    /// The table, if the pager can show more of it than the text.
    var table: TableText?
    /// All rows of the table.
    var rows: (any TableRows)?

    var includesDuration: Bool { !time.isEmpty }

    /// Results that consist of a text.
    init(_ text: String = "") { self.text = text }
}

/// The format of results: `:out`.
enum OutputFormat: String, CaseIterable, Sendable {
    /// For people: tables with columns, values unfolded.
    case table
    /// Lua literals.
    case lua
    case json
    case csv
}
