import Glibc

/// The order of cells: absent, truth values and numbers, dates, text, then the rest by kind.
package enum CellOrder {
    static let textRank: UInt64 = 4

    static func rank(_ cell: Cell) -> UInt64 {
        switch cell.kind {
        case .absent: 0
        case .no, .yes: 1
        case .integer, .real, .single: 2
        case .date: 3
        case .shortText, .longText: 4
        case .box: 5
        }
    }

    /// A number whose order agrees with that of the cells, with ties: rank, then the top seven bytes.
    static func prefix(_ cell: Cell) -> UInt64 {
        let detail: UInt64
        switch cell.kind {
        case .absent, .no, .box: detail = 0
        case .yes: detail = 1
        case .integer: detail = ordered(Double(cell.integerValue)) >> 8
        case .real: detail = ordered(cell.realValue) >> 8
        case .single: detail = ordered(number(cell)) >> 8
        case .date: detail = ordered(cell.realValue) >> 8
        case .shortText, .longText: return cell.withText { prefix($0) }
        }
        return rank(cell) << 56 | detail
    }

    static func prefix(_ text: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var word: UInt64 = 4 << 56
        if text.count >= 8 {
            return word | UInt64(bigEndian: UnsafeRawBufferPointer(text).loadUnaligned(as: UInt64.self)) >> 8
        }
        for index in 0..<min(7, text.count) { word |= UInt64(text[index]) << UInt64(48 - index * 8) }
        return word
    }

    /// Maps a real to a number in the same order.
    static func ordered(_ number: Double) -> UInt64 {
        // Both zeros map to one number, and so do all NaNs.
        if number == 0 { return 1 << 63 }
        if number.isNaN { return .max }
        let bits = number.bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }

    static func number(_ cell: Cell) -> Double {
        switch cell.kind {
        case .integer: Double(cell.integerValue)
        case .single: Double(Float(bitPattern: UInt32(truncatingIfNeeded: cell.tail)))
        default: cell.realValue
        }
    }

    /// Negative, 0 or positive if the first cell is before, equal to or after the second.
    package static func compare(_ first: Cell, _ second: Cell) -> Int {
        let (left, right) = (rank(first), rank(second))
        if left != right { return left < right ? -1 : 1 }
        switch left {
        case 1: return Int(first.head & 0xFF) - Int(second.head & 0xFF)
        case 2: return compareNumbers(first, second)
        case 3: return first.realValue < second.realValue ? -1 : first.realValue > second.realValue ? 1 : 0
        case 4:
            return first.withText { left in second.withText { right in compareText(left, right) } }
        default: return 0
        }
    }

    private static func compareNumbers(_ first: Cell, _ second: Cell) -> Int {
        if first.kind == .integer, second.kind == .integer {
            return first.integerValue < second.integerValue ? -1 : first.integerValue > second.integerValue ? 1 : 0
        }
        let (left, right) = (number(first), number(second))
        if left.isNaN || right.isNaN { return (left.isNaN ? 1 : 0) - (right.isNaN ? 1 : 0) }
        if left != right { return left < right ? -1 : 1 }
        // A large integer may have been rounded for the comparison with a real.
        if first.kind == .integer { return compareExactly(first.integerValue, right) }
        if second.kind == .integer { return -compareExactly(second.integerValue, left) }
        return 0
    }

    private static func compareExactly(_ integer: Int64, _ real: Double) -> Int {
        guard let other = Int64(exactly: real) else { return real < 0 ? 1 : -1 }
        return integer < other ? -1 : integer > other ? 1 : 0
    }

    @inline(__always)
    static func compareText(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Int {
        let common = min(left.count, right.count)
        if common > 0, let first = left.baseAddress, let second = right.baseAddress {
            let order = memcmp(first, second, common)
            if order != 0 { return Int(order) }
        }
        return left.count - right.count
    }
}
