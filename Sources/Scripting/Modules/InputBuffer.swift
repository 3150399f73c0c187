/// Bytes that were read and not yet taken, as the reading functions of Lua take them.
///
/// Does no input: whoever has it appends bytes, and asks again when a format needs more of them.
package struct InputBuffer {
    /// What a format asks for.
    package enum Format: Equatable {
        /// A line, with or without its end.
        case line(keepsEnd: Bool)
        /// Everything up to the end of the input.
        case all
        /// A numeral.
        case number
        /// A number of bytes, or fewer at the end of the input; 0 asks whether there are more.
        case count(Int)
    }

    package enum Taken: Equatable {
        case needsMore
        /// The input has ended, or is not a numeral.
        case nothing
        case bytes(ArraySlice<UInt8>)
        case numeral([UInt8])
    }

    /// Lua's limit for the length of a numeral.
    private static let numeralLimit = 200

    private var bytes: [UInt8] = []
    private var head = 0
    /// The bytes from the head on that hold no line end.
    private var searched = 0

    package init() {}

    package var count: Int { bytes.count - head }

    package mutating func append(_ more: some Collection<UInt8>) {
        if head == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.count < 1 << 20)
            head = 0
        } else if head > bytes.count / 2 {
            bytes.removeFirst(head)
            head = 0
        }
        bytes.append(contentsOf: more)
    }

    /// Takes all bytes.
    package mutating func takeRest() -> ArraySlice<UInt8> { take(count) }

    /// Takes what a format asks for.
    ///
    /// - Parameters:
    ///   - format: the format.
    ///   - isAtEnd: whether no more bytes will come: then it never needs more.
    /// - Returns: what it has taken.
    package mutating func take(_ format: Format, isAtEnd: Bool) -> Taken {
        switch format {
        case .line(let keepsEnd): return takeLine(keepsEnd: keepsEnd, isAtEnd: isAtEnd)
        case .all: return isAtEnd ? .bytes(take(count)) : .needsMore
        case .count(let wanted):
            if count >= max(wanted, 1) { return .bytes(take(wanted)) }
            guard isAtEnd else { return .needsMore }
            return count == 0 ? .nothing : .bytes(take(count))
        case .number: return takeNumeral(isAtEnd: isAtEnd)
        }
    }

    private mutating func take(_ length: Int) -> ArraySlice<UInt8> {
        defer { (head, searched) = (head + length, 0) }
        return bytes[head..<head + length]
    }

    private mutating func takeLine(keepsEnd: Bool, isAtEnd: Bool) -> Taken {
        if let end = bytes[(head + searched)...].firstIndex(of: 0x0A) {
            let line = take(end - head + 1)
            return .bytes(keepsEnd ? line : line.dropLast())
        }
        guard isAtEnd else {
            searched = count
            return .needsMore
        }
        return count == 0 ? .nothing : .bytes(take(count))
    }

    /// The longest beginning of a numeral, whether or not it is one, as Lua takes it.
    private mutating func takeNumeral(isAtEnd: Bool) -> Taken {
        while head < bytes.count, bytes[head] == 0x20 || (0x09...0x0D).contains(bytes[head]) { _ = take(1) }
        var scan = NumeralScan(bytes: bytes[head...], limit: Self.numeralLimit)
        scan.run()
        if scan.isOpen, !isAtEnd { return .needsMore }
        let text = Array(take(scan.length))
        return scan.isTooLong || text.isEmpty ? .nothing : .numeral(text)
    }
}

/// Finds the end of a numeral.
private struct NumeralScan {
    let bytes: ArraySlice<UInt8>
    let limit: Int
    var length = 0
    /// Whether the bytes end before the numeral does.
    var isOpen = false
    var isTooLong = false

    mutating func run() {
        _ = take("+-")
        var digits = 0
        var isHexadecimal = false
        if take("0") {
            if take("xX") { isHexadecimal = true } else { digits = 1 }
        }
        digits += takeDigits(isHexadecimal)
        if take(".") { digits += takeDigits(isHexadecimal) }
        if digits > 0, take(isHexadecimal ? "pP" : "eE") {
            _ = take("+-")
            _ = takeDigits(false)
        }
    }

    private var next: UInt8? {
        mutating get {
            let place = bytes.startIndex + length
            if place < bytes.endIndex { return bytes[place] }
            isOpen = true
            return nil
        }
    }

    private mutating func advance() -> Bool {
        isTooLong = length >= limit
        if !isTooLong { length += 1 }
        return !isTooLong
    }

    private mutating func take(_ one: StaticString) -> Bool {
        guard let next, one.withUTF8Buffer({ $0.contains(next) }) else { return false }
        return advance()
    }

    private mutating func takeDigits(_ isHexadecimal: Bool) -> Int {
        let start = length
        while let next {
            let letter = next | 0x20
            let isDigit = (0x30...0x39).contains(next) || (isHexadecimal && (0x61...0x66).contains(letter))
            guard isDigit, advance() else { break }
        }
        return length - start
    }
}
