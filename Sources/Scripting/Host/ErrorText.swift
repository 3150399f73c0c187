public import Lua

/// An error as people read it: the message, the line of source it speaks of, and the calls that led there.
public enum ErrorText {
    /// The message and, where its source is known, an excerpt. No trailing line break.
    ///
    /// - Parameters:
    ///   - error: what is described.
    ///   - sources: the texts of chunks.
    ///   - traceback: whether the calls are shown.
    ///   - caret: the characters of the line that it is about, if the caller knows better than the message.
    /// - Returns: the text.
    public static func describe(
        _ error: LuaError, sources: SourceTexts, traceback: Bool = true, caret: Range<Int>? = nil
    ) -> String {
        var text = error.message
        if let place = place(in: error.message), let line = sources.line(place.line, of: place.chunk) {
            let number = String(place.line)
            text += "\n  \(number) | \(line)"
            if let caret = caret ?? ErrorCaret.range(of: error.message, in: line) {
                // Tabs stay, so that the marks stand where the words do.
                let margin = line.prefix(caret.lowerBound).map { $0 == "\t" ? "\t" : " " }.joined()
                let blanks = String(repeating: " ", count: number.count)
                text += "\n  \(blanks) | \(margin)\(String(repeating: "^", count: max(1, caret.count)))"
            }
        }
        // A main chunk alone says no more than the message's own place.
        if traceback, let frames = frames(of: error), frames.count > 1 {
            text += "\nstack traceback:\n" + frames.map { "\t" + $0 }.joined(separator: "\n")
        }
        return text
    }

    /// The place that a message begins with: `chunk:line:`.
    public static func place(in message: String) -> (chunk: String, line: Int)? {
        guard let end = message.range(of: ": ", from: message.startIndex) else { return nil }
        let head = message[..<end]
        guard let colon = head.lastIndex(of: ":"), let line = Int(head[head.index(after: colon)...]) else { return nil }
        return (String(head[..<colon]), line)
    }

    /// The traceback's frames without the host's own.
    static func frames(of error: LuaError) -> [String]? {
        guard let traceback = error.traceback else { return nil }
        return traceback.split(separator: "\n").dropFirst().map { $0.drop { $0 == "\t" } }
            .filter { !$0.hasPrefix("[C]: in ?") }
            .drop { $0.hasPrefix("[C]: in ") }.map(String.init)
    }
}

extension String {
    /// The start of the first occurrence of a text; `nil` when there is none.
    fileprivate func range(of text: String, from start: Index) -> Index? {
        var index = start
        while index < endIndex {
            if self[index...].hasPrefix(text) { return index }
            index = self.index(after: index)
        }
        return nil
    }
}
