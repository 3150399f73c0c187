/// An action for the host after input, in order.
public enum Outcome: Hashable, Sendable {
    /// Write these bytes to the terminal.
    case write([UInt8])
    /// Run this text. The editor is idle until the next `begin` and queues keys.
    case submitted(String)
    /// Control-C: the line was cleared and a new prompt drawn.
    case interrupt
    /// Control-D on an empty line. The editor is idle.
    case endOfInput
    /// Control-Z: the display was suspended; stop the process, and call `resumeDisplay` when it continues.
    case suspend
    /// The terminal's window gained or lost the focus.
    case focus(Bool)
    /// The terminal answered a query of the host.
    case report(TerminalReport)
}
