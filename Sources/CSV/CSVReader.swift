import Platform
import PropertyList
@_exported import Wording

/// Reads comma-separated values (RFC 4180) row by row from a stream, keeping every cell's bytes exactly.
///
/// Lines end in LF, CRLF or CR. A quoted cell ends at its closing quote and may contain line breaks and delimiters; two
/// quotes in it are one. A quote elsewhere is an ordinary character, spaces belong to the cell, an empty line is no
/// row, and a byte order mark at the start is skipped. Memory: a buffer of 64 KiB and one row. Time: linear.
public final class CSVReader {
    /// Fills part of a buffer and returns the number of bytes; 0 at the end of the stream.
    typealias Source = (UnsafeMutableRawBufferPointer) throws(CSVError) -> Int

    /// The size of the buffer, in bytes.
    package static let chunkSize = 65536

    /// The number of the last row from 1, including the header.
    @exclusivity(unchecked) package private(set) var row = 0
    /// The current line from 1: behind a row, the one after it.
    @exclusivity(unchecked) public private(set) var line = 1

    let options: CSVOptions
    /// No shorter row is longer than a limit.
    private let lengthLimit: Int
    private let takesBareCells: Bool
    /// It may have `noBytesYet` if the options say that bytes are pushed: that of callers waits instead.
    private let source: Source
    static let noBytesYet = -1
    private let chunk: UnsafeMutablePointer<UInt8>
    @exclusivity(unchecked) private var position = 0
    @exclusivity(unchecked) private var filled = 0
    @exclusivity(unchecked) private var atEnd = false
    /// Whether the source had no bytes, and the text goes on: only where they are pushed.
    @exclusivity(unchecked) private var isWaiting = false
    @exclusivity(unchecked) private var place = Place.beginning
    @exclusivity(unchecked) private var skipsLineFeed = false
    private var headerRow: CSVRow?
    /// The line on which the last row begins, from 1.
    @exclusivity(unchecked) public private(set) var startLine = 1
    /// The lines that are comments, so far.
    @exclusivity(unchecked) package private(set) var comments = 0
    private var recovery = CSVRecovery()
    /// Whether a byte ends the scan of a bare cell, or of a quoted one.
    private let stopsBare: [Bool]
    private let stopsQuoted: [Bool]

    /// Reads from a source of bytes.
    ///
    /// - Parameters:
    ///   - options: the delimiter, and whether there is a header.
    ///   - source: fills part of a buffer and returns the number of bytes; 0 at the end of the stream.
    /// - Throws: `CSVError` for an invalid delimiter.
    public init(
        options: CSVOptions = CSVOptions(),
        source: @escaping (UnsafeMutableRawBufferPointer) throws(CSVError) -> Int
    ) throws(CSVError) {
        try options.check()
        self.options = options
        lengthLimit = min(options.cellLimit, options.rowLimit)
        // Zeros are looked for in cells: none may be between them.
        takesBareCells = !options.skipsBlanks && options.delimiter != 0
        self.source = source
        chunk = .allocate(capacity: Self.chunkSize)
        stopsBare = (0...255).map { [options.delimiter, CSVByte.cr, CSVByte.lf].contains($0) }
        stopsQuoted = (0...255).map { [CSVByte.quote, CSVByte.cr, CSVByte.lf].contains($0) }
    }

    /// Reads from a file descriptor, which the caller owns and keeps open.
    ///
    /// - Throws: `CSVError` for an invalid delimiter.
    public convenience init(fileDescriptor: Int32, options: CSVOptions = CSVOptions()) throws(CSVError) {
        try self.init(options: options, source: Self.source(of: fileDescriptor))
    }

    private static func source(of fileDescriptor: Int32) -> Source {
        { buffer throws(CSVError) in
            while true {
                let count = read(fileDescriptor, buffer.baseAddress, buffer.count)
                if count >= 0 { return count }
                let code = errno
                if code != EINTR {
                    throw CSVError(
                        .unreadable(code), row: 0, line: 0, "cannot read: \(String(cString: strerror(code)))")
                }
            }
        }
    }

    /// Reads from bytes in memory.
    ///
    /// - Throws: `CSVError` for an invalid delimiter.
    public convenience init(bytes: [UInt8], options: CSVOptions = CSVOptions()) throws(CSVError) {
        var given = 0
        try self.init(options: options) { buffer throws(CSVError) in
            let count = min(buffer.count, bytes.count - given)
            buffer.copyBytes(from: bytes[given..<given + count])
            given += count
            return count
        }
    }

    deinit {
        chunk.deallocate()
    }

    /// All rows of a text, including the header.
    ///
    /// - Throws: `CSVError` for malformed text, and for cells that are not UTF-8.
    package static func rows(
        of text: some Sequence<UInt8>, options: CSVOptions = CSVOptions()
    ) throws(CSVError) -> [[String]] {
        var options = options
        options.hasHeader = false
        let reader = try CSVReader(bytes: Array(text), options: options)
        var row = CSVRow()
        var rows: [[String]] = []
        while try reader.next(into: &row) {
            guard let strings = row.strings else {
                throw CSVError(.notText, row: reader.row, line: reader.line, "a cell is not UTF-8 text")
            }
            rows.append(strings)
        }
        return rows
    }

    /// The first row if the options declare a header; nil if they don't, or the text has no row.
    ///
    /// - Throws: `CSVError` for malformed or unreadable text.
    public func header() throws(CSVError) -> CSVRow? {
        guard options.hasHeader else { return nil }
        if row == 0 {
            var first = CSVRow()
            if try readRow(into: &first) { headerRow = first }
        }
        return headerRow
    }

    /// Reads the next row after the header into a reusable buffer.
    ///
    /// - Returns: false, and an empty row, at the end.
    /// - Throws: `CSVError` for malformed or unreadable text; further rows are undefined then.
    public func next(into row: inout CSVRow) throws(CSVError) -> Bool {
        if self.row == 0 { _ = try header() }
        return try readRow(into: &row)
    }

    // MARK: - One row

    private func readRow(into row: inout CSVRow) throws(CSVError) -> Bool {
        do throws(CSVError) { return try advance(into: &row) == .row } catch {
            // What follows a malformed row is another one.
            if place.isInRow { place = .between }
            throw error
        }
    }

    /// Reads on until a row is complete, the text is over, or there are no bytes: then the row is given again with the next
    /// ones, as it is.
    func advance(into row: inout CSVRow) throws(CSVError) -> Progress {
        isWaiting = false
        if !place.isInRow {
            row.removeAll()
            guard try beginRow() else { return isWaiting ? .waiting : .end }
        }
        while true {
            if takesBareCells, case .cell = place, try readBareCells(into: &row) { return endRow() }
            guard let last = try readCell(into: &row) else { return .waiting }
            row.endCell()
            if row.count > options.columnLimit { throw tooManyCells }
            if last { return endRow() }
            place = options.skipsBlanks ? .blanks : .cell
        }
    }

    /// Reads up to the first byte of a row. False if there is none, or none yet.
    private func beginRow() throws(CSVError) -> Bool {
        while true {
            switch place {
            case .beginning:
                guard try skipByteOrderMark() else { return false }
                place = options.skippedLines > 0 ? .titles(options.skippedLines) : .between
            case .titles(let count):
                guard try skipLine() else { return false }
                place = count > 1 ? .titles(count - 1) : .between
            case .comment:
                guard try skipLine() else { return false }
                comments += 1
                place = .between
            default:
                try skipEmptyLines()
                if !options.comment.isEmpty, try isComment() {
                    place = .comment
                    continue
                }
                guard !isWaiting, try hasMore() else { return false }
                row += 1
                startLine = line
                if options.recovers { recovery.begin(at: position) }
                place = .cell
                return true
            }
        }
    }

    private func endRow() -> Progress {
        place = .between
        if options.recovers { recovery.end() }
        return .row
    }

    /// Reads a cell, or the rest of it. True at the end of the row, nil for lack of bytes.
    private func readCell(into row: inout CSVRow) throws(CSVError) -> Bool? {
        switch place {
        case .quote:
            if let last = try readBehindQuote(into: &row) { return last }
            return place == .quote ? nil : try readQuoted(into: &row)
        case .quoted: return try readQuoted(into: &row)
        case .bare: return try readBare(into: &row)
        default: break
        }
        if place == .blanks {
            while try hasMore(), chunk[position] == 0x20 { position += 1 }
            if isWaiting { return nil }
            place = .cell
        }
        // The text may end with a delimiter.
        guard try hasMore() else { return isWaiting ? nil : true }
        guard chunk[position] == CSVByte.quote else {
            place = .bare
            return try readBare(into: &row)
        }
        position += 1
        row.isQuoted = true
        place = .quoted(afterReturn: false)
        return try readQuoted(into: &row)
    }

    private var tooManyCells: CSVError {
        failure(.rowTooLong, "a row of more than \(options.columnLimit) cells")
    }

    private var tooManyBytes: CSVError { failure(.rowTooLong, "a row of more than \(options.rowLimit) bytes") }

    /// Reads the cells without quotes that end in the buffer, and their ends: nearly all cells, at once. A table of 19
    /// columns takes half of the time that it takes cell by cell. True at the end of the row.
    private func readBareCells(into row: inout CSVRow) throws(CSVError) -> Bool {
        guard position < filled, chunk[position] != CSVByte.quote else { return false }
        let rest = UnsafeBufferPointer(start: chunk + position, count: filled - position)
        let (count, end) = row.appendBare(rest, delimiter: options.delimiter, cellLimit: options.cellLimit)
        guard let end else { return false }
        position += count
        if row.count > options.columnLimit || row.length > options.rowLimit {
            // The limit that cell by cell is met first.
            let first = (0..<min(row.count, options.columnLimit + 1)).reduce(0) { $0 + row[$1].count }
            throw first > options.rowLimit ? tooManyBytes : tooManyCells
        }
        return endsRow(end)
    }

    /// Reads a cell without quotes and its end. True at the end of the row, nil for lack of bytes.
    private func readBare(into row: inout CSVRow) throws(CSVError) -> Bool? {
        while try hasMore() {
            let start = position
            let end = filled
            var index = start
            stopsBare.withUnsafeBufferPointer { stops in
                while index < end && !stops[Int(chunk[index])] { index += 1 }
            }
            position = index
            try take(start..<index, into: &row)
            if index < end {
                position += 1
                return try endsCell(chunk[index], row.count)
            }
        }
        return isWaiting ? nil : true
    }

    /// Reads a quoted cell and its end. True at the end of the row, nil for lack of bytes.
    private func readQuoted(into row: inout CSVRow) throws(CSVError) -> Bool? {
        var afterReturn = place == .quoted(afterReturn: true)
        while try hasMore() {
            let start = position
            let end = filled
            var index = start
            stopsQuoted.withUnsafeBufferPointer { stops in
                while index < end && !stops[Int(chunk[index])] { index += 1 }
            }
            if index > start { afterReturn = false }
            position = index
            guard index < end else {
                try take(start..<index, into: &row)
                continue
            }
            position += 1
            let byte = chunk[index]
            if byte != CSVByte.quote {
                try take(start..<index + 1, into: &row)
                if !(byte == CSVByte.lf && afterReturn) { line += 1 }
                afterReturn = byte == CSVByte.cr
                continue
            }
            try take(start..<index, into: &row)
            place = .quote
            if let last = try readBehindQuote(into: &row) { return last }
            guard place != .quote else { return nil }
            afterReturn = false
        }
        guard isWaiting else {
            throw failure(.unterminatedQuote, "the text ends in a quoted cell; its closing quote is missing")
        }
        place = .quoted(afterReturn: afterReturn)
        return nil
    }

    /// Reads what follows a quote in a quoted cell. True at the end of the row, false at the end of the cell; nil where the
    /// cell goes on, or for lack of bytes, at the same place.
    private func readBehindQuote(into row: inout CSVRow) throws(CSVError) -> Bool? {
        guard try hasMore() else { return isWaiting ? nil : true }
        let next = chunk[position]
        if next == CSVByte.quote {
            row.append(CSVByte.quote)
            position += 1
            place = .quoted(afterReturn: false)
            return nil
        }
        guard stopsBare[Int(next)] else {
            throw failure(.textAfterQuote, "text after a closing quote; in a quoted cell write a quote as two quotes")
        }
        position += 1
        return try endsCell(next, row.count)
    }

    /// Ends a cell behind so many others, by the byte after it. True at the end of the row.
    private func endsCell(_ byte: UInt8, _ count: Int) throws(CSVError) -> Bool {
        if count >= options.columnLimit { throw tooManyCells }
        return endsRow(byte)
    }

    /// Handles the byte after a cell. True at the end of the row.
    private func endsRow(_ byte: UInt8) -> Bool {
        if byte == options.delimiter { return false }
        skipsLineFeed = byte == CSVByte.cr
        line += 1
        return true
    }

    private func take(_ range: Range<Int>, into row: inout CSVRow) throws(CSVError) {
        row.append(UnsafeBufferPointer(start: chunk + range.lowerBound, count: range.count))
        if row.length > lengthLimit { try checkLength(of: row) }
    }

    private func checkLength(of row: CSVRow) throws(CSVError) {
        let (cell, all) = (row.openCellLength - options.cellLimit, row.length - options.rowLimit)
        guard max(cell, all) > 0 else { return }
        // The limit that byte by byte is met first, however many bytes were taken at once.
        throw cell >= all ? failure(.cellTooLong, "a cell of more than \(options.cellLimit) bytes") : tooManyBytes
    }

    private func failure(_ code: CSVError.Code, _ what: String) -> CSVError {
        CSVError(code, row: row, line: line, what)
    }

    // MARK: - The stream

    /// Skips a byte order mark, which may arrive in pieces. False for lack of bytes.
    private func skipByteOrderMark() throws(CSVError) -> Bool {
        while filled < 3, !atEnd, CSVByte.byteOrderMark.starts(with: UnsafeBufferPointer(start: chunk, count: filled)) {
            filled += try readSource(into: filled)
            if isWaiting { return false }
        }
        if filled >= 3, CSVByte.byteOrderMark.elementsEqual(UnsafeBufferPointer(start: chunk, count: 3)) {
            position = 3
        }
        return true
    }

    /// Skips the rest of a line and its end. False for lack of bytes.
    @discardableResult private func skipLine(_ take: (UInt8) -> Void = { _ in }) throws(CSVError) -> Bool {
        while try hasMore() {
            let byte = chunk[position]
            position += 1
            if byte == CSVByte.lf, skipsLineFeed {
                skipsLineFeed = false
            } else if byte == CSVByte.lf || byte == CSVByte.cr {
                skipsLineFeed = byte == CSVByte.cr
                line += 1
                return true
            } else {
                skipsLineFeed = false
                take(byte)
            }
        }
        return !isWaiting
    }

    /// Whether the line begins with the mark of comments, which may arrive in pieces; false for lack of bytes, too.
    private func isComment() throws(CSVError) -> Bool {
        let mark = options.comment
        guard try hasMore(), chunk[position] == mark[0] else { return false }
        while filled - position < mark.count, !atEnd {
            (chunk).update(from: chunk + position, count: filled - position)
            filled -= position
            position = 0
            filled += try readSource(into: filled)
            if isWaiting { return false }
        }
        let start = UnsafeBufferPointer(start: chunk + position, count: filled - position)
        if start.starts(with: mark) { return true }
        // Of a mark with a blank, the blank may be left out at the end of the line.
        return mark.last == 0x20 && start.starts(with: mark.dropLast())
            && (start.count < mark.count || start[mark.count - 1] == CSVByte.lf || start[mark.count - 1] == CSVByte.cr)
    }

    /// Goes on behind the first line of a row that is malformed or too long, with the options' `recovers`.
    ///
    /// - Returns: the line's bytes without its end, at most 256 KB of it.
    /// - Throws: `CSVError` for unreadable text.
    package func recover() throws(CSVError) -> [UInt8] {
        let rest = UnsafeBufferPointer(
            start: chunk + min(recovery.start, filled), count: filled - min(recovery.start, filled))
        var (first, end) = recovery.take(rest)
        place = .between
        switch end {
        case .inBuffer:
            (position, filled, atEnd) = (0, 0, false)
            (line, skipsLineFeed) = (startLine + 1, recovery.endsInReturn)
        case .behindBuffer:
            position = filled
            try skipLine { if first.count < CSVRecovery.limit { first.append($0) } }
        case .unknown: try skipLine()
        }
        return first
    }

    private func skipEmptyLines() throws(CSVError) {
        while try hasMore() {
            let byte = chunk[position]
            if byte == CSVByte.lf && skipsLineFeed {
                skipsLineFeed = false
            } else if byte == CSVByte.lf || byte == CSVByte.cr {
                skipsLineFeed = byte == CSVByte.cr
                line += 1
            } else {
                skipsLineFeed = false
                return
            }
            position += 1
        }
    }

    private func hasMore() throws(CSVError) -> Bool {
        if position < filled { return true }
        return try refill()
    }

    private func refill() throws(CSVError) -> Bool {
        if atEnd { return false }
        if options.recovers { recovery.add(UnsafeBufferPointer(start: chunk, count: filled)) }
        position = 0
        filled = 0
        filled = try readSource(into: 0)
        return filled > 0
    }

    private func readSource(into offset: Int) throws(CSVError) -> Int {
        if Interruption.isDue { throw failure(.stopped, Interruption.message) }
        let capacity = Self.chunkSize - offset
        let buffer = UnsafeMutableRawBufferPointer(start: chunk + offset, count: capacity)
        let again = recovery.read(into: buffer)
        let count = again > 0 ? again : try source(buffer)
        isWaiting = options.isPushed && count == Self.noBytesYet
        if isWaiting { return 0 }
        precondition(0...capacity ~= count, "a source gives no more than there is room for")
        atEnd = count == 0
        return count
    }
}
