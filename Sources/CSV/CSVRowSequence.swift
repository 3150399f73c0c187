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
