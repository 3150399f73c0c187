/// Reads comma-separated values whose bytes are handed to it as they come, in pieces of any size.
///
/// ```swift
/// let reader = try CSVPushReader()
/// var row = CSVRow()
/// reader.feed(Array("name,price\nlamp,1".utf8))
/// while try reader.next(into: &row) {}  // no row is complete yet
/// reader.feed(Array("4\n".utf8))
/// while try reader.next(into: &row) { print(row.string(1) ?? "") }  // 14
/// reader.finish()
/// while try reader.next(into: &row) {}  // a last row without a line end
/// ```
///
/// It is a `CSVReader` that does not wait: the same rows, lines and errors for the same bytes, however they are cut, also
/// within a character, a quote's pair or CRLF. Memory: a buffer of 64 KiB, one row, and what was fed and not taken by
/// ``next(into:)`` yet. Time: linear.
public final class CSVPushReader {
    /// The bytes fed and not taken yet.
    private final class Queue {
        var bytes: [UInt8] = []
        var given = 0
        var isFinished = false

        /// The largest buffer that is retained for the next bytes.
        static let retained = 1 << 20

        func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            let count = min(buffer.count, bytes.count - given)
            guard count > 0 else { return isFinished ? 0 : CSVReader.noBytesYet }
            bytes.withUnsafeBytes {
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[given..<given + count]))
            }
            given += count
            if given == bytes.count {
                bytes.removeAll(keepingCapacity: bytes.capacity <= Self.retained)
                given = 0
            }
            return count
        }

        func add(_ piece: some Sequence<UInt8>) {
            // What was taken goes when it is the larger part: each byte is moved once.
            if given > bytes.count / 2 {
                bytes.removeSubrange(..<given)
                given = 0
            }
            bytes.append(contentsOf: piece)
        }
    }

    /// The current line from 1: behind a row, the one after it.
    public var line: Int { reader.line }
    /// The line on which the last row begins, from 1.
    public var startLine: Int { reader.startLine }

    private let reader: CSVReader
    private let queue: Queue
    /// The row that is being read.
    private var partial = CSVRow()
    private var headerRow: CSVRow?
    private var isBehindHeader: Bool
    private var failure: CSVError?

    /// A reader without bytes.
    ///
    /// - Throws: `CSVError` for an invalid delimiter.
    public init(options: CSVOptions = CSVOptions()) throws(CSVError) {
        let queue = Queue()
        var pushed = options
        pushed.isPushed = true
        reader = try CSVReader(options: pushed) { buffer throws(CSVError) in queue.read(into: buffer) }
        self.queue = queue
        isBehindHeader = !options.hasHeader
    }

    /// Adds the next bytes, which ``next(into:)`` makes rows of. O(bytes).
    ///
    /// - Precondition: the text is not finished.
    public func feed(_ bytes: some Sequence<UInt8>) {
        precondition(!queue.isFinished, "a text that is finished takes no more bytes")
        queue.add(bytes)
    }

    /// Ends the text: what was fed last may be a row without a line end.
    public func finish() { queue.isFinished = true }

    /// The first row if the options declare a header; nil if they don't, and as long as it is not complete.
    ///
    /// - Throws: `CSVError` for malformed text.
    public func header() throws(CSVError) -> CSVRow? {
        if !isBehindHeader, try advance() {
            headerRow = partial
            isBehindHeader = true
        }
        return headerRow
    }

    /// Takes the next complete row after the header, into a reusable buffer.
    ///
    /// - Returns: false, and an empty row, when more bytes are needed, and at the end of the text.
    /// - Throws: `CSVError` for malformed text, and again whenever it is called after that.
    public func next(into row: inout CSVRow) throws(CSVError) -> Bool {
        _ = try header()
        guard isBehindHeader, try advance() else {
            row.removeAll()
            return false
        }
        swap(&row, &partial)
        return true
    }

    private func advance() throws(CSVError) -> Bool {
        if let failure { throw failure }
        do throws(CSVError) { return try reader.advance(into: &partial) == .row } catch {
            failure = error
            throw error
        }
    }
}

extension CSVReader {
    /// Where reading stopped for lack of bytes, and goes on with the next ones.
    enum Place: Equatable {
        /// In front of the text, of which a byte order mark is skipped.
        case beginning
        /// Within so many lines that are skipped.
        case titles(Int)
        /// Behind a row.
        case between
        /// Within a comment.
        case comment
        /// In front of a cell.
        case cell
        /// In front of a cell, among blanks that do not belong to it.
        case blanks
        /// Within a cell without quotes.
        case bare
        /// Within a quoted cell, behind a return or not.
        case quoted(afterReturn: Bool)
        /// Behind a quote within a quoted cell.
        case quote

        var isInRow: Bool {
            switch self {
            case .beginning, .titles, .between, .comment: false
            case .cell, .blanks, .bare, .quoted, .quote: true
            }
        }
    }

    /// How far reading came.
    enum Progress {
        /// A row is complete.
        case row
        /// The text is over.
        case end
        /// There are no bytes yet.
        case waiting
    }
}
