/// Which key, apart from its modifiers.
public enum KeyCode: Hashable, Sendable {
    /// Text. With Control or Alt the letter is the one on the key, in lower case unless Shift makes it another.
    case character(Character)
    case enter, tab, backspace, escape
    case up, down, left, right
    case home, end, pageUp, pageDown, insert, delete
    /// The middle of the numeric keypad.
    case begin
    /// F1 to F35.
    case function(Int)
}
