import LineEditor
public import Lua
import PropertyList
public import Scripting
public import Stores

/// Values as a prompt shows them: read at a glance, cut where they would fill the screen.
public struct ValuePrinter {
    public var columns = 80
    public var rows = 24
    /// Draws pictures; nil where none are drawn.
    var pictures: TerminalPictures?
    private let host: ScriptHost

    /// Elements of a table, levels, and characters of a string that are shown.
    private static let countLimit = 50
    private static let depthLimit = 4
    private static let stringLimit = 2000

    public init(_ host: ScriptHost) { self.host = host }

    /// The text of an entry's results, with a line break at its end; empty when there are none.
    public func text(_ values: [LuaValue], seconds: Double) -> String {
        // A single nil says nothing that an empty answer does not.
        var lines: [String] = []
        for value in values {
            switch host.inspect(value) {
            case .items(let items) where items.count > 1 || values.count == 1:
                lines.append(table(items, fields: []).text(seconds: seconds))
            case .query(let query):
                do {
                    lines.append(table(try query.all(), fields: query.fields).text(seconds: seconds))
                } catch { lines.append("query: \(error)") }
            case .image(let image): lines.append(picture(image, value))
            default: lines.append(describe(value))
            }
        }
        return lines.isEmpty ? "" : lines.joined(separator: "\n") + "\n"
    }

    private func table(_ items: [Item], fields: [String]) -> ItemTable {
        ItemTable(items, fields: fields, columns: columns, rows: rows) { item in
            guard let pictures, pictures.graphics != nil, let key = try? item.itemKey,
                host.images.hasImage(forKey: key),
                let picture = try? host.images.thumbnail(forKey: key, size: 40)
            else { return nil }
            return pictures.inlineText(picture, columns: ItemTable.thumbnailColumns)
        }
    }

    /// A picture, drawn where the terminal can, and what it is.
    public func picture(_ image: Image, _ value: LuaValue? = nil) -> String {
        let caption = value.map { host.state.describe($0).description } ?? "\(image.width)×\(image.height)"
        return (pictures?.text(image) ?? "") + "(\(caption))"
    }

    // MARK: Values

    /// One value, strings quoted, tables unfolded.
    public func describe(_ value: LuaValue) -> String {
        var seen: Set<UnsafeRawPointer> = []
        return describe(value, depth: 0, indent: "", seen: &seen)
    }

    private func describe(
        _ value: LuaValue, depth: Int, indent: String, seen: inout Set<UnsafeRawPointer>
    ) -> String {
        switch value {
        case .string(let string): return Self.quoted(string)
        case .function(let function):
            let place = function.place
            return place.isNative ? "function: native" : "function: \(place.source):\(place.line)"
        case .table(let table):
            if case .contents(let contents) = host.inspect(value) {
                return unfold(contents, depth: depth, indent: indent, seen: &seen)
            }
            if let metatable = table.metatable, !metatable.rawGet("__tostring").isNil {
                return host.state.describe(value).description
            }
            return unfold(table, depth: depth, indent: indent, seen: &seen)
        default: return host.state.describe(value).description
        }
    }

    private func unfold(
        _ table: LuaTable, depth: Int, indent: String, seen: inout Set<UnsafeRawPointer>
    ) -> String {
        guard let identity = table.identity else { return "{}" }
        guard seen.insert(identity).inserted else { return "{ … (contains itself) }" }
        defer { seen.remove(identity) }
        guard depth < Self.depthLimit else { return "{ … }" }
        let inner = indent + "  "
        var parts: [String] = []
        let count = table.rawCount
        for index in 1..<(min(count, Self.countLimit) + 1) {
            parts.append(describe(table.rawGet(.integer(Int64(index))), depth: depth + 1, indent: inner, seen: &seen))
        }
        if count > Self.countLimit { parts.append("… (\(Self.grouped(count)) elements)") }
        var named: [(String, LuaValue)] = []
        var left = 0
        try? table.forEach { key, value in
            if case .integer(let index) = key, (1...Int64(max(count, 1))).contains(index), count > 0 { return true }
            if named.count < Self.countLimit { named.append((label(key), value)) } else { left += 1 }
            return true
        }
        for (name, value) in named.sorted(by: { $0.0 < $1.0 }) {
            parts.append("\(name) = \(describe(value, depth: depth + 1, indent: inner, seen: &seen))")
        }
        if left > 0 { parts.append("… (\(Self.grouped(left)) more fields)") }
        guard !parts.isEmpty else { return "{}" }
        let line = "{ \(parts.joined(separator: ", ")) }"
        let fits = !line.contains("\n") && DisplayWidth.of(line) + indent.count <= columns
        return fits ? line : "{\n" + parts.map { inner + $0 }.joined(separator: ",\n") + "\n\(indent)}"
    }

    private func label(_ key: LuaValue) -> String {
        guard let text = key.textValue else { return "[\(host.state.describe(key))]" }
        let isName = text.first.map { $0.isASCII && ($0.isLetter || $0 == "_") } ?? false
        return isName && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
            ? text : "[\(Self.quoted(LuaString(text)))]"
    }

    /// A string as Lua would write it; text stays text.
    static func quoted(_ string: LuaString) -> String {
        guard let text = string.text else {
            let shown = string.bytes.prefix(64).map { byte in
                (0x20...0x7e).contains(byte) && byte != 0x22 && byte != 0x5c
                    ? String(UnicodeScalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
            return "\"\(shown.joined())\"\(string.bytes.count > 64 ? "… (\(grouped(string.bytes.count)) bytes)" : "")"
        }
        var result = "\""
        for scalar in text.unicodeScalars.prefix(stringLimit) {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7f: result += "\\\(scalar.value)"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + (text.unicodeScalars.count > stringLimit ? "\"… (\(grouped(text.utf8.count)) bytes)" : "\"")
    }

    /// A number with its thousands apart.
    public static func grouped(_ number: Int) -> String {
        let digits = String(abs(number))
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result += "," }
            result.append(digit)
        }
        return (number < 0 ? "-" : "") + result
    }
}
