/// The format of comma-separated values, and limits for untrusted input.
public struct CSVOptions: Sendable {
    /// The byte between two cells: ASCII, and neither a quote nor part of a line end.
    package var delimiter: UInt8 = UInt8(ascii: ",")
    /// Whether the first row names the columns.
    package var hasHeader = true
    /// The lines at the beginning that are skipped: titles.
    package var skippedLines = 0
    /// What a line begins with that is a comment; empty for none.
    package var comment: [UInt8] = []
    /// Whether blanks behind a delimiter do not belong to the cell, so that a quote behind them quotes.
    package var skipsBlanks = false
    /// Whether reading may go on behind a malformed row.
    package var recovers = false
    /// Whether the source may have no bytes yet, of a reader's own.
    var isPushed = false
    /// Maximum size of a cell, in bytes.
    package var cellLimit = 16 << 20
    /// Maximum size of a row's cells, in bytes.
    package var rowLimit = 64 << 20
    /// Maximum number of cells in a row.
    package var columnLimit = 65_536

    /// Options with default limits.
    public init(delimiter: UInt8 = UInt8(ascii: ","), hasHeader: Bool = true) {
        self.delimiter = delimiter
        self.hasHeader = hasHeader
    }

    func check() throws(CSVError) {
        guard delimiter < 0x80, delimiter != CSVByte.quote, delimiter != CSVByte.cr, delimiter != CSVByte.lf else {
            throw CSVError(
                .badDelimiter, row: 0, line: 0,
                "a delimiter is one ASCII character that is neither a quote nor a line end, such as \",\" or \";\"")
        }
    }
}

/// The special bytes besides the delimiter.
enum CSVByte {
    static let quote = UInt8(ascii: "\"")
    static let cr = UInt8(ascii: "\r")
    static let lf = UInt8(ascii: "\n")
    static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]
}

/// An error in comma-separated values, with its position.
public struct CSVError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Code: Equatable, Sendable {
        /// The text ends inside a quoted cell.
        case unterminatedQuote
        /// Something other than a delimiter or a line end follows a closing quote.
        case textAfterQuote
        /// A cell has more bytes than the limit.
        case cellTooLong
        /// A row has more cells, or more bytes, than the limit.
        case rowTooLong
        /// A cell requested as text is not UTF-8.
        case notText
        /// The delimiter is invalid.
        case badDelimiter
        /// Reading failed with this `errno`.
        case unreadable(Int32)
        /// The work was interrupted, for example by a script's deadline.
        case stopped
    }

    /// The kind of error.
    public let code: Code
    /// The row from 1, including the header; 0 when the error has no row.
    public let row: Int
    /// The line from 1 at which reading stopped; 0 when the error has no line.
    public let line: Int
    /// The problem, its position and its remedy.
    public let message: String
    /// The problem and its remedy.
    package let reason: String

    public var description: String { message }

    /// An error whose message has the position in front, unless the row is 0.
    package init(_ code: Code, row: Int, line: Int, _ what: String) {
        self.code = code
        self.row = row
        self.line = line
        reason = what
        message = row > 0 ? "row \(row), line \(line): \(what)" : what
    }
}

/// The bytes of the current row, for reading on behind its first line if it is malformed.
struct CSVRecovery {
    /// Where the row, or the rest of it, begins in the reader's buffer.
    private(set) var start = 0
    /// Whether the first line of the malformed row ended in a return at the end of what was read.
    private(set) var endsInReturn = false

    private var isInRow = false
    /// The row's bytes before the buffer.
    private var bytes: [UInt8] = []
    private var isTooLong = false
    /// Bytes to be read once more.
    private var pending: [UInt8] = []
    private var next = 0
    /// The most bytes that are read again for a malformed row.
    static let limit = 1 << 18

    mutating func begin(at position: Int) {
        (start, isInRow, isTooLong) = (position, true, false)
        if !bytes.isEmpty { bytes.removeAll(keepingCapacity: bytes.capacity <= Self.limit) }
    }

    mutating func end() { isInRow = false }

    /// Takes the row's bytes of a buffer that is about to be filled again.
    mutating func add(_ chunk: UnsafeBufferPointer<UInt8>) {
        guard isInRow else { return }
        let rest = chunk.dropFirst(start)
        start = 0
        if bytes.count + rest.count <= Self.limit { bytes.append(contentsOf: rest) } else { isTooLong = true }
    }

    /// Where the first line of a malformed row ends.
    enum LineEnd {
        /// In what was read: what follows it will be read again.
        case inBuffer
        /// Behind what was read.
        case behindBuffer
        /// The row is too long to be read again.
        case unknown
    }

    /// Ends the row.
    ///
    /// - Parameter rest: the rest of the buffer from the row's start on.
    /// - Returns: the first line as far as it was read, and where it ends.
    mutating func take(_ rest: UnsafeBufferPointer<UInt8>) -> (line: [UInt8], end: LineEnd) {
        isInRow = false
        let whole = bytes + rest
        let end = whole.firstIndex { $0 == CSVByte.lf || $0 == CSVByte.cr }
        let line = Array(whole[..<(end ?? whole.count)].prefix(Self.limit))
        if isTooLong { return (line, .unknown) }
        guard let end else { return (line, .behindBuffer) }
        let isReturn = whole[end] == CSVByte.cr
        let hasFeed = isReturn && end + 1 < whole.count && whole[end + 1] == CSVByte.lf
        endsInReturn = isReturn && !hasFeed
        pending = Array(whole[(end + (hasFeed ? 2 : 1))...]) + pending[next...]
        next = 0
        return (line, .inBuffer)
    }

    /// Gives bytes that are read once more, and their number.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, pending.count - next)
        guard count > 0 else { return 0 }
        buffer.copyBytes(from: pending[next..<next + count])
        next += count
        if next == pending.count { (pending, next) = ([], 0) }
        return count
    }
}
