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

/// The rows of comma-separated values whose bytes come asynchronously: `csvRows(options:)` of a sequence of bytes, or of
/// pieces of them.
///
/// ```swift
/// for try await row in FileHandle.standardInput.bytes.csvRows() { print(row.string(0) ?? "") }
/// ```
///
/// A row comes as soon as its line end has. The first row is the header, which the rows are without: ``Iterator/header(isolation:)``
/// has it, and with the options' `hasHeader: false` it is a row like the others. Errors are those of ``CSVReader``, after
/// the rows in front of them, and those of the bytes. Memory: one row and one piece. Time: linear.
public struct CSVRowSequence<Bytes: AsyncSequence>: AsyncSequence {
    /// A row's cells.
    public typealias Element = CSVRow

    private let bytes: Bytes
    private let options: CSVOptions
    private let add: Adding

    /// Adds an element's bytes to a piece; true if the piece is to be read.
    fileprivate typealias Adding = (Bytes.Element, inout [UInt8]) -> Bool

    fileprivate init(_ bytes: Bytes, _ options: CSVOptions, _ add: @escaping Adding) {
        (self.bytes, self.options, self.add) = (bytes, options, add)
    }

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(bytes.makeAsyncIterator(), options, add) }

    /// Reads the rows one by one.
    public struct Iterator: AsyncIteratorProtocol {
        private var bytes: Bytes.AsyncIterator
        private let options: CSVOptions
        private let add: Adding
        private var reader: CSVPushReader?
        private var piece: [UInt8] = []
        private var isFinished = false

        fileprivate init(_ bytes: Bytes.AsyncIterator, _ options: CSVOptions, _ add: @escaping Adding) {
            (self.bytes, self.options, self.add) = (bytes, options, add)
        }

        /// The first row if the options declare a header; nil if they don't, or the text has no row.
        ///
        /// - Throws: `CSVError` for an invalid delimiter and for malformed text; the errors of the bytes.
        public mutating func header(isolation: isolated (any Actor)? = #isolation) async throws -> CSVRow? {
            let reader = try begin()
            while options.hasHeader {
                if let header = try reader.header() { return header }
                guard try await feed(reader, isolation) else { break }
            }
            return nil
        }

        /// The next row after the header; nil at the end.
        ///
        /// - Throws: `CSVError` for an invalid delimiter and for malformed text; the errors of the bytes.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> CSVRow? {
            let reader = try begin()
            var row = CSVRow()
            while true {
                if try reader.next(into: &row) { return row }
                guard try await feed(reader, actor) else { return nil }
            }
        }

        private mutating func begin() throws(CSVError) -> CSVPushReader {
            if let reader { return reader }
            let reader = try CSVPushReader(options: options)
            self.reader = reader
            return reader
        }

        /// Feeds the next piece, or the end; false if that was fed before.
        private mutating func feed(_ reader: CSVPushReader, _ actor: isolated (any Actor)?) async throws -> Bool {
            if isFinished { return false }
            while let element = try await bytes.next(isolation: actor) {
                guard add(element, &piece) else { continue }
                reader.feed(piece)
                piece.removeAll(keepingCapacity: piece.capacity <= 1 << 20)
                return true
            }
            reader.feed(piece)
            piece = []
            reader.finish()
            isFinished = true
            return true
        }
    }
}

// Guard: the closure is one of the two below, and captures the type of the elements alone, which the compiler does not take
// for Sendable.
extension CSVRowSequence: @unchecked Sendable where Bytes: Sendable {}

@available(*, unavailable) extension CSVRowSequence.Iterator: Sendable {}

extension AsyncSequence where Element == UInt8 {
    /// The rows of comma-separated values that these bytes are.
    public func csvRows(options: CSVOptions = CSVOptions()) -> CSVRowSequence<Self> {
        CSVRowSequence(self, options) { byte, piece in
            piece.append(byte)
            // No row ends elsewhere, and a long one is to meet its limit.
            return byte == CSVByte.lf || byte == CSVByte.cr || piece.count >= 4096
        }
    }
}

extension AsyncSequence where Element: Sequence<UInt8> {
    /// The rows of comma-separated values that these pieces are, cut anywhere.
    public func csvRows(options: CSVOptions = CSVOptions()) -> CSVRowSequence<Self> {
        CSVRowSequence(self, options) { bytes, piece in
            piece.append(contentsOf: bytes)
            return true
        }
    }
}
