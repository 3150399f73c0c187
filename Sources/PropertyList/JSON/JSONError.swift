/// An error in reading or writing JSON.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problem.
    public let message: String
    /// The position of the error, both from 1; the column counts characters. Nil without a position.
    public let line: Int?
    /// The column, from 1, if it is known.
    public let column: Int?
    /// The problem without its position.
    package let reason: String
    public var description: String { message }

    init(message: String, line: Int? = nil, column: Int? = nil, reason: String? = nil) {
        self.message = message
        self.line = line
        self.column = column
        self.reason = reason ?? message
    }

    /// Converts a reader's error to a line and a column.
    init(_ fault: PropertyListError, in bytes: [UInt8]) {
        guard let line = fault.line, let offset = fault.byteOffset else {
            self.init(message: "not JSON: \(fault.message)", reason: fault.message)
            return
        }
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        let before = text.prefix(offset)
        let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? before.startIndex
        let column = String(decoding: before[start...], as: UTF8.self).count + 1
        self.init(
            message: "not JSON: line \(line), column \(column): \(fault.message)", line: line, column: column,
            reason: fault.message)
    }
}
