internal import Platform

/// The brightness of a terminal's background.
package enum TerminalBackground: String, Sendable, CaseIterable {
    case dark, light

    /// The query for the background's colour (xterm's "Control Sequences", OSC 11).
    static let question = "\u{1B}]11;?\u{1B}\\"

    /// The answer to the query: `11;rgb:ffff/ffff/ffff`, each colour of one to four hexadecimal digits.
    ///
    /// - Parameter answer: the text between OSC and its terminator; nil for any other.
    package init?(answer: String) {
        let parts = answer.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, parts[0] == "11;rgb" || parts[0] == "11;rgba" else { return nil }
        let colors = parts[1].split(separator: "/", omittingEmptySubsequences: false).prefix(3).compactMap { digits in
            (1...4).contains(digits.count) && digits.allSatisfy(\.isHexDigit)
                ? Int(digits, radix: 16).map { Double($0) / Double((1 << (4 * digits.count)) - 1) } : nil
        }
        guard colors.count == 3 else { return nil }
        self.init(red: colors[0], green: colors[1], blue: colors[2])
    }

    /// The variable of rxvt and Konsole: the numbers of the text's and the background's colour, `15;0`.
    ///
    /// - Parameter variable: the value of `COLORFGBG`; nil for any other.
    package init?(variable: String) {
        guard let number = variable.split(separator: ";").last.flatMap({ Int($0) }), (0...15).contains(number) else {
            return nil
        }
        // Of the sixteen, white and the bright colours except grey are light.
        self = number == 7 || number > 8 ? .light : .dark
    }

    /// Classifies components from 0 to 1: light if black has more contrast to them than white (WCAG 2, relative
    /// luminance).
    package init(red: Double, green: Double, blue: Double) {
        self = Self.luminance(red: red, green: green, blue: blue) > 0.179 ? .light : .dark
    }

    /// The relative luminance of a colour of sRGB, from 0 to 1.
    package static func luminance(red: Double, green: Double, blue: Double) -> Double {
        func linear(_ value: Double) -> Double {
            value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }
}
