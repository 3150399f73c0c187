/// Writes comma-separated values (RFC 4180), which `CSVReader` reads back byte for byte.
///
/// A cell is quoted only if necessary. Rows accumulate in `bytes`; for long output the caller takes them from time to
/// time.
public struct CSVWriter: Sendable {
    /// The line end of rows.
    public enum LineEnd: Sendable {
        /// The line end of RFC 4180.
        case crlf
        /// The line end of Unix.
        case lf
    }

    /// The bytes written and not taken yet.
    public private(set) var bytes: [UInt8] = []

    private let delimiter: UInt8
    private let lineEnd: LineEnd
    private var isFirstCell = true
    private var isStart = true
    private var rowIsOneEmptyCell = false
    private var isFirstRow = true
    /// Where the only cell of the first row begins, if readers would take a byte in it for the delimiter.
    private var doubtfulCell: Int?

    /// A writer without rows.
    ///
    /// - Throws: `CSVError` for an invalid delimiter.
    public init(delimiter: UInt8 = UInt8(ascii: ","), lineEnd: LineEnd = .crlf) throws(CSVError) {
        try CSVOptions(delimiter: delimiter).check()
        self.delimiter = delimiter
        self.lineEnd = lineEnd
    }

    /// Adds a cell to the current row.
    @inlinable public mutating func append(_ cell: some Collection<UInt8>) {
        if cell.withContiguousStorageIfAvailable({ append(bytes: $0) }) == nil {
            Array(cell).withUnsafeBufferPointer { append(bytes: $0) }
        }
    }

    @usableFromInline mutating func append(bytes cell: UnsafeBufferPointer<UInt8>) {
        if !isFirstCell { bytes.append(delimiter) }
        rowIsOneEmptyCell = isFirstCell && cell.isEmpty
        doubtfulCell = nil
        if needsQuotes(cell) {
            bytes.append(CSVByte.quote)
            for byte in cell {
                if byte == CSVByte.quote { bytes.append(byte) }
                bytes.append(byte)
            }
            bytes.append(CSVByte.quote)
        } else {
            if isFirstRow, isFirstCell, CSVHeader.isDoubtful(cell, delimiter) { doubtfulCell = bytes.count }
            bytes.append(contentsOf: cell)
        }
        isFirstCell = false
        isStart = false
    }

    /// Adds a cell of text to the current row.
    public mutating func append(_ cell: String) {
        append(cell.utf8)
    }

    /// Ends the current row. A row without cells is an empty line, which readers skip.
    public mutating func endRow() {
        // Without quotes the row would be an empty line.
        if rowIsOneEmptyCell { bytes += [CSVByte.quote, CSVByte.quote] }
        if let doubtfulCell, doubtfulCell < bytes.count {
            bytes.insert(CSVByte.quote, at: doubtfulCell)
            bytes.append(CSVByte.quote)
        }
        (doubtfulCell, isFirstRow) = (nil, false)
        if lineEnd == .crlf { bytes.append(CSVByte.cr) }
        bytes.append(CSVByte.lf)
        isFirstCell = true
        isStart = false
        rowIsOneEmptyCell = false
    }

    /// Adds a whole row of text.
    public mutating func appendRow(_ cells: some Sequence<String>) {
        for cell in cells { append(cell) }
        endRow()
    }

    /// Removes and returns the bytes written so far.
    public mutating func take() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }

    private func needsQuotes(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        for byte in cell
        where byte == delimiter || byte == CSVByte.quote || byte == CSVByte.cr || byte == CSVByte.lf {
            return true
        }
        // At the start of the text it would be read as a byte order mark.
        return isStart && cell.starts(with: CSVByte.byteOrderMark)
    }
}
