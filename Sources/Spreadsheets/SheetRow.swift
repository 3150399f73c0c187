package import PropertyList

/// The content of a cell. Texts are ranges of the row's bytes.
package enum SheetCell: Hashable, Sendable {
    /// A text in UTF-8.
    case text(Range<Int>)
    /// A whole number.
    case integer(Int64)
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

    /// The column of `B7`, counted from 0; nil for another text.
    static func column(_ name: UnsafeBufferPointer<UInt8>) -> Int? {
        var column = 0
        for byte in name {
            let letter = (byte & 0xDF) &- 0x41
            guard letter < 26, byte >= 0x41 else { break }
            column = column * 26 + Int(letter) + 1
            if column > 1 << 20 { return nil }
        }
        return column > 0 ? column - 1 : nil
    }
}
