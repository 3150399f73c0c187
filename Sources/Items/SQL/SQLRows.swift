import PropertyList
package import SQLite
import Wording

/// The rows that a statement returned: nine bytes a cell, texts and blobs one after the other.
///
/// A value of a row is made when it is read. Rows are appended cell by cell, and never change.
package final class SQLRows {
    /// The columns in the statement's order; a name that an earlier column has is numbered: `name`, `name_2`.
    package let columns: [String]
    /// The text of a statement without parameters that gives these rows, by whose columns another one can name them; nil for
    /// other rows.
    package let statement: String?
    /// The number of whole rows.
    package private(set) var count = 0
    private var pages: [Page] = []

    /// The number of rows of a page, a power of two: what grows is copied, so that large results are many small arrays.
    private static let pageSize = 1024

    private struct Page {
        var kinds: [Kind] = []
        /// A number's bits, or the place of a text in the heap.
        var payloads: [UInt64] = []
        /// Texts and blobs, each after its length in four bytes.
        var heap: [UInt8] = []

        var size: Int { kinds.count * 9 + heap.count }

        mutating func add(_ kind: Kind, _ payload: UInt64) {
            kinds.append(kind)
            payloads.append(payload)
        }

        func withBytes<Result>(
            _ place: UInt64, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
        ) rethrows -> Result {
            try heap.withUnsafeBufferPointer { heap in
                let start = Int(place) + 4
                let count = Int(UnsafeRawBufferPointer(heap).loadUnaligned(fromByteOffset: Int(place), as: UInt32.self))
                return try body(UnsafeBufferPointer(rebasing: heap[start..<start + count]))
            }
        }
    }

    private enum Kind: UInt8 { case null, integer, real, text, blob }

    /// No rows yet.
    ///
    /// - Parameters:
    ///   - columns: the columns' names by the statement; names may repeat.
    ///   - statement: the text of a statement that reads, and has no parameters.
    package init(columns: [String], statement: String? = nil) {
        self.columns = Self.distinct(columns)
        // As a table, a statement has other names for columns of one name, and for constants.
        let folded = Set(columns.map { $0.lowercased() })
        let areNamed = folded.count == columns.count && folded.isDisjoint(with: ["true", "false", ""])
        self.statement = areNamed ? statement : nil
    }

    /// Numbers names that repeat, as an import numbers those of a file.
    package static func distinct(_ names: [String]) -> [String] {
        let all = NameSet(names)
        var known: NameSet = []
        return names.map { name in
            if known.insert(name).inserted { return name }
            var number = 2
            while all.contains("\(name)_\(number)") || known.contains("\(name)_\(number)") { number += 1 }
            known.insert("\(name)_\(number)")
            return "\(name)_\(number)"
        }
    }

    /// The size of the rows in memory, in bytes.
    package var size: Int { pages.reduce(0) { $0 + $1.size } }

    /// The bytes that the row being appended makes the last page grow by, so far.
    package private(set) var appended = 0

    // MARK: Appending

    /// Appends the next cell of the row.
    package func append(_ cell: SQLiteCell) {
        let width = max(columns.count, 1)
        if pages.isEmpty || pages[pages.count - 1].kinds.count == Self.pageSize * width { pages.append(Page()) }
        let last = pages.count - 1
        appended += 9
        switch cell {
        case .null: pages[last].add(.null, 0)
        case .integer(let number): pages[last].add(.integer, UInt64(bitPattern: number))
        case .real(let number): pages[last].add(.real, number.bitPattern)
        case .text(let bytes): append(bytes, .text, last)
        case .blob(let bytes): append(bytes, .blob, last)
        }
    }

    private func append(_ bytes: UnsafeBufferPointer<UInt8>, _ kind: Kind, _ page: Int) {
        appended += bytes.count + 4
        pages[page].add(kind, UInt64(pages[page].heap.count))
        withUnsafeBytes(of: UInt32(clamping: bytes.count)) { pages[page].heap.append(contentsOf: $0) }
        pages[page].heap.append(contentsOf: bytes)
    }

    /// Ends the row.
    ///
    /// - Returns: the bytes of memory that it takes.
    @discardableResult
    package func endRow() -> Int {
        defer { appended = 0 }
        count += 1
        return appended
    }

    // MARK: Reading

    /// Calls a body with a cell, whose memory is valid during the call.
    package func withCell<Result>(
        _ row: Int, _ column: Int, _ body: (SQLiteCell) throws -> Result
    ) rethrows -> Result {
        let (page, place) = (row / Self.pageSize, row % Self.pageSize * columns.count + column)
        let payload = pages[page].payloads[place]
        switch pages[page].kinds[place] {
        case .null: return try body(.null)
        case .integer: return try body(.integer(Int64(bitPattern: payload)))
        case .real: return try body(.real(Double(bitPattern: payload)))
        case .text: return try pages[page].withBytes(payload) { try body(.text($0)) }
        case .blob: return try pages[page].withBytes(payload) { try body(.blob($0)) }
        }
    }

    private func kind(_ row: Int, _ column: Int) -> Kind {
        pages[row / Self.pageSize].kinds[row % Self.pageSize * columns.count + column]
    }

    package func isNull(_ row: Int, _ column: Int) -> Bool { kind(row, column) == .null }

    package func isNumber(_ row: Int, _ column: Int) -> Bool { [.integer, .real].contains(kind(row, column)) }

    /// Whether all values of a column are numbers or absent, and some are numbers.
    package func isNumeric(_ column: Int) -> Bool {
        var hasNumber = false
        for row in 0..<count {
            switch kind(row, column) {
            case .null: continue
            case .integer, .real: hasNumber = true
            case .text, .blob: return false
            }
        }
        return hasNumber
    }

    /// Negative, 0 or positive if the value of a row is before, equal to or after that of another, in SQLite's order: NULL,
    /// numbers, texts byte by byte, blobs.
    package func compare(_ first: Int, _ second: Int, _ column: Int) -> Int {
        withCell(first, column) { left in withCell(second, column) { right in left.compare(right) } }
    }

    /// The text of a value for display: NULL has its name, a blob its size.
    package func shownText(_ row: Int, _ column: Int) -> String {
        withCell(row, column) { cell in
            switch cell {
            case .null: return "NULL"
            case .integer(let number): return String(number)
            case .real(let number):
                var text: [UInt8] = []
                number.appendShortest(to: &text)
                return String(decoding: text, as: UTF8.self)
            case .text(let bytes): return String(decoding: bytes, as: UTF8.self)
            case .blob(let bytes): return bytes.count.counted("byte")
            }
        }
    }
}
