package import PropertyList
import Wording

/// The content of a cell. Texts are ranges of the row's bytes.
package enum SheetCell: Hashable, Sendable {
    /// A text in UTF-8.
    case text(Range<Int>)
    /// A whole number.
    case integer(Int64)
    /// A whole number beyond 64 bits.
    case wideInteger(Int128)
    case real(Double)
    case boolean(Bool)
    /// A date without a time: midnight UTC.
    case day(PropertyListDate)
    /// A date with a time: spreadsheets have no zones, so that it is UTC.
    case moment(PropertyListDate)
    /// A time of day or a duration, as text: `10:30:00`.
    case time(Range<Int>)
    /// An error, as text: `#DIV/0!`.
    case error(Range<Int>)
}

extension SheetCell {
    /// A number by its text; nil for another text, and for one of which no number here has the whole digits. Spreadsheets
    /// have reals only, so that a whole one is an integer; where reals have gaps, an exponent tells them apart, if the real
    /// has all digits, or those are the 17 that programs write of one.
    init?(number text: UnsafeBufferPointer<UInt8>) {
        if let number = DecimalText.integer(text) {
            self = .integer(number)
            return
        }
        guard let number = DecimalText.real(text) else { return nil }
        let whole = DecimalText.whole(text)
        let short = whole.flatMap(Int64.init(exactly:))
        let digits = text.prefix { $0 | 0x20 != UInt8(ascii: "e") }.count { 0x30...0x39 ~= $0 }
        if number.magnitude >= 0x1p53, DecimalText.hasExponent(text),
            short == nil && digits <= 17 || DecimalText.hasAllDigits(number, of: text)
        {
            self = .real(number)
        } else if let whole {
            self = short.map { .integer($0) } ?? .wideInteger(whole)
        } else if DecimalText.hasWholeDigits(number, of: text) {
            self = .real(number)
        } else {
            return nil
        }
    }

    /// True or false by its text, as both formats have it; nil for another text.
    init?(boolean text: [UInt8]) {
        switch String(decoding: text, as: UTF8.self) {
        case "true", "1": self = .boolean(true)
        case "false", "0": self = .boolean(false)
        default: return nil
        }
    }

    /// The error of a text that is not the number of its cell.
    static func numberError(_ text: [UInt8]) -> String {
        guard DecimalText.isPlain(text), Double(String(decoding: text, as: UTF8.self)) != nil else {
            return damage(text, "a number")
        }
        return "\(shown(text)) is beyond the numbers here: a cell of text has all of its digits"
    }

    /// The error of a text that is not what its cell says.
    static func damage(_ text: some Sequence<UInt8>, _ wanted: String) -> String {
        "\(shown(Array(text))) is not \(wanted): the file is damaged"
    }

    private static func shown(_ text: [UInt8]) -> String {
        VisibleText.line(String(decoding: text, as: UTF8.self).shortened(to: 40))
    }
}

/// The cells of a row that have a content, in a reusable buffer.
package struct SheetRow: Sendable {
    /// A cell and its column, counted from 0.
    package struct Cell: Hashable, Sendable {
        package let column: Int
        package let content: SheetCell
    }

    /// The row's number in the sheet, counted from 1.
    package internal(set) var number = 0
    /// The cells with a content, by ascending column.
    package private(set) var cells: [Cell] = []

    private var bytes: [UInt8] = []
    private var isSorted = true

    package init() {}

    /// The number of columns up to the last cell.
    package var width: Int { cells.last.map { $0.column + 1 } ?? 0 }

    /// Calls a function with the bytes of all texts; those of a cell are its range.
    package func withUnsafeBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBufferPointer(body)
    }

    /// The bytes of a text.
    package subscript(text: Range<Int>) -> ArraySlice<UInt8> { bytes[text] }

    /// A content as a text of a file, which is read back as the same value.
    package func text(_ content: SheetCell) -> [UInt8] {
        switch content {
        case .text(let range), .time(let range), .error(let range): Array(bytes[range])
        case .integer(let number): Array(String(number).utf8)
        case .wideInteger(let number): Array(String(number).utf8)
        case .real(let number): Array(number.description.utf8)
        case .boolean(let value): Array((value ? "true" : "false").utf8)
        case .day(let date): Array(date.exchangeText.utf8.prefix(10))
        case .moment(let date): Array(date.exchangeText.utf8)
        }
    }

    // MARK: - Filling, by the readers

    var length: Int { bytes.count }

    mutating func removeAll() {
        cells.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
        isSorted = true
    }

    mutating func append(_ content: SheetCell, at column: Int) {
        if let last = cells.last, last.column >= column { isSorted = false }
        cells.append(Cell(column: column, content: content))
    }

    /// Adds a text's bytes and returns their range.
    mutating func add(_ text: some Sequence<UInt8>) -> Range<Int> {
        let start = bytes.count
        bytes.append(contentsOf: text)
        return start..<bytes.count
    }

    /// Brings the cells into order. False if two have the same place.
    mutating func finish() -> Bool {
        if isSorted { return true }
        cells.sort { $0.column < $1.column }
        isSorted = true
        return zip(cells, cells.dropFirst()).allSatisfy { $0.column != $1.column }
    }
}

/// The names of cells, as spreadsheets show them.
package enum CellName {
    /// `B7` for the column 1, counted from 0, and the row 7, counted from 1.
    package static func text(column: Int, row: Int) -> String { "\(letters(column))\(row)" }

    /// `B` for the column 1, counted from 0.
    package static func letters(_ column: Int) -> String {
        var rest = column
        var letters = ""
        repeat {
            letters = String(Character(Unicode.Scalar(UInt8(0x41 + rest % 26)))) + letters
            rest = rest / 26 - 1
        } while rest >= 0
        return letters
    }

    /// The column of `B7` in the row 7, counted from 0; nil for another text.
    static func column(_ name: UnsafeBufferPointer<UInt8>, row: Int) -> Int? {
        var column = 0
        for (place, byte) in name.enumerated() {
            let letter = (byte & 0xDF) &- 0x41
            guard letter < 26, byte >= 0x41 else {
                let digits = UnsafeBufferPointer(rebasing: name[place...])
                return column > 0 && DecimalText.integer(digits) == Int64(row) ? column - 1 : nil
            }
            column = column * 26 + Int(letter) + 1
            if column > 1 << 20 { return nil }
        }
        return nil
    }
}

/// A number of cells, and the first one's name.
package struct CellCount: Hashable, Sendable {
    package private(set) var count = 0
    package private(set) var first = ""

    package init() {}

    package mutating func add(column: Int, row: Int) {
        if count == 0 { first = CellName.text(column: column, row: row) }
        count += 1
    }
}

/// What a cell's number means by the format that it is shown in.
enum NumberFormat: Sendable {
    case number
    /// A date without a time.
    case day
    /// A date with a time.
    case moment
    /// A time of day, or of a date.
    case time
    /// A duration, of any number of days.
    case duration

    /// The formats that a workbook does not define, by their numbers; those of East Asian versions among them.
    init(builtIn number: Int) {
        switch number {
        case 14...17, 27...31, 36, 50...54, 57, 58: self = .day
        case 18...21, 32...35, 45, 47, 55, 56: self = .time
        case 46: self = .duration
        case 22: self = .moment
        default: self = .number
        }
    }

    /// A format by its code, such as `dd/mm/yyyy hh:mm`, `[h]:mm`, `[$-409]mmm d;@` and `#,##0.00 "years"`.
    init(code: some Sequence<UInt8>) {
        guard let letters = Self.letters(code) else {
            self = .duration
            return
        }
        var hasDate = false
        var hasTime = false
        for (place, letter) in letters.enumerated() {
            switch letter {
            case UInt8(ascii: "y"), UInt8(ascii: "d"): hasDate = true
            case UInt8(ascii: "h"), UInt8(ascii: "s"): hasTime = true
            default:
                // Behind hours and before seconds there are minutes.
                let isMinute =
                    place > 0 && letters[place - 1] == UInt8(ascii: "h")
                    || place + 1 < letters.count && letters[place + 1] == UInt8(ascii: "s")
                if isMinute { hasTime = true } else { hasDate = true }
            }
        }
        self = hasDate ? (hasTime ? .moment : .day) : hasTime ? .time : .number
    }

    /// The fields of the first section, each by one letter: y, m, d, h or s; nil if one is of elapsed time, as `[h]`.
    private static func letters(_ code: some Sequence<UInt8>) -> [UInt8]? {
        let code = code.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
        if code.elementsEqual("general".utf8) { return [] }
        var letters: [UInt8] = []
        var index = 0
        while index < code.count {
            let byte = code[index]
            index += 1
            switch byte {
            case UInt8(ascii: ";"): return letters
            case UInt8(ascii: "\""):
                while index < code.count, code[index] != byte { index += 1 }
                index += 1
            case UInt8(ascii: "\\"), UInt8(ascii: "_"), UInt8(ascii: "*"): index += 1
            case UInt8(ascii: "["):
                let end = code[index...].firstIndex(of: UInt8(ascii: "]")) ?? code.count
                // Elapsed time; else a colour, a condition, or a language.
                if let first = code[index..<end].first, "hms".utf8.contains(first),
                    code[index..<end].allSatisfy({ $0 == first })
                {
                    return nil
                }
                index = end + 1
            case UInt8(ascii: "a"):
                // AM/PM and A/P.
                for word in ["m/pm", "/p"] where code[index...].starts(with: word.utf8) { index += word.utf8.count }
            case UInt8(ascii: "y"), UInt8(ascii: "m"), UInt8(ascii: "d"), UInt8(ascii: "h"), UInt8(ascii: "s"):
                if letters.last != byte || code[index - 2] != byte { letters.append(byte) }
            default: break
            }
        }
        return letters
    }
}

/// Days counted from 1900 or from 1904, as spreadsheets keep dates.
struct SerialDate {
    /// Whether day 0 is 1904-01-01. Else day 1 is 1900-01-01, and day 60 is 1900-02-29, which there was not: the first
    /// spreadsheet took 1900 for a leap year, and all others followed.
    let countsFrom1904: Bool

    /// What a number is in a format of dates or times.
    enum Meaning {
        case day(PropertyListDate)
        case moment(PropertyListDate)
        /// A time of day, a duration, or the day that there was not.
        case text(String)
        /// Nothing but a number: before the first day, or behind the year 9999.
        case number
    }

    func meaning(of serial: Double, as format: NumberFormat) -> Meaning {
        guard format != .number, serial >= 0, serial < 3_000_000 else { return .number }
        // Programs keep milliseconds; of our time a real has hardly a digit more.
        let milliseconds = Int((serial * 86_400_000).rounded())
        let (day, rest) = milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
        // A date of the first weeks, shown without its day, is rather a duration.
        let fraction = rest % 1000 == 0 ? "" : String(String(1000 + rest % 1000).dropFirst())
        if format == .duration || format == .time && day < 60 {
            return .text(Self.time(milliseconds / 1000, fraction: fraction))
        }
        guard let days = daysSince1970(day) else {
            let time = Self.time(rest / 1000, fraction: fraction)
            if day == 60 { return .text(rest == 0 ? "1900-02-29" : "1900-02-29 " + time) }
            return day == 0 && rest > 0 ? .text(time) : .number
        }
        let date = PropertyListDate(secondsSince1970: days * 86400 + rest / 1000, fraction: fraction)
        return format == .day && rest == 0 ? .day(date) : .moment(date)
    }

    private func daysSince1970(_ day: Int) -> Int? {
        if countsFrom1904 { return day <= 2_957_003 ? day - 24_107 : nil }
        guard day > 0, day != 60, day <= 2_958_465 else { return nil }
        return day - (day < 60 ? 25_568 : 25_569)
    }

    /// `26:30:00`, with the digits of a fraction if there are some.
    static func time(_ seconds: Int, fraction: String) -> String {
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let text = "\(padded(seconds / 3600)):\(padded(seconds / 60 % 60)):\(padded(seconds % 60))"
        return fraction.isEmpty ? text : "\(text).\(fraction)"
    }
}
