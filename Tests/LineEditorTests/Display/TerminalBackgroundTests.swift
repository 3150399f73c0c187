import Testing

@testable import LineEditor

@Suite("The terminal's background")
struct TerminalBackgroundTests {
    @Test(
        "is read from the terminal's answer",
        arguments: [
            ("11;rgb:0000/0000/0000", .dark), ("11;rgb:ffff/ffff/ffff", .light), ("11;rgb:ff/ff/ff", .light),
            ("11;rgb:0/2b/36", .dark), ("11;rgb:fdfd/f6f6/e3e3", .light), ("11;rgba:1e1e/1e1e/1e1e/ffff", .dark),
            ("11;rgb:f/f/f", .light), ("11;rgb:ffff/ffff", nil), ("11;rgb:fffff/0/0", nil), ("11;rgb:xx/0/0", nil),
            ("11;rgb:-1/0/0", nil), ("11;rgb://", nil), ("10;rgb:ffff/ffff/ffff", nil), ("11;?", nil), ("", nil),
        ] as [(String, TerminalBackground?)])
    func answers(text: String, background: TerminalBackground?) {
        #expect(TerminalBackground(answer: text) == background)
        var capabilities = TerminalCapabilities()
        capabilities.take(TerminalReport(.string(introducer: UInt8(ascii: "]"), bytes: Array(text.utf8))))
        #expect(capabilities.background == background)
    }

    @Test(
        "or from the variable",
        arguments: [
            ("15;0", .dark), ("0;15", .light), ("0;7", .light), ("15;8", .dark), ("0;default;15", .light),
            ("default;default", nil), ("0;99", nil), ("", nil),
        ] as [(String, TerminalBackground?)])
    func variable(text: String, background: TerminalBackground?) {
        #expect(TerminalBackground(variable: text) == background)
    }

    /// The value of a colour of xterm's 256, above the sixteen of the theme.
    private static func luminance(_ color: Int) -> Double {
        let levels: [Double] = [0, 95, 135, 175, 215, 255]
        let rest = color - 16
        let values =
            color < 232
            ? [levels[rest / 36], levels[rest / 6 % 6], levels[rest % 6]]
            : [Double](repeating: Double(8 + 10 * (color - 232)), count: 3)
        return TerminalBackground.luminance(red: values[0] / 255, green: values[1] / 255, blue: values[2] / 255)
    }

    @Test("the colours for it can be read on the usual grounds", arguments: TerminalBackground.allCases)
    func contrast(background: TerminalBackground) throws {
        let palette: TerminalPalette = background == .dark ? .dark : .light
        // Black, GNOME's, Solarized's, a dark grey; white, Solarized's, a light grey.
        let grounds: [(Double, Double, Double)] =
            background == .dark
            ? [(0, 0, 0), (0x1E, 0x1E, 0x1E), (0, 0x2B, 0x36), (0x28, 0x28, 0x28)]
            : [(255, 255, 255), (0xFD, 0xF6, 0xE3), (0xEE, 0xEE, 0xEE)]
        for style in TextStyle.allCases {
            #expect(palette[style].isEmpty == TerminalPalette.standard[style].isEmpty, "\(style)")
            let codes = palette[style].split(separator: ";").compactMap { Int($0) }
            guard let place = codes.firstIndex(of: 38) else { continue }
            let color = Self.luminance(codes[place + 2])
            for (red, green, blue) in grounds {
                let ground = TerminalBackground.luminance(red: red / 255, green: green / 255, blue: blue / 255)
                let contrast = (max(color, ground) + 0.05) / (min(color, ground) + 0.05)
                #expect(contrast >= 4.5, "\(style) on \(red), \(green), \(blue)")
            }
        }
    }

    @Test("a terminal with sixteen colours keeps those of its theme")
    func depth() {
        for (term, palette) in [("xterm-256color", TerminalPalette.light), ("xterm", .standard), ("foot", .light)] {
            #expect(TerminalPalette.colored(for: .light) { $0 == "TERM" ? term : nil } == palette, "\(term)")
        }
        #expect(TerminalPalette.colored(for: .dark) { $0 == "COLORTERM" ? "truecolor" : "xterm" } == .dark)
        #expect(TerminalPalette.colored(for: nil) { _ in "xterm-256color" } == .standard)
    }

    @Test("the terminal is asked where it ignores what it does not know")
    func asked() {
        for (term, isAsked) in [("xterm-256color", true), ("tmux-256color", true), ("screen", false), ("linux", false)]
        {
            let question = TerminalCapabilities.questions { $0 == "TERM" ? term : nil }
            #expect(String(decoding: question, as: UTF8.self).contains("]11;?") == isAsked, "\(term)")
        }
    }
}
