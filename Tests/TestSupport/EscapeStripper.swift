/// Takes terminal escape sequences out of a stream of bytes that comes in pieces.
///
/// CSI, OSC, DCS, APC and the short escapes go; carriage returns go too, so that a line ends in `\n` alone.
package struct EscapeStripper: Sendable {
    private enum State { case text, escape, intermediate, control, string, stringEscape }
    private var state = State.text

    package init() {}

    /// Appends the plain bytes of the next piece.
    package mutating func strip(_ bytes: some Sequence<UInt8>, into plain: inout [UInt8]) {
        for byte in bytes {
            switch state {
            case .text:
                if byte == 0x1b { state = .escape } else if byte != 0x0d && byte != 0x07 { plain.append(byte) }
            case .escape:
                switch byte {
                case UInt8(ascii: "["): state = .control
                case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "_"), UInt8(ascii: "^"), UInt8(ascii: "X"):
                    state = .string
                case 0x20...0x2f: state = .intermediate
                default: state = .text
                }
            case .intermediate:
                if !(0x20...0x2f).contains(byte) { state = .text }
            case .control:
                if (0x40...0x7e).contains(byte) { state = .text }
            case .string:
                if byte == 0x07 { state = .text } else if byte == 0x1b { state = .stringEscape }
            case .stringEscape:
                state = .text
            }
        }
    }
}
