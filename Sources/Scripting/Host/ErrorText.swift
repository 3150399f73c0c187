package import Lua
import Wording

/// An error for display: the message, its source line, and the traceback.
package enum ErrorText {
    /// The message and, where its source is known, an excerpt. No trailing line break. Control characters are escaped.
    ///
    /// - Parameters:
    ///   - error: the error.
    ///   - sources: the texts of chunks.
    ///   - traceback: whether to show the calls.
    /// - Returns: the text.
    package static func describe(
        _ error: LuaError, sources: SourceTexts, traceback: Bool = true
    ) -> String {
        var error = error
        error.message = shortened(error.message)
        let place = place(in: error.message)
        let line = place.flatMap { sources.line($0.line, of: $0.chunk) }
        var text = ElementHint.message(error.message, line: line)
        if let place, let line,
            let excerpt = SourceExcerpt(
                line,
                marking: ErrorCaret.range(of: error, in: sources.text { $0 == place.chunk } ?? "", line: place.line)
                    ?? ErrorCaret.range(of: text, in: line))
        {
            let number = String(place.line)
            text += "\n  \(number) | \(excerpt.text)"
            if let marks = excerpt.marks {
                text += "\n  \(String(repeating: " ", count: number.count)) | \(marks)"
            }
        }
        // A single main chunk repeats the message's place.
        if traceback, let frames = frames(of: error), frames.count > 1 {
            text += "\nstack traceback:\n" + frames.map { "\t" + $0 }.joined(separator: "\n")
        }
        return VisibleText.escaped(text)
    }

    /// A message of at most some thousand characters, with the number of bytes that are left out: it may quote an argument
    /// of megabytes, and is searched, measured and wrapped.
    private static func shortened(_ message: String) -> String {
        guard message.utf8.count > 1 << 16 else { return message }
        let kept = String(message.unicodeScalars.prefix(1 << 14))
        return kept + "… (\((message.utf8.count - kept.utf8.count).counted("more byte")))"
    }

    /// The place at the start of a message: `chunk:line:`.
    package static func place(in message: String) -> (chunk: String, line: Int)? {
        guard let end = message.range(of: ": ", from: message.startIndex) else { return nil }
        let head = message[..<end]
        guard let colon = head.lastIndex(of: ":"), let line = Int(head[head.index(after: colon)...]) else { return nil }
        return (String(head[..<colon]), line)
    }

    /// The traceback's frames without those of the host.
    static func frames(of error: LuaError) -> [String]? {
        guard let traceback = error.traceback else { return nil }
        var shown = traceback.split(separator: "\n").dropFirst().map { $0.drop { $0.is("\t") } }
            .filter { !$0.hasPrefix("[C]: in ?") }
            .drop { $0.hasPrefix("[C]: in ") }.map(String.init)
        // An expression at a prompt is a tail call of its chunk.
        if shown.last == "(...tail calls...)" { shown.removeLast() }
        return collapsed(shown)
    }

    /// The frames; a recursion's equal ones are one line with their number. Lua omits those in the middle.
    private static func collapsed(_ frames: [String]) -> [String] {
        var all: [(frame: String, count: Int)] = []
        for (index, frame) in frames.enumerated() {
            if let last = all.last, frame == last.frame {
                all[all.count - 1].count += 1
            } else if let skipped = frame.firstMatch(of: /skipping (\d+) levels/), let count = Int(skipped.1),
                let last = all.last, last.count > 1, frames[(index + 1)...].first == last.frame
            {
                all[all.count - 1].count += count
            } else {
                all.append((frame, 1))
            }
        }
        return all.flatMap { frame, count in
            count < 3
                ? Array(repeating: frame, count: count)
                : [frame, "... (\((count - 1).counted("more call")) of it)"]
        }
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
