import Items
import Lua
import PropertyList
import SQLite
import Wording

/// The statement whose rows a table shows after steps in the pager: that of the entry, as a table of another one.
struct StatementQuery {
    /// The entry's statement, on one line.
    private let statement: String
    /// How values are compared where a column may have another way: the pager compares them byte by byte.
    private let collation: String
    private var conditions: [String] = []
    private var order = ""

    /// The bytes of the longest statement, and of the longest value of a condition.
    private static let longest = 2000, longestValue = 200

    /// Nil for a statement that cannot be a table of another one, or be shown.
    ///
    /// - Parameters:
    ///   - text: the entry.
    ///   - isBinary: whether all of its columns compare texts byte by byte.
    init?(_ text: String, isBinary: Bool) {
        guard text.utf8.count <= Self.longest else { return nil }
        let sql = SQLText(text)
        guard let first = sql.word(0), ["select", "values", "with"].contains(first) else { return nil }
        var (line, end) = ("", 0)
        for (place, token) in sql.tokens.enumerated() {
            if sql.isSymbol(place, ";") { break }
            // A line break or a comment between two tokens is a blank.
            if token.range.lowerBound > end, !line.isEmpty { line += " " }
            line += sql.text(token)
            end = token.range.upperBound
        }
        guard Self.isPlain(line) else { return nil }
        statement = line
        collation = isBinary ? "" : " collate binary"
    }

    /// In the order of a column alone.
    func sorted(_ name: String, descending: Bool) -> StatementQuery? {
        guard let key = key(name) else { return nil }
        var next = self
        next.order = " order by \(key)\(descending ? " desc" : "")"
        return next
    }

    /// The rows with a value of a column; nil if no short condition finds them.
    func filtered(_ name: String, _ value: PropertyListValue?) -> StatementQuery? {
        guard let key = key(name) else { return nil }
        var next = self
        if let value {
            guard let literal = Self.literal(value) else { return nil }
            next.conditions.append("\(key) = \(literal)")
        } else {
            next.conditions.append("\(SQLiteDatabase.quoted(name)) is null")
        }
        return next
    }

    /// The statement that counts how often each value of a column is there, the most frequent first.
    func counts(_ name: String) -> String? {
        guard let key = key(name) else { return nil }
        return "select \(key), count(*) n from (\(statement))\(condition) group by \(key) order by 2 desc, 1"
    }

    /// The entry that draws the histogram of a column.
    func histogram(_ name: String) -> String {
        "sql(\(LuaString(text).quoted())):plot{ x = \(LuaString(name).quoted()) }"
    }

    /// The statement.
    var text: String {
        conditions.isEmpty && order.isEmpty ? statement : "select * from (\(statement))\(condition)\(order)"
    }

    private var condition: String { conditions.isEmpty ? "" : " where " + conditions.joined(separator: " and ") }

    private func key(_ name: String) -> String? {
        Self.isPlain(name) ? SQLiteDatabase.quoted(name) + collation : nil
    }

    private static func literal(_ value: PropertyListValue) -> String? {
        switch value {
        case .integer(let number): return String(number)
        case .real(let number):
            // SQLite writes no infinity.
            guard number.isFinite else { return number < 0 ? "-9e999" : "9e999" }
            var text: [UInt8] = []
            number.appendShortest(to: &text)
            return String(decoding: text, as: UTF8.self)
        case .string(let text):
            return text.utf8.count <= longestValue && isPlain(text) ? SQLiteDatabase.literal(text) : nil
        default: return nil
        }
    }

    /// Whether a text can be shown as it is. The replacement character may stand for bytes that are not UTF-8.
    private static func isPlain(_ text: String) -> Bool {
        !text.unicodeScalars.contains { VisibleText.isHidden($0) || $0 == "\u{FFFD}" }
    }
}
