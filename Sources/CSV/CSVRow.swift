import Platform

/// The cells of one row, in a reusable buffer.
public struct CSVRow: Sendable {
    @usableFromInline private(set) var bytes: [UInt8] = []
    @usableFromInline private(set) var ranges: [Range<Int>] = []
    /// Where the open cell begins.
    private var start = 0
    /// The delimiters among the bytes.
    private var delimiters = 0

    /// Whether a cell was in quotes.
    package internal(set) var isQuoted = false

    /// An empty row.
    public init() {}

    /// The number of cells.
    @inlinable public var count: Int { ranges.count }

    /// The range of a cell, counted from 0, in the row's bytes.
    ///
    /// - Precondition: the row has that cell.
    @inlinable package func range(of cell: Int) -> Range<Int> { ranges[cell] }

    /// Calls a function with the bytes of all cells; `range(of:)` has their bounds, with delimiters between some of them.
    @inlinable package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withUnsafeBufferPointer { (bytes) throws(Failure) in try body(UnsafeRawBufferPointer(bytes)) }
    }

    /// The bytes of a cell, counted from 0.
    ///
    /// - Precondition: the row has that cell.
    @inlinable public subscript(cell: Int) -> ArraySlice<UInt8> { bytes[range(of: cell)] }

    /// A cell, counted from 0, as text; nil when its bytes are not UTF-8.
    ///
    /// - Precondition: the row has that cell.
    public func string(_ cell: Int) -> String? {
        String(validating: self[cell], as: UTF8.self)
    }

    /// Whether a cell has a byte of zero, which text in UTF-8 for people has not.
    package var hasZero: Bool {
        bytes.withUnsafeBytes { bytes in bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false }
    }

    /// All cells as text; nil when one of them is not UTF-8.
    package var strings: [String]? {
        let texts = (0..<count).compactMap(string)
        return texts.count == count ? texts : nil
    }

    // MARK: - Filling, by the reader

    /// The length of all cells.
    var length: Int { bytes.count - delimiters }
    var openCellLength: Int { bytes.count - start }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        ranges.removeAll(keepingCapacity: true)
        (start, delimiters, isQuoted) = (0, 0, false)
    }

    mutating func append(_ run: UnsafeBufferPointer<UInt8>) {
        bytes.append(contentsOf: run)
    }

    mutating func append(_ byte: UInt8) {
        bytes.append(byte)
    }

    mutating func endCell() {
        ranges.append(start..<bytes.count)
        start = bytes.count
    }

    /// Adds the cells without quotes at the beginning of a text, up to the end of a line or to a cell that begins with a
    /// quote, is longer than a limit, or does not end in the text. No cell may be open.
    ///
    /// - Returns: the number of bytes that are taken, each cell with the byte behind it; and the last of these bytes, nil
    ///   if no cell is taken.
    mutating func appendBare(
        _ text: UnsafeBufferPointer<UInt8>, delimiter: UInt8, cellLimit: Int
    ) -> (count: Int, end: UInt8?) {
        let (offset, former) = (bytes.count, ranges.count)
        var (first, end) = (0, UInt8?.none)
        /// Adds the cell up to a place; false if it is the last one to be taken.
        func take(upTo place: Int) -> Bool {
            guard place - first <= cellLimit else { return false }
            ranges.append(offset + first..<offset + place)
            first = place + 1
            let byte = text[place]
            end = byte
            return byte == delimiter && !(first < text.count && text[first] == CSVByte.quote)
        }
        let raw = UnsafeRawBufferPointer(text)
        let (delimiters, returns, feeds) = (
            ByteWord.all(delimiter), ByteWord.all(CSVByte.cr), ByteWord.all(CSVByte.lf)
        )
        var index = 0
        scan: while index + 8 <= text.count {
            let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            var places =
                ByteWord.zeros(word ^ delimiters) | ByteWord.zeros(word ^ returns) | ByteWord.zeros(word ^ feeds)
            while places != 0 {
                guard take(upTo: index + places.trailingZeroBitCount >> 3) else { break scan }
                places &= places &- 1
            }
            index += 8
        }
        if index + 8 > text.count {
            while index < text.count {
                let byte = text[index]
                if byte == delimiter || byte == CSVByte.cr || byte == CSVByte.lf {
                    guard take(upTo: index) else { break }
                }
                index += 1
            }
        }
        if first > 0 {
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[..<(first - 1)]))
            self.delimiters += ranges.count - former - 1
        }
        start = bytes.count
        return (first, end)
    }
}

/// Eight bytes of a text in a word.
private enum ByteWord {
    private static let low: UInt64 = 0x7F7F_7F7F_7F7F_7F7F

    /// Eight times a byte.
    @inline(__always)
    static func all(_ byte: UInt8) -> UInt64 { UInt64(byte) &* 0x0101_0101_0101_0101 }

    /// The highest bit of each byte that is zero.
    @inline(__always)
    static func zeros(_ word: UInt64) -> UInt64 { ~((word & low &+ low) | word | low) }
}

/// The names of a file's columns, each another: columns without a name and with the name of an earlier one get their own.
package struct CSVHeader {
    /// The name of each column, in the file's bytes or made.
    package private(set) var names: [[UInt8]] = []
    /// The columns, from 0, that the file does not name: `column3` by position.
    package private(set) var unnamed: [Int] = []
    /// The columns, from 0, whose name an earlier one has: `Notes_2`.
    package private(set) var renamed: [Int] = []

    /// Names the columns of a file's first row.
    ///
    /// - Throws: `CSVError` for a row that is not a header: of another delimiter, or of another encoding.
    package init(_ row: CSVRow, delimiter: UInt8) throws(CSVError) {
        try Self.check(row, delimiter)
        self.init(names: (0..<row.count).map { Array(row[$0]) })
    }

    /// Names as many columns by their positions: `column1`.
    package init(count: Int) { self.init(names: Array(repeating: [], count: count)) }

    /// Gives columns the names that are given, as far as each has one of its own.
    package init(names given: [[UInt8]]) {
        var taken = Set(given)
        var met: Set<[UInt8]> = []
        // The number of the last column of a name: a header of equal names takes linear time.
        var last: [[UInt8]: Int] = [:]
        for (column, name) in given.enumerated() {
            let wanted = name.isEmpty ? Array("column\(column + 1)".utf8) : name
            if name.isEmpty {
                unnamed.append(column)
                if taken.insert(wanted).inserted {
                    names.append(wanted)
                    continue
                }
            } else if met.insert(name).inserted {
                names.append(name)
                continue
            } else {
                renamed.append(column)
            }
            var number = last[wanted] ?? 1
            var made: [UInt8]
            repeat {
                number += 1
                made = wanted + Array("_\(number)".utf8)
            } while !taken.insert(made).inserted
            last[wanted] = number
            names.append(made)
        }
    }

    // MARK: Remarks

    /// Says that columns are named by their positions.
    package func sentence(unnamed columns: [Int]) -> String {
        sentence(columns, "no name: read as \(columns.map(name).listed())")
    }

    /// Says that columns have the names of earlier ones.
    package func sentence(renamed columns: [Int]) -> String {
        sentence(columns, "the name of an earlier one: read as \(columns.map(name).listed())")
    }

    /// `column 3 has …`, or `columns 3, 4 have …`.
    package func sentence(_ columns: [Int], _ what: String) -> String {
        let numbers = columns.map { "\($0 + 1)" }.listed()
        return columns.count == 1 ? "column \(numbers) has \(what)" : "columns \(numbers) have \(what)"
    }

    /// The names as texts.
    package var texts: [String] { names.map { String(decoding: $0, as: UTF8.self) } }

    private func name(_ column: Int) -> String { String(decoding: names[column], as: UTF8.self) }

    // MARK: Checks

    private static func check(_ row: CSVRow, _ delimiter: UInt8) throws(CSVError) {
        func error(_ code: CSVError.Code, _ words: String) -> CSVError { CSVError(code, row: 1, line: 1, words) }
        let isNul = row.withUnsafeBytes { $0.contains(0) }
        if isNul { throw error(.notText, "the header has bytes of zero: \(ForeignFile.utf16Advice)") }
        guard let first = row.count > 0 ? Array(row[0]) : nil else { return }
        let isSole = row.count == 1 || row.count == 2 && row[1].isEmpty
        if isSole, !row.isQuoted, first.count <= 5, first.starts(with: "sep=".utf8) {
            let wanted = first.count == 5 ? first[4] : delimiter
            throw error(
                .badDelimiter,
                "the line \"sep=\" is for spreadsheets: remove it, and give \(advice(wanted))")
        }
        guard row.count == 1, !row.isQuoted, let other = otherDelimiter(in: first, delimiter) else { return }
        let name = String(decoding: first.prefix(60), as: UTF8.self) + (first.count > 60 ? "…" : "")
        throw error(
            .badDelimiter,
            "the header is one name with \(word(other)) in it, \(name): give \(advice(other)), or write the name in quotes"
        )
    }

    /// Whether a header of this name alone is refused unless it is in quotes.
    static func isDoubtful(_ name: UnsafeBufferPointer<UInt8>, _ delimiter: UInt8) -> Bool {
        otherDelimiter(in: name, delimiter) != nil || name.starts(with: "sep=".utf8)
    }

    /// The first of the usual delimiters, other than the file's, in a name.
    private static func otherDelimiter(in name: some Sequence<UInt8>, _ delimiter: UInt8) -> UInt8? {
        name.first { usual.contains($0) && $0 != delimiter }
    }

    private static let usual: [UInt8] = [
        UInt8(ascii: ";"), UInt8(ascii: "\t"), UInt8(ascii: "|"), UInt8(ascii: ","),
    ]

    private static func word(_ delimiter: UInt8) -> String {
        delimiter == UInt8(ascii: "\t") ? "a tab" : "\"\(Character(Unicode.Scalar(delimiter)))\""
    }

    /// The option for a delimiter.
    private static func advice(_ delimiter: UInt8) -> String {
        OptionWords.option("delimiter", String(Character(Unicode.Scalar(delimiter))))
    }
}

/// Files that are not a text in UTF-8, known by their first bytes.
package enum ForeignFile {
    /// The advice for text in UTF-16.
    package static var utf16Advice: String { "if it is UTF-16, give \(advice)" }

    /// What a file is, and what to do.
    ///
    /// - Parameter head: the first bytes of the file, 16 or more if it has them.
    /// - Returns: nil for a file that may be text in UTF-8.
    package static func problem(_ head: UnsafeRawBufferPointer) -> String? {
        if let problem = signature(head) { return problem }
        guard let form = utf16(head) else { return nil }
        return "it is UTF-16\(form.hasMark ? " by its first bytes" : ", without a mark"): give \(advice)"
    }

    /// What a file is that is no text in any encoding, and what to do; nil for another.
    package static func signature(_ head: UnsafeRawBufferPointer) -> String? {
        signatures.first { head.starts(with: $0.bytes) }.map { "it is \($0.kind.text)" }
    }

    private static var advice: String { OptionWords.option("encoding", "utf-16") }

    /// The byte order of text in UTF-16: by its mark, else by zeros in one half of its units.
    package static func utf16(_ head: UnsafeRawBufferPointer) -> (isBigEndian: Bool, hasMark: Bool)? {
        if head.starts(with: [0xFF, 0xFE]) { return (false, true) }
        if head.starts(with: [0xFE, 0xFF]) { return (true, true) }
        let zeros = self.zeros(head)
        // Names of columns, delimiters and digits have a zero in each unit.
        guard zeros.even == 0 || zeros.odd == 0, (zeros.even + zeros.odd) * 8 > head.count else { return nil }
        return (zeros.even > 0, false)
    }

    /// The number of zeros at even and at odd places.
    package static func zeros(_ head: UnsafeRawBufferPointer) -> (even: Int, odd: Int) {
        var zeros = (even: 0, odd: 0)
        for (place, byte) in head.enumerated() where byte == 0 {
            if place % 2 == 0 { zeros.even += 1 } else { zeros.odd += 1 }
        }
        return zeros
    }

    private static let signatures: [(bytes: [UInt8], kind: Kind)] = [
        ([0x1F, 0x8B], .packed("gzip", "gunzip")),
        ([0x50, 0x4B, 0x03, 0x04], .other("a ZIP file, or a spreadsheet such as .xlsx", format: "xlsx")),
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], .packed("xz", "unxz")),
        ([0x28, 0xB5, 0x2F, 0xFD], .packed("zstd", "unzstd")),
        (Array("BZh91AY&SY".utf8), .packed("bzip2", "bunzip2")),
        ([0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1], .other("a document of an older office program", format: nil)),
        (Array("SQLite format 3\0".utf8), .other("a SQLite database", format: "sqlite")),
        (Array("bplist0".utf8), .other("a binary property list, or an archive", format: "plist")),
    ]

    private enum Kind {
        case packed(String, String)
        case other(String, format: String?)

        var text: String {
            switch self {
            case .packed(let name, let program): "compressed by \(name): decompress it first, with \(program)"
            case .other(let name, let format?): "\(name): give \(OptionWords.option("format", format))"
            case .other(let name, nil): "\(name): save it as .xlsx or as CSV first"
            }
        }
    }
}
