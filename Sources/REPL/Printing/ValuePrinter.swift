import Application
import Glibc
package import Images
import Items
import LineEditor
package import Lua
import PropertyList
package import Scripting
import Wording

/// Formats values for the prompt: readable at a glance, truncated where they would fill the screen.
package struct ValuePrinter {
    package var columns = 80
    package var rows = 24
    /// Draws pictures; nil when pictures are not drawn.
    var pictures: TerminalPictures?
    /// The format of results.
    var format = OutputFormat.table
    /// Whether the output is a terminal: formats for other programs are escaped there, too.
    var isForTerminal = isatty(STDOUT_FILENO) == 1
    /// Whether limits are off: `full(x)`.
    var isUnlimited = false
    private let host: ScriptHost

    /// Limits of a value's text; what is beyond is left out.
    private var limits: LuaValueText.Limits {
        var limits = LuaValueText.Limits()
        guard isUnlimited else { return limits }
        (limits.elements, limits.levels, limits.string, limits.bytes) = (.max, 100, .max, 1 << 24)
        return limits
    }
    /// The number of table rows that keep the prompt and the entry on the screen.
    var rowLimit: Int { isUnlimited ? 100_000 : max(5, min(rows - 5, 40)) }

    /// A printer of a host's values.
    package init(_ host: ScriptHost) { self.host = host }

    /// The text of an entry's results, ending with a line break; empty without results.
    package func text(_ values: [LuaValue], seconds: Double) -> String { printed(values, seconds: seconds).text }

    /// The same, and whether the text includes the entry's duration.
    func printed(_ values: [LuaValue], seconds: Double) -> (text: String, includesDuration: Bool) {
        guard format == .table else { return (formatted(values), false) }
        var includesDuration = false
        // An error after nil is a failure that a function of the host returned.
        var lines: [String] = []
        for value in values {
            switch host.inspect(value) {
            case .items(let items) where items.count > 1 || values.count == 1:
                lines.append(table(items, fields: []).text(seconds: seconds))
                includesDuration = true
            case .query(let query):
                let start = MonotonicTime.now()
                do {
                    let items = try query.all()
                    let whole = seconds + MonotonicTime.now().seconds(since: start)
                    lines.append(table(items, fields: query.fields).text(seconds: whole))
                    includesDuration = true
                } catch { lines.append(VisibleText.escaped("query: \(error)")) }
            case .image(let image): lines.append(picture(image, value))
            default:
                if values.count == 1, case .table(let table) = value,
                    let records = RecordTable(self, host).text(table, seconds: seconds)
                {
                    lines.append(records)
                    includesDuration = true
                } else {
                    lines.append(describe(value))
                }
            }
        }
        return (lines.isEmpty ? "" : lines.joined(separator: "\n") + "\n", includesDuration)
    }

    /// The results in a format for other programs.
    private func formatted(_ values: [LuaValue]) -> String {
        let converter = PlainValues(host: host)
        return values.map { value in
            let plain = converter.plain(value)
            switch format {
            case .json: return shown(PlainValueJSON.text(plain), as: .json) + "\n"
            case .csv: return shown(CSVText.text(plain), as: .lua) + "\n"
            default: return LuaLiteral.text(plain) + "\n"
            }
        }.joined()
    }

    private func shown(_ text: String, as notation: VisibleText.Notation) -> String {
        isForTerminal ? VisibleText.escaped(text, as: notation) : text
    }

    private func table(_ items: [Item], fields: [String]) -> ItemListing {
        let imageCount = { [images = host.images] (item: Item) in
            (try? item.itemKey).map { images.pictureFiles(forKey: $0).count } ?? 0
        }
        return ItemListing(
            items, fields: fields, columns: columns, rows: rowLimit, date: host.shortText, imageCount: imageCount
        ) { item in
            guard let pictures, pictures.graphics != nil, let key = try? item.itemKey,
                host.images.hasImage(forKey: key),
                let picture = try? host.images.thumbnail(forKey: key, size: 40, cornerRadius: 0)
            else { return nil }
            return pictures.inlineText(picture, columns: ItemListing.thumbnailColumns)
        }
    }

    /// A picture, drawn where the terminal can, with its description.
    package func picture(_ image: Image, _ value: LuaValue? = nil) -> String {
        let caption = value.map(description) ?? "\(image.width)×\(image.height)"
        return (pictures?.text(image) ?? "") + "(\(caption))"
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

    /// A float in Lua's notation: 1e+15, 2.0.
    func number(_ number: Double) -> String { LuaValueText.text(number) }

    /// The text of `tostring`, escaped for a terminal.
    private func description(_ value: LuaValue) -> String {
        VisibleText.escaped(host.state.describe(value).description)
    }
}
