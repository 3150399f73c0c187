/// What the host has to do after bytes were fed, in order.
public enum Outcome: Hashable, Sendable {
    /// Write these bytes to the terminal.
    case write([UInt8])
    /// Run this text. The editor is idle until the next `begin`; keys that come meanwhile are kept for it.
    case submitted(String)
    /// Control-C: the line was cleared and a fresh prompt stands there.
    case interrupt
    /// Control-D on an empty line. The editor is idle.
    case endOfInput
    /// Control-Z: the display was left; stop the process, and call `resumeDisplay` when it goes on.
    case suspend
    /// The terminal's window got the keyboard, or lost it.
    case focus(Bool)
    /// The terminal answered a question that the host put to it.
    case report(TerminalReport)
}
