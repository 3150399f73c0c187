/// A key without its modifiers.
public enum KeyCode: Hashable, Sendable {
    /// Text. With Control or Alt it is the key's letter, in lower case unless Shift changes it.
    case character(Character)
    /// Return.
    case enter
    /// Tab.
    case tab
    /// Backspace.
    case backspace
    /// Escape.
    case escape
    /// Arrow up.
    case up
    /// Arrow down.
    case down
    /// Arrow left.
    case left
    /// Arrow right.
    case right
    /// Home.
    case home
    /// End.
    case end
    /// Page up.
    case pageUp
    /// Page down.
    case pageDown
    /// Insert.
    case insert
    /// Delete.
    case delete
    /// The middle of the numeric keypad.
    case begin
    /// F1 to F35.
    case function(Int)
}
