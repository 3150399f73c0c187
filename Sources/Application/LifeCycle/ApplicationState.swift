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

    /// The visible part of an application.
    public enum Visibility: String, Sendable, Hashable {
        /// Nothing.
        case no
        /// Most of it, behind an interruption.
        case mostly
        /// All of it.
        case yes
    }

    /// The visible part in this state.
    public var visibility: Visibility {
        switch self {
        case .active: .yes
        case .inactive: .mostly
        case .notRunning, .background, .suspended: .no
        }
    }

    /// Whether the application receives the user's input.
    public var receivesEvents: Bool { self == .active }

    /// Whether code may run.
    public var executesCode: Bool { self == .active || self == .inactive || self == .background }
}
