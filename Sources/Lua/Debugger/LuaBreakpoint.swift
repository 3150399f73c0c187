/// A line at which scripts break, or tell something.
package struct LuaBreakpoint: Sendable, Equatable {
    /// Its number, which is never used again.
    package internal(set) var number = 0
    /// The file, or the chunk's name: the end of a path, from a slash on, suffices.
    package let path: String
    /// The line, from 1. It moves to the next one with code when the chunk's text is known.
    package internal(set) var line: Int
    /// An expression: the script breaks where it is true; nil for everywhere.
    package var condition: String?
    /// The first hit at which the script breaks, from 1.
    package var firstHit = 1
    /// A text for the log instead of a break; expressions in braces are replaced by their values.
    package var message: String?
    /// How often the line was reached with its condition true.
    package internal(set) var hits = 0

    package init(path: String, line: Int, condition: String? = nil, firstHit: Int = 1, message: String? = nil) {
        self.path = path
        self.line = line
        self.condition = condition
        self.firstHit = firstHit
        self.message = message
    }
}
