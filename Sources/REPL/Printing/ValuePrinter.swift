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

    /// Limits for elements of a table, levels, and characters of a string.
    private var countLimit: Int { isUnlimited ? .max : 50 }
    private var depthLimit: Int { isUnlimited ? 100 : 4 }
    private var stringLimit: Int { isUnlimited ? .max : 2000 }
    /// The limit of characters for a whole value; the rest is omitted.
    private var textLimit: Int { isUnlimited ? 1 << 24 : 20_000 }
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
        ItemListing(items, fields: fields, columns: columns, rows: rowLimit) { item in
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
        var seen: Set<UnsafeRawPointer> = []
        var left = textLimit
        return describe(value, depth: 0, indent: "", seen: &seen, left: &left)
    }

    /// A float in Lua's notation: 1e+15, 2.0.
    func number(_ number: Double) -> String { description(.number(number)) }

    /// The text of `tostring`, escaped for a terminal.
    private func description(_ value: LuaValue) -> String {
        VisibleText.escaped(host.state.describe(value).description)
    }

    private func describe(
        _ value: LuaValue, depth: Int, indent: String, seen: inout Set<UnsafeRawPointer>, left: inout Int
    ) -> String {
        switch value {
        case .string(let string):
            let text = Self.quoted(string, limit: stringLimit)
            left -= text.utf8.count
            return text
        case .function(let function):
            let place = function.place
            return place.isNative ? "function: native" : "function: \(VisibleText.line(place.source)):\(place.line)"
        case .table(let table):
            if case .contents(let contents) = host.inspect(value) {
                return unfold(contents, depth: depth, indent: indent, seen: &seen, left: &left)
            }
            if let metatable = table.metatable, !metatable.rawGet("__tostring").isNil {
                return description(value)
            }
            return unfold(table, depth: depth, indent: indent, seen: &seen, left: &left)
        default: return description(value)
        }
    }

    private func unfold(
        _ table: LuaTable, depth: Int, indent: String, seen: inout Set<UnsafeRawPointer>, left: inout Int
    ) -> String {
        guard let identity = table.identity else { return "{}" }
        guard seen.insert(identity).inserted else { return "{ … (contains itself) }" }
        defer { seen.remove(identity) }
        guard depth < depthLimit, left > 0, !Interruption.isDue else { return "{ … }" }
        let inner = indent + "  "
        var parts: [String] = []
        let count = table.rawCount
        for index in 1..<(min(count, countLimit) + 1) where left > 0 {
            left -= 4
            parts.append(
                describe(
                    table.rawGet(.integer(Int64(index))), depth: depth + 1, indent: inner, seen: &seen, left: &left))
        }
        let positional = parts.count
        if count > parts.count { parts.append("… (\(count.counted("element")))") }
        var named: [(String, LuaValue)] = []
        var more = 0
        try? table.forEach { key, value in
            if case .integer(let index) = key, (1...Int64(max(count, 1))).contains(index), count > 0 { return true }
            if named.count < countLimit { named.append((label(key), value)) } else { more += 1 }
            return true
        }
        for (name, value) in named.sorted(by: { $0.0 < $1.0 }) {
            left -= name.utf8.count + 4
            parts.append("\(name) = \(describe(value, depth: depth + 1, indent: inner, seen: &seen, left: &left))")
        }
        if more > 0 { parts.append("… (\(more.counted("more field")))") }
        guard !parts.isEmpty else { return "{}" }
        let line = "{ \(parts.joined(separator: ", ")) }"
        let fits = !line.contains("\n") && DisplayWidth.of(line) + indent.count <= columns
        if fits { return line }
        let lines = filled(Array(parts[..<positional]), indent: inner) + parts[positional...]
        return "{\n" + lines.map { inner + $0 }.joined(separator: ",\n") + "\n\(indent)}"
    }

    /// Several short elements for each line.
    private func filled(_ parts: [String], indent: String) -> [String] {
        var lines: [String] = []
        var width = 0
        for part in parts {
            let own = part.contains("\n") ? columns : DisplayWidth.of(part)
            if !lines.isEmpty, width + own + 2 + indent.count < columns, own <= 24 {
                lines[lines.count - 1] += ", " + part
                width += own + 2
            } else {
                lines.append(part)
                // Long elements have a line of their own.
                width = own <= 24 ? own : columns
            }
        }
        return lines
    }

    private func label(_ key: LuaValue) -> String {
        guard let text = key.textValue else { return "[\(description(key))]" }
        return LuaLexer.isName(text) ? text : "[\(Self.quoted(LuaString(text)))]"
    }

    /// A string as a Lua literal; UTF-8 text stays readable.
    static func quoted(_ string: LuaString, limit stringLimit: Int = 2000) -> String {
        guard let text = string.text else {
            let limit = stringLimit == .max ? Int.max : 64
            let shown = string.bytes.prefix(limit).map { byte in
                (0x20...0x7e).contains(byte) && byte != 0x22 && byte != 0x5c
                    ? String(UnicodeScalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
            return
                "\"\(shown.joined())\"\(string.bytes.count > limit ? "… (\(string.bytes.count.counted("byte")))" : "")"
        }
        let shown = VisibleText.escaped(String(text.unicodeScalars.prefix(stringLimit)).quoted())
        return text.unicodeScalars.count > stringLimit ? "\(shown)… (\(text.utf8.count.counted("byte")))" : shown
    }
}
