import Foundation
import Testing

@testable import LineEditor

@Suite("Terminal mode")
struct TerminalModeTests {
    /// Both ends of a pseudo-terminal.
    private func pair() throws -> (controller: Int32, terminal: Int32) {
        // What posix_openpt, unlockpt and ptsname do; glibc hides them without _XOPEN_SOURCE.
        let controller = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var isLocked: Int32 = 0
        var number: Int32 = 0
        try #require(controller >= 0)
        try #require(ioctl(controller, 0x4004_5431, &isLocked) == 0)  // TIOCSPTLCK
        try #require(ioctl(controller, 0x8004_5430, &number) == 0)  // TIOCGPTN
        let terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        try #require(terminal >= 0)
        return (controller, terminal)
    }

    private func flags(_ descriptor: Int32) -> (input: tcflag_t, local: tcflag_t) {
        var mode = termios()
        tcgetattr(descriptor, &mode)
        return (mode.c_iflag, mode.c_lflag)
    }

    @Test("Keys come raw between enter and leave, and all is as it was after", arguments: [false, true])
    func enterAndLeave(keepsSignals: Bool) throws {
        let (controller, terminal) = try pair()
        defer {
            close(controller)
            close(terminal)
        }
        let before = flags(terminal)
        var options = TerminalMode.Options()
        options.keepsSignals = keepsSignals
        let mode = TerminalMode(input: terminal, output: terminal, options: options)
        try mode.enter()
        try mode.enter()
        #expect(mode.isEntered)
        let during = flags(terminal)
        #expect(during.local & tcflag_t(ICANON | ECHO) == 0)
        #expect(during.input & tcflag_t(IXON) == 0)
        #expect((during.local & tcflag_t(ISIG) != 0) == keepsSignals)
        mode.leave()
        mode.leave()
        #expect(flags(terminal) == before)
        let expected = "\u{1B}[?2004h\u{1B}[>1u\u{1B}[?2004l\u{1B}[<u"
        var written: [UInt8] = []
        while written.count < expected.utf8.count {
            var bytes = [UInt8](repeating: 0, count: 100)
            let count = read(controller, &bytes, bytes.count)
            try #require(count > 0)
            written += bytes[..<count]
        }
        #expect(String(decoding: written, as: UTF8.self) == expected)
    }

    @Test("What is no terminal has no mode and no size")
    func noTerminal() throws {
        let descriptor = open("/dev/null", O_RDWR)
        defer { close(descriptor) }
        let mode = TerminalMode(input: descriptor, output: descriptor)
        #expect(throws: TerminalError.self) { try mode.enter() }
        #expect(TerminalSize(descriptor: descriptor) == nil)
        #expect(!TerminalMode.supportsEditing(input: descriptor, output: descriptor) { _ in "xterm" })
    }

    @Test("A terminal tells its size, and whether it can be used by its name")
    func size() throws {
        let (controller, terminal) = try pair()
        defer {
            close(controller)
            close(terminal)
        }
        var size = winsize(ws_row: 30, ws_col: 100, ws_xpixel: 800, ws_ypixel: 600)
        #expect(ioctl(controller, UInt(TIOCSWINSZ), &size) == 0)
        #expect(
            TerminalSize(descriptor: terminal)
                == TerminalSize(columns: 100, rows: 30, pixelWidth: 800, pixelHeight: 600))
        for (term, expected) in [("xterm", true), ("dumb", false), ("", false)] {
            #expect(TerminalMode.supportsEditing(input: terminal, output: terminal) { _ in term } == expected)
        }
    }
}

@Suite("What a terminal answers") struct TerminalCapabilitiesTests {
    @Test("the width of an emoji is asked for where the line is empty, and taken once")
    func width() {
        let asked = TerminalCapabilities.questions(
            environment: { $0 == "TERM" ? "xterm-256color" : nil }, isLineEmpty: true)
        #expect(String(decoding: asked, as: UTF8.self).contains("\r☺️\u{1B}[6n\r\u{1B}[K"))
        let other = TerminalCapabilities.questions { $0 == "TERM" ? "xterm-256color" : nil }
        #expect(!String(decoding: other, as: UTF8.self).contains("☺️"))
        var capabilities = TerminalCapabilities()
        capabilities.take(TerminalReport(.cursorPosition(row: 4, column: 40)))
        #expect(capabilities.emojiColumns == nil)
        capabilities.take(TerminalReport(.cursorPosition(row: 4, column: 3)))
        capabilities.take(TerminalReport(.cursorPosition(row: 4, column: 2)))
        #expect(capabilities.emojiColumns == 2)
    }
}
