/// A key without its modifiers.
public enum KeyCode: Hashable, Sendable {
    /// Text. With Control or Alt it is the key's letter, in lower case unless Shift changes it.
    case character(Character)
    case enter, tab, backspace, escape
    case up, down, left, right
    case home, end, pageUp, pageDown, insert, delete
    /// The middle of the numeric keypad.
    case begin
    /// F1 to F35.
    case function(Int)
}
