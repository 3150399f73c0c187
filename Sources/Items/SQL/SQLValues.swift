import ColumnEngine
package import PropertyList
package import SQLite

extension SQLiteValue {
    /// A value as SQL has it; nil for one that is none: half of a surrogate pair alone.
    package init?(_ value: PropertyListValue, areDays: Bool = false) {
        switch value {
        case .null: self = .null
        case .boolean(let flag): self = .integer(flag ? 1 : 0)
        case .integer(let number): self = .integer(number)
        case .wideInteger(let number): self = .text(Array("\(number)".utf8))
        case .real(let number): self = .real(number)
        case .single(let number): self = .real(Double(number))
        case .date(let date): self = .text(SQLDate.text(date, isDay: areDays))
        case .data(let bytes): self = .blob(bytes)
        case .string(let text): self = .text(Array(text.utf8))
        case .utf16: return nil
        case .uid(let number): self = .integer(Int64(number))
        case .array, .set, .dictionary:
            guard let bytes: [UInt8] = try? value.json() else { return nil }
            self = .text(bytes)
        }
    }
}

extension SQLiteCell {
    /// The value; nil for a text that is not UTF-8.
    package var value: PropertyListValue? {
        switch self {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .text(let bytes): String(validating: bytes, as: UTF8.self).map { .string($0) }
        case .blob(let bytes): .data(Array(bytes))
        }
    }
}

extension SQLiteCell {
    /// Negative, 0 or positive if this value is before, equal to or after another, in SQLite's order.
    func compare(_ other: SQLiteCell) -> Int {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): return Self.order(left, right)
        case (.real(let left), .real(let right)): return Self.order(left, right)
        case (.integer(let left), .real(let right)): return Self.order(left, right)
        case (.real(let left), .integer(let right)): return -Self.order(right, left)
        case (.text(let left), .text(let right)), (.blob(let left), .blob(let right)):
            for (one, another) in zip(left, right) where one != another { return one < another ? -1 : 1 }
            return left.count - right.count
        default: return rank - other.rank
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .integer, .real: 1
        case .text: 2
        case .blob: 3
        }
    }

    private static func order<Number: Comparable>(_ left: Number, _ right: Number) -> Int {
        left < right ? -1 : left > right ? 1 : 0
    }

    /// By value, and not by the nearest real.
    private static func order(_ left: Int64, _ right: Double) -> Int {
        if right >= 0x1p63 { return -1 }
        guard right >= -0x1p63 else { return 1 }
        let whole = Int64(right.rounded(.towardZero))
        return left == whole ? order(Double(whole), right) : order(left, whole)
    }
}

/// Dates as SQLite's functions read them.
enum SQLDate {
    /// `2024-02-29 13:05:00`, in UTC, with as many decimals as the date has; a day without its time.
    static func text(_ date: PropertyListDate, isDay: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        append(date, isDay: isDay, to: &bytes)
        return bytes
    }

    static func append(_ date: PropertyListDate, isDay: Bool, to bytes: inout [UInt8]) {
        let start = bytes.count
        date.appendExchangeText(to: &bytes)
        guard bytes.last == UInt8(ascii: "Z"), let time = bytes[start...].firstIndex(of: UInt8(ascii: "T")) else {
            return
        }
        bytes.removeLast()
        bytes[time] = UInt8(ascii: " ")
        if isDay, bytes[time...].elementsEqual(" 00:00:00".utf8) { bytes.removeLast(bytes.count - time) }
    }

    /// The text of a day, or of its beginning, as a column writes it; other texts as they are.
    static func asWritten(_ text: [UInt8], areDays: Bool) -> [UInt8] {
        let midnight = " 00:00:00".utf8
        guard text.count >= 10, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-") else { return text }
        if areDays { return text[10...].elementsEqual(midnight) ? Array(text[..<10]) : text }
        return text.count == 10 ? text + midnight : text
    }

    /// The date of a text in one of SQLite's forms, with a blank or T before the time, a zone or none (UTC).
    static func date(_ text: String) -> PropertyListDate? {
        var bytes = Array(text.utf8)
        guard bytes.count >= 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-") else { return nil }
        if bytes.count > 10, bytes[10] == UInt8(ascii: " ") { bytes[10] = UInt8(ascii: "T") }
        return ISO8601.parse(String(decoding: bytes, as: UTF8.self))
    }
}
