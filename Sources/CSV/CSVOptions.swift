/// The format of comma-separated values, and limits for untrusted input.
public struct CSVOptions: Sendable {
    /// The byte between two cells: ASCII, and neither a quote nor part of a line end.
    public var delimiter: UInt8 = UInt8(ascii: ",")
    /// Whether the first row names the columns.
    public var hasHeader = true
    /// Maximum size of a cell, in bytes.
    public var cellLimit = 16 << 20
    /// Maximum size of a row's cells, in bytes.
    public var rowLimit = 64 << 20
    /// Maximum number of cells in a row.
    public var columnLimit = 65_536

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
