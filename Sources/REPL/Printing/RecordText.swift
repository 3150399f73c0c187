import LineEditor
import Wording

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
                let own = DisplayWidth.of(word)
                if used > 0, used + 1 + own <= width {
                    current += " " + word
                    used += 1 + own
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
