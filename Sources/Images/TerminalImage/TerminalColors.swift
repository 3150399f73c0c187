/// The colours of a terminal.
package enum TerminalColors: Sendable, Hashable {
    /// 24 bits.
    case trueColor
    /// The 6×6×6 cube and the 24 greys of xterm.
    case palette256

    /// The parameters of the escape sequence for a colour, after `38;` or `48;`.
    func parameters(red: UInt8, green: UInt8, blue: UInt8) -> String {
        switch self {
        case .trueColor: "2;\(red);\(green);\(blue)"
        case .palette256: "5;\(Self.paletteIndex(red: red, green: green, blue: blue))"
        }
    }

    private static let cubeLevels = [0, 95, 135, 175, 215, 255]

    /// The nearest colour of the cube or the greys, by squared distance.
    static func paletteIndex(red: UInt8, green: UInt8, blue: UInt8) -> Int {
        let wanted = [Int(red), Int(green), Int(blue)]
        let steps = wanted.map { $0 < 48 ? 0 : $0 < 115 ? 1 : ($0 - 35) / 40 }
        let cube = steps.map { cubeLevels[$0] }
        let average = (wanted[0] + wanted[1] + wanted[2]) / 3
        let greyStep = min(max((average - 3) / 10, 0), 23)
        let grey = [Int](repeating: 8 + 10 * greyStep, count: 3)
        return distance(wanted, grey) < distance(wanted, cube)
            ? 232 + greyStep : 16 + 36 * steps[0] + 6 * steps[1] + steps[2]
    }

    private static func distance(_ a: [Int], _ b: [Int]) -> Int {
        zip(a, b).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
    }
}
