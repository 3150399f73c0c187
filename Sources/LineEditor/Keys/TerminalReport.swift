/// An answer of the terminal's, which arrives among the keys.
public enum TerminalReport: Hashable, Sendable {
    /// The cursor's place, counted from 1, asked for by `ESC [ 6 n`.
    case cursorPosition(row: Int, column: Int)
    /// The device attributes: everything between `ESC [` and `c`, marker included (`?62;4` says that sixel is known).
    case deviceAttributes(String)
    /// The flags of the kitty keyboard protocol that are in force, asked for by `ESC [ ? u`.
    case keyboardFlags(Int)
    /// Any other control sequence, without `ESC [`: modes, window sizes, the mouse.
    case controlSequence(String)
    /// A string that the terminal sent: its introducer (`]` OSC, `P` DCS, `_` APC) and the bytes up to the terminator.
    case string(introducer: UInt8, bytes: [UInt8])
}
