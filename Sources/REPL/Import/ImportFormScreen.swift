import Application
import Files
import Glibc
package import LineEditor

/// An import's form on the terminal's alternate screen, before anything else runs there.
package struct ImportFormScreen {
    private let palette: TerminalPalette

    /// Whether there is a terminal on which to ask.
    package static var canAsk: Bool {
        TerminalMode.supportsEditing(
            input: StandardDescriptor.input, output: StandardDescriptor.output, environment: ProcessEnvironment.value)
    }

    /// The size of the terminal, or a usual one.
    package static var size: TerminalSize { Console.size }

    /// - Parameter usesColor: whether styles are drawn.
    package init(usesColor: Bool) {
        palette = TerminalPalette.appropriate(
            isTerminal: StandardStream.output.isTerminal, isForbidden: !usesColor, environment: ProcessEnvironment.value
        )
    }

    /// Shows the form until it is accepted or cancelled.
    ///
    /// - Returns: the rows; nil if it was cancelled, and at the end of input.
    package func run(_ form: ImportForm) -> [ImportForm.Row]? {
        let mode = TerminalMode(input: StandardDescriptor.input, output: StandardDescriptor.output)
        do { try mode.enter() } catch { return form.rows }
        var form = form
        var decoder = KeyDecoder()
        put(Self.entering)
        defer {
            put(Self.leaving)
            mode.leave()
        }
        while true {
            form.resize(Self.size)
            put(Self.drawing(of: form, palette))
            var keys: [EditorKey]
            if let bytes = Self.input(within: decoder.isWaiting ? 40 : 500) {
                if bytes.isEmpty, !decoder.isWaiting { return nil }
                keys = bytes.isEmpty ? decoder.flush() : decoder.decode(bytes)
            } else {
                keys = decoder.isWaiting ? decoder.flush() : []
            }
            while !keys.isEmpty {
                switch form.press(keys.removeFirst()) {
                case .none: continue
                case .accept: return form.rows
                case .cancel: return nil
                case .suspend:
                    put(Self.leaving)
                    mode.leave()
                    raise(SIGTSTP)
                    guard (try? mode.enter()) != nil else { return nil }
                    put(Self.entering)
                }
            }
        }
    }

    private static let entering = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
    private static let leaving = PagerScreen.leaving

    private func put(_ text: String) {
        StandardStream.output.put(text)
        StandardStream.flushAll()
    }

    /// The bytes that draw the form.
    static func drawing(of form: ImportForm, _ palette: TerminalPalette) -> String {
        form.lines().enumerated().map { row, line in
            "\u{1B}[\(row + 1);1H\u{1B}[K\(palette.apply(to: line))\u{1B}[0m"
        }.joined() + "\u{1B}[J"
    }

    /// The next keys; nil if none came within the milliseconds, empty at the end of input.
    private static func input(within milliseconds: Int32) -> [UInt8]? {
        var poll = pollfd(fd: StandardDescriptor.input, events: Int16(POLLIN), revents: 0)
        guard Glibc.poll(&poll, 1, milliseconds) > 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = read(StandardDescriptor.input, &buffer, buffer.count)
        if count < 0, errno == EINTR || errno == EAGAIN { return nil }
        return Array(buffer[..<max(0, count)])
    }
}
