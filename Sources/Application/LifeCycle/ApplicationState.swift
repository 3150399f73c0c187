/// Where an application is in its life, in Cocoa's words.
public enum ApplicationState: String, Sendable, Hashable, CaseIterable {
    /// Not launched, or gone: executes no code, has no memory.
    case notRunning
    /// In the foreground, but receiving no events: for a moment between two states, or behind an overlay.
    case inactive
    /// In the foreground and receiving events.
    case active
    /// Not visible, still executing code.
    case background
    /// In memory, executing nothing; it may go from here without a word.
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
