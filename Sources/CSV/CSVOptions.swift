import PropertyList

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

/// The encodings of texts in files; the names are those of the option.
package enum TextEncoding: String, Sendable, CaseIterable {
    case utf8 = "utf-8"
    case windows1252 = "windows-1252"
    case utf16LittleEndian = "utf-16le"
    case utf16BigEndian = "utf-16be"
}

/// What is given, or assumed by a file's first 64 KB, of the form of comma-separated values.
package struct CSVDialect: Hashable, Sendable {
    /// The most bytes of a file that are looked at.
    package static let headSize = 65536

    /// What the caller says; nil for what is to be found.
    package struct Given: Hashable, Sendable {
        package var encoding: TextEncoding?
        package var delimiter: UInt8?
        package var skippedLines: Int?
        package var comment: [UInt8]?
        package var hasHeader = true
        /// The delimiter in doubt: a tab for a `.tsv`.
        package var usual = UInt8(ascii: ",")

        package init() {}
    }

    /// What was assumed, so that it can be said, and overridden.
    package enum Assumption: Hashable, Sendable {
        /// The text is in another encoding than UTF-8.
        case encoding(TextEncoding)
        /// Another delimiter than the usual one.
        case delimiter(UInt8)
        /// A line `sep=;` was skipped.
        case separatorLine
        /// Lines above the header were skipped; the first one's beginning.
        case titles(Int, String)
        /// Lines that begin so are comments.
        case comments(String)
        /// Blanks behind delimiters do not belong to the cells.
        case blanks
    }

    package var encoding = TextEncoding.utf8
    package var delimiter = UInt8(ascii: ",")
    package var skippedLines = 0
    package var comment: [UInt8] = []
    package var skipsBlanks = false
    package private(set) var assumptions: [Assumption] = []

    /// The options of a reader of such a text.
    package func options(hasHeader: Bool = true) -> CSVOptions {
        var options = CSVOptions(delimiter: delimiter, hasHeader: hasHeader)
        (options.skippedLines, options.comment, options.skipsBlanks) = (skippedLines, comment, skipsBlanks)
        return options
    }

    /// The assumptions in a phrase: `tab, 3 lines above the header left out`; nil for none.
    package var phrase: String? {
        assumptions.isEmpty ? nil : assumptions.map(\.description).joined(separator: ", ")
    }

    /// Finds the form of a text.
    ///
    /// - Parameters:
    ///   - head: the first bytes of the file, as it is.
    ///   - isWhole: whether they are all of it.
    ///   - given: what the caller says.
    package init(of head: [UInt8], isWhole: Bool, _ given: Given = Given()) {
        (delimiter, comment) = (given.delimiter ?? given.usual, given.comment ?? [])
        skippedLines = given.skippedLines ?? 0
        encoding = given.encoding ?? Self.encoding(of: head, isWhole: isWhole)
        if given.encoding == nil, encoding != .utf8 { assumptions.append(.encoding(encoding)) }
        var sample = CSVSample(text: encoding.decode(head), isWhole: isWhole)
        if given.delimiter == nil, given.skippedLines == nil, let separator = sample.separatorLine {
            (delimiter, skippedLines) = (separator, 1)
            assumptions.append(.separatorLine)
            if separator != given.usual { assumptions.append(.delimiter(separator)) }
        } else if given.delimiter == nil {
            delimiter = sample.delimiter(usual: given.usual, self)
            if delimiter != given.usual { assumptions.append(.delimiter(delimiter)) }
        }
        if sample.hasBlanks(self) {
            skipsBlanks = true
            assumptions.append(.blanks)
        }
        guard given.skippedLines == nil, given.hasHeader, skippedLines == 0 else { return }
        guard let titles = sample.titles(self) else { return }
        if given.comment == nil, titles.areComments {
            comment = Array("# ".utf8)
            assumptions.append(.comments("#"))
        } else {
            skippedLines = titles.lines
            assumptions.append(.titles(titles.lines, titles.first))
        }
    }

    /// The encoding of a text, as far as its first bytes show it.
    private static func encoding(of head: [UInt8], isWhole: Bool) -> TextEncoding {
        if let unicode = head.prefix(4096).withUnsafeBytes({ ForeignFile.utf16($0) }) {
            return unicode.isBigEndian ? .utf16BigEndian : .utf16LittleEndian
        }
        // A character may be cut at the end.
        let cut = isWhole ? 0 : min(3, head.count)
        let isUTF8 = (0...cut).contains { String(validating: head.dropLast($0), as: UTF8.self) != nil }
        let undefined: Set<UInt8> = [0x00, 0x81, 0x8D, 0x8F, 0x90, 0x9D]
        if isUTF8 || head.contains(where: undefined.contains) { return .utf8 }
        // A text in UTF-8 with a damaged byte is refused by its row, and not read as another text.
        let characters = String(decoding: head, as: UTF8.self).unicodeScalars
        let (damaged, whole) = characters.reduce(into: (0, 0)) { counts, scalar in
            if scalar == "\u{FFFD}" { counts.0 += 1 } else if scalar.value >= 0x80 { counts.1 += 1 }
        }
        return damaged > whole ? .windows1252 : .utf8
    }
}

extension CSVDialect.Assumption: CustomStringConvertible {
    package var description: String {
        switch self {
        case .encoding(let encoding):
            encoding.rawValue.replacing("utf-16le", with: "utf-16").replacing("utf-16be", with: "utf-16")
        case .delimiter(UInt8(ascii: "\t")): "tab"
        case .delimiter(let delimiter): String(Character(Unicode.Scalar(delimiter))).quoted()
        case .separatorLine: "the line \"sep=\" left out"
        case .titles(let count, let first):
            "\(count.counted("line")) above the header left out (\(VisibleText.line(first.shortened(to: 60)).quoted()))"
        case .comments(let mark): "lines that begin with \(mark) left out"
        case .blanks: "blanks behind delimiters left out"
        }
    }
}

extension TextEncoding {
    /// The first bytes of a text as UTF-8, without a character that is cut at the end.
    func decode(_ head: [UInt8]) -> [UInt8] {
        switch self {
        case .utf8: return head
        case .windows1252:
            return head.flatMap { byte -> [UInt8] in
                // Signs between 80 and 9F are quotes and the like.
                byte < 0x80 ? [byte] : byte < 0xA0 ? Array("\u{FFFD}".utf8) : [0xC0 | byte >> 6, 0x80 | byte & 0x3F]
            }
        case .utf16LittleEndian, .utf16BigEndian:
            let units = stride(from: 0, to: head.count - 1, by: 2).map { index in
                let (first, second) = (UInt16(head[index]), UInt16(head[index + 1]))
                return self == .utf16BigEndian ? first << 8 | second : second << 8 | first
            }
            return Array(String(decoding: units, as: UTF16.self).utf8)
        }
    }
}
