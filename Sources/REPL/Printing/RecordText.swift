import Images
import Items
import LineEditor
import Lua
import PropertyList
import Scripting

/// The fields of an object, one per line: names aligned, long values wrapped and indented.
enum RecordText {
    /// Lines of fields whose values are for display.
    static func text(_ fields: [(name: String, value: String)], columns: Int) -> String {
        let names = fields.map { TextTable.cut($0.name, to: 30) }
        let widest = names.map { DisplayWidth.of($0) }.max() ?? 0
        let width = max(10, columns - widest - 4)
        var lines: [String] = []
        for (name, field) in zip(names, fields) {
            var margin = " " + name + String(repeating: " ", count: widest - DisplayWidth.of(name) + 2)
            for line in wrapped(VisibleText.escaped(field.value), to: width) {
                lines.append(line.isEmpty ? margin.trimmedEnd : margin + line)
                margin = String(repeating: " ", count: widest + 3)
            }
        }
        return lines.joined(separator: "\n")
    }

    /// A text, quoted if it could be read as a value of another kind or has blanks at its ends.
    static func value(_ text: String, limit: Int) -> String {
        let isShort = text.utf8.count < 40
        let readsOtherwise = isShort && (Double(text) != nil || ["", "true", "false", "nil"].contains(text))
        return readsOtherwise || text.first == " " || text.last == " "
            ? cut(text, limit: limit).quoted() : cut(text, limit: limit)
    }

    /// The beginning of a text, with the full length.
    static func cut(_ text: String, limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: limit, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return text }
        return String(scalars[..<end]) + "… (\(text.utf8.count.counted("byte")))"
    }

    /// The lines of a text, broken at blanks, and within words that are wider than a line.
    private static func wrapped(_ text: String, to width: Int) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line -> [String] in
            guard DisplayWidth.of(line) > width else { return [String(line)] }
            var lines: [String] = []
            var (current, used) = ("", 0)
            for word in line.split(separator: " ") {
                let wordWidth = DisplayWidth.of(word)
                if used > 0, used + 1 + wordWidth <= width {
                    current += " " + word
                    used += 1 + wordWidth
                    continue
                }
                if used > 0 { lines.append(current) }
                (current, used) = ("", 0)
                for character in word {
                    let next = DisplayWidth.of(character)
                    if used > 0, used + next > width {
                        lines.append(current)
                        (current, used) = ("", 0)
                    }
                    current.append(character)
                    used += next
                }
            }
            return lines + [current]
        }
    }
}

extension String {
    fileprivate var trimmedEnd: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}

/// An item with all of its fields, one per line.
struct ItemRecord {
    let host: ScriptHost
    /// Draws pictures; nil when pictures are not drawn.
    let pictures: TerminalPictures?
    /// Maximum length of a value in characters.
    let limit: Int
    /// The time of this session's last change to an item; nil if unknown.
    let changed: (Item) -> PropertyListDate?

    /// The fields, those of the domain first; nil for an item that was removed.
    func text(_ item: Item, columns: Int) -> String? { fields(item).map { RecordText.text($0, columns: columns) } }

    /// The names of the fields, and their values for display.
    func fields(_ item: Item) -> [(name: String, value: String)]? {
        guard let custom = try? item.customFieldNames else { return nil }
        var fields: [(name: String, value: String)] = []
        for name in item.store.schema.names + item.store.ordered(custom) {
            guard let value = (try? item.value(forField: name)) ?? nil, value != .null else { continue }
            let shown = item.store.shown(value, name)
            fields.append((name, shown ?? text(value, isMoney: name == "valueInDollars")))
        }
        if let key = try? item.itemKey, let images = imageText(key) { fields.append(("images", images)) }
        if let date = changed(item) { fields.append(("(changed)", host.localText(date))) }
        return fields
    }

    /// An item's first picture, small; nil without one, or if the terminal draws none.
    func picture(_ item: Item) -> String? {
        guard let pictures, pictures.graphics != nil, let key = try? item.itemKey, let image = image(key) else {
            return nil
        }
        return pictures.text(image, columns: 40, rows: 12)
    }

    /// The number of an item's pictures.
    func imageCount(_ item: Item) -> Int {
        (try? item.itemKey).map { host.images.pictureFiles(forKey: $0).count } ?? 0
    }

    /// The first picture of a key, if it is local: displaying an item fetches nothing.
    func image(_ key: String) -> BitmapImage? {
        guard host.images.pictureFiles(forKey: key).first?.isAtHand ?? false else { return nil }
        return (try? host.images.image(forKey: key)) ?? nil
    }

    private func imageText(_ key: String) -> String? {
        let count = host.images.pictureFiles(forKey: key).count
        guard count > 0 else { return nil }
        guard let image = image(key) else { return count.counted("image") }
        return "\(count.counted("image")), \(count > 1 ? "the first " : "")\(image.width)×\(image.height)"
    }

    private func text(_ value: PropertyListValue, isMoney: Bool) -> String {
        switch value {
        case .string(let text): RecordText.value(text, limit: limit)
        case .utf16: RecordText.value(value.text ?? "", limit: limit)
        case .integer(let number): isMoney ? "$" + Int(clamping: number).grouped : String(number)
        case .wideInteger(let number): String(number)
        case .real(let number): LuaValueText.text(number)
        case .single(let number): "\(number)"
        case .boolean(let flag): flag ? "true" : "false"
        case .date(let date): host.localText(date)
        case .data(let bytes): bytes.count.counted("byte")
        default: RecordText.cut(LuaLiteral.text(PlainValues(host: host).plain(value)), limit: limit)
        }
    }
}
