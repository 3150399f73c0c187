/// A line at which scripts break or log a message.
package struct LuaBreakpoint: Sendable, Equatable {
    /// The number, which is never reused.
    package internal(set) var number = 0
    /// The file or the chunk's name; ``LuaDebugger/isOfChunk`` compares them.
    package let path: String
    /// The line, counted from 1. It moves to the next line with code once the chunk's text is known.
    package internal(set) var line: Int
    /// An expression: the script breaks only if it is true; nil for always.
    package var condition: String?
    /// The first hit at which the script breaks, from 1.
    package var firstHit = 1
    /// A message to log instead of a break; expressions in braces are replaced by their values.
    package var message: String?
    /// Whether its line is known to have code: the text of its file or chunk was found.
    package internal(set) var isPlaced = false
    /// How often the line was reached with its condition true or failed.
    package internal(set) var hits = 0

    package init(path: String, line: Int, condition: String? = nil, firstHit: Int = 1, message: String? = nil) {
        self.path = path
        self.line = line
        self.condition = condition
        self.firstHit = firstHit
        self.message = message
    }
}
