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

    public enum Visibility: String, Sendable, Hashable {
        case no
        case mostly
        case yes
    }

    public var visibility: Visibility {
        switch self {
        case .active: .yes
        case .inactive: .mostly
        case .notRunning, .background, .suspended: .no
        }
    }

    public var receivesEvents: Bool { self == .active }

    public var executesCode: Bool { self == .active || self == .inactive || self == .background }
}
