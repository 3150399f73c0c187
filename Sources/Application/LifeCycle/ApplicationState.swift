/// An application's state, in Cocoa's terms.
public enum ApplicationState: String, Sendable, Hashable, CaseIterable {
    /// Not launched, or terminated: executes no code, has no memory.
    case notRunning
    /// In the foreground, but receiving no events: between two states, or behind an overlay.
    case inactive
    /// In the foreground and receiving events.
    case active
    /// Not visible, still executing code.
    case background
    /// In memory, executing no code; may be terminated without notice.
    case suspended

    /// How much of an application the user sees.
    public enum Visibility: String, Sendable, Hashable {
        /// Nothing.
        case no
        /// Most of it, behind an interruption.
        case mostly
        /// All of it.
        case yes
    }

    /// How much the user sees in this state.
    public var visibility: Visibility {
        switch self {
        case .active: .yes
        case .inactive: .mostly
        case .notRunning, .background, .suspended: .no
        }
    }

    /// Whether the user's input arrives.
    public var receivesEvents: Bool { self == .active }

    /// Whether code may run.
    public var executesCode: Bool { self == .active || self == .inactive || self == .background }
}
