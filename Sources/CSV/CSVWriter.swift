/// Writes comma-separated values (RFC 4180) that `CSVReader`, and others, read back byte for byte.
///
/// A cell is quoted only where it must be. The rows gather in `bytes`; who writes much takes them from time to time.
public struct CSVWriter: Sendable {
    /// How rows end.
    public enum LineEnd: Sendable {
        /// As RFC 4180 has it.
        case crlf
        /// As Unix has it.
        case lf
    }

    /// What was written and not yet taken.
    public private(set) var bytes: [UInt8] = []

    private let delimiter: UInt8
    private let lineEnd: LineEnd
    private var isFirstCell = true
    private var isStart = true
    private var rowIsOneEmptyCell = false

    /// A writer without rows.
    ///
    /// - Throws: `CSVError` when the delimiter cannot be one.
    public init(delimiter: UInt8 = UInt8(ascii: ","), lineEnd: LineEnd = .crlf) throws(CSVError) {
        try CSVOptions(delimiter: delimiter).check()
        self.delimiter = delimiter
        self.lineEnd = lineEnd
    }

    /// Adds a cell to the row that is being written.
    @inlinable public mutating func append(_ cell: some Collection<UInt8>) {
        if cell.withContiguousStorageIfAvailable({ append(bytes: $0) }) == nil {
            Array(cell).withUnsafeBufferPointer { append(bytes: $0) }
        }
    }

    @usableFromInline mutating func append(bytes cell: UnsafeBufferPointer<UInt8>) {
        if !isFirstCell { bytes.append(delimiter) }
        rowIsOneEmptyCell = isFirstCell && cell.isEmpty
        if needsQuotes(cell) {
            bytes.append(CSVByte.quote)
            for byte in cell {
                if byte == CSVByte.quote { bytes.append(byte) }
                bytes.append(byte)
            }
            bytes.append(CSVByte.quote)
        } else {
            bytes.append(contentsOf: cell)
        }
        isFirstCell = false
        isStart = false
    }

    /// Adds a cell of text to the row that is being written.
    public mutating func append(_ cell: String) {
        append(cell.utf8)
    }

    /// Ends the row that is being written. A row without cells leaves an empty line, which readers skip.
    public mutating func endRow() {
        // Else the row would be an empty line.
        if rowIsOneEmptyCell { bytes += [CSVByte.quote, CSVByte.quote] }
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

    /// Hands over what was written, and forgets it.
    public mutating func take() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }

    private func needsQuotes(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        for byte in cell
        where byte == delimiter || byte == CSVByte.quote || byte == CSVByte.cr || byte == CSVByte.lf {
            return true
        }
        // At the start of the text it would be taken for a byte order mark.
        return isStart && cell.starts(with: CSVByte.byteOrderMark)
    }
}
