import Files
import Glibc
import KeyedArchive
import LineEditor
import Wording

/// Buffered standard output, with optional colours.
final class TextOutput {
    private let palette: Palette
    private var buffer: [UInt8] = []
    /// Whether a write has failed: what follows has no reader, or no room. The loss is said at the end.
    var isClosed: Bool { StandardStream.output.hasFailed }
    /// The columns of the terminal; nil without a terminal.
    let columns: Int?

    init(noColor: Bool) {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        palette = .appropriate(isTerminal: isTerminal, isForbidden: noColor) { name in
            getenv(name).map { String(cString: $0) }
        }
        var size = winsize()
        let isKnown = isTerminal && ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 20
        columns = isTerminal ? (isKnown ? Int(size.ws_col) : 80) : nil
    }

    deinit { flush() }

    func line(_ line: TreeDrawing.Line) {
        for piece in line { append(palette.apply(Self.style(piece.role), to: VisibleText.line(piece.text))) }
        append("\n")
    }

    /// A piece of JSON; on a terminal, control characters are escaped in JSON notation.
    func append(json bytes: [UInt8]) {
        if columns == nil { return append(bytes) }
        // A piece ends with a value, never within a character.
        append(VisibleText.escaped(String(decoding: bytes, as: UTF8.self), as: .json))
    }

    func append(_ text: String) {
        buffer.append(contentsOf: text.utf8)
        if buffer.count > 1 << 16 { flush() }
    }

    private func append(_ bytes: [UInt8]) {
        buffer.append(contentsOf: bytes)
        if buffer.count > 1 << 16 { flush() }
    }

    func flush() {
        if !isClosed { StandardStream.output.put(buffer) }
        buffer.removeAll(keepingCapacity: true)
    }

    private static func style(_ role: TreeDrawing.Role) -> Style {
        switch role {
        case .guide, .detail: .dimmed
        case .label: .field
        case .className: .type
        case .string, .data: .string
        case .number: .number
        case .date, .constant: .constant
        case .reference: .function
        case .error: .error
        }
    }
}
