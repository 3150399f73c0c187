/// An answer of the terminal, received among the keys.
public enum TerminalReport: Hashable, Sendable {
    /// The cursor's position from 1, the answer to `ESC [ 6 n`.
    case cursorPosition(row: Int, column: Int)
    /// The device attributes: everything between `ESC [` and `c` with its marker (`?62;4` includes sixel).
    case deviceAttributes(String)
    /// The active flags of the kitty keyboard protocol, the answer to `ESC [ ? u`.
    case keyboardFlags(Int)
    /// Any other control sequence, without `ESC [`: modes, window sizes, the mouse.
    case controlSequence(String)
    /// A string: its introducer (`]` OSC, `P` DCS, `_` APC) and the bytes up to the terminator.
    case string(introducer: UInt8, bytes: [UInt8])
}
