import Platform

/// The cells of one row, in a reusable buffer.
public struct CSVRow: Sendable {
    @usableFromInline private(set) var bytes: [UInt8] = []
    @usableFromInline private(set) var ends: [Int] = []

    /// Whether a cell was in quotes.
    package internal(set) var isQuoted = false

    /// An empty row.
    public init() {}

    /// The number of cells.
    @inlinable public var count: Int { ends.count }

    /// The range of a cell, counted from 0, in the row's bytes.
    ///
    /// - Precondition: the row has that cell.
    @inlinable public func range(of cell: Int) -> Range<Int> {
        (cell == 0 ? 0 : ends[cell - 1])..<ends[cell]
    }

    /// Calls a function with the bytes of all cells, concatenated; `range(of:)` has their bounds.
    @inlinable public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withUnsafeBytes { buffer -> Swift.Result<Result, Failure> in
            do throws(Failure) { return .success(try body(buffer)) } catch { return .failure(error) }
        }.get()
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
    public var strings: [String]? {
        var result: [String] = []
        result.reserveCapacity(count)
        for cell in 0..<count {
            guard let text = string(cell) else { return nil }
            result.append(text)
        }
        return result
    }

    // MARK: - Filling, by the reader

    var length: Int { bytes.count }
    var openCellLength: Int { bytes.count - (ends.last ?? 0) }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        isQuoted = false
    }

    mutating func append(_ run: UnsafeBufferPointer<UInt8>) {
        bytes.append(contentsOf: run)
    }

    mutating func append(_ byte: UInt8) {
        bytes.append(byte)
    }

    mutating func endCell() {
        ends.append(bytes.count)
    }
}
