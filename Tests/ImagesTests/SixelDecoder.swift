/// What a terminal would show of a sixel string, by DEC's manual: pixels by row and column, 0 to 100 a channel.
struct SixelDecoder {
    private(set) var rows: [[[Int]?]] = []
    private var registers: [Int: [Int]] = [:]

    /// - Returns: nil when the string is not one.
    init?(_ text: String) {
        guard text.hasPrefix("\u{1b}P"), text.hasSuffix("\u{1b}\\"), let start = text.firstIndex(of: "q") else {
            return nil
        }
        var scanner = Array(text[text.index(after: start)...].utf8.dropLast(2))[...]
        var (column, top) = (0, 0)
        var color = [0, 0, 0]
        func numbers() -> [Int] {
            let digits = scanner.prefix { $0 == 0x3b || (0x30...0x39).contains($0) }
            scanner = scanner.dropFirst(digits.count)
            return digits.split(separator: 0x3b).compactMap { Int(String(decoding: $0, as: UTF8.self)) }
        }
        while let byte = scanner.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): _ = numbers()
            case UInt8(ascii: "#"):
                let given = numbers()
                guard let register = given.first else { return nil }
                if given.count == 5 { registers[register] = Array(given[2...]) }
                guard let chosen = registers[register] else { return nil }
                color = chosen
            case UInt8(ascii: "$"): column = 0
            case UInt8(ascii: "-"): (column, top) = (0, top + 6)
            case UInt8(ascii: "!"):
                guard let count = numbers().first, let sixel = scanner.popFirst() else { return nil }
                for _ in 0..<count { draw(sixel, color, &column, top) }
            case 0x3f...0x7e: draw(byte, color, &column, top)
            default: return nil
            }
        }
    }

    private mutating func draw(_ sixel: UInt8, _ color: [Int], _ column: inout Int, _ top: Int) {
        for bit in 0..<6 where (sixel - 63) >> UInt8(bit) & 1 == 1 {
            while rows.count <= top + bit { rows.append([]) }
            while rows[top + bit].count <= column { rows[top + bit].append(nil) }
            rows[top + bit][column] = color
        }
        column += 1
    }
}
