import PropertyList

/// Plain values as CSV: records with a header, other values one for each line.
enum CSVText {
    static func text(_ value: PlainValue) -> String {
        let rows: [PlainValue] = if case .array(let elements) = value { elements } else { [value] }
        var columns: [String] = []
        var known: NameSet = []
        for case .object(let entries) in rows {
            for entry in entries where known.insert(entry.key).inserted { columns.append(entry.key) }
        }
        var lines: [String] = columns.isEmpty ? [] : [columns.map(cell).joined(separator: ",")]
        for row in rows {
            switch row {
            case .object(let entries):
                let values = Dictionary(entries.map { ($0.key, $0.value) }) { first, _ in first }
                lines.append(columns.map { values[$0].map { cell($0) } ?? "" }.joined(separator: ","))
            case .array(let elements): lines.append(elements.map { cell($0) }.joined(separator: ","))
            default: lines.append(cell(row))
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func cell(_ value: PlainValue) -> String {
        switch value {
        case .null, .other: ""
        case .boolean(let flag): flag ? "true" : "false"
        case .integer(let number): String(number)
        case .number(let number): "\(number)"
        case .string(let bytes): cell(String(decoding: bytes, as: UTF8.self))
        case .date(let date): date.exchangeText
        case .array, .object:
            cell(PlainValueJSON.text(value).split(separator: "\n").map(\.trimmed).joined(separator: " "))
        }
    }

    private static func cell(_ text: String) -> String {
        guard text.utf8.contains(where: { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }) else { return text }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}

extension StringProtocol {
    /// The text without leading and trailing blanks and line breaks.
    var trimmed: String {
        var rest = self[startIndex..<endIndex]
        while rest.first?.isWhitespace == true { rest = rest.dropFirst() }
        while rest.last?.isWhitespace == true { rest = rest.dropLast() }
        return String(rest)
    }
}
