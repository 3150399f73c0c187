/// Converts a pasted text for insertion: normalizes line breaks, and removes prompts copied from a session.
enum PastedText {
    /// The text without prompts.
    ///
    /// If the first line begins with a prompt, the text is a transcript: prompts are removed, and lines without a
    /// prompt, the session's output, are dropped. If all lines but the first begin with a continuation prompt, the
    /// first was copied without its prompt. Any other text is unchanged. A number at the margin of a line with a prompt
    /// is removed, too.
    static func cleaned(_ text: String, prompts: [String], continuations: [String]) -> String {
        let normalized = EditBuffer.normalized(text)
        var lines = normalized.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        while lines.count > 1, lines.first?.allSatisfy(\.isWhitespace) ?? false { lines.removeFirst() }
        guard let first = lines.first else { return normalized }
        if strip(first, prompts) != nil {
            return lines.compactMap { line in
                strip(line, prompts).map(withoutMargin) ?? strip(line, continuations)
            }.joined(separator: "\n")
        }
        let others = lines.dropFirst()
        if !others.isEmpty {
            let stripped = others.compactMap { strip($0, continuations) }
            if stripped.count == others.count { return ([first] + stripped).joined(separator: "\n") }
        }
        return normalized
    }

    /// The line without a trailing number that follows at least four blanks.
    private static func withoutMargin(_ line: String) -> String {
        let bytes = Array(line.utf8)
        var end = bytes.count
        // From the end, in one pass: a pasted line may be long, and mostly blank.
        func skip(_ isSkipped: (UInt8) -> Bool) -> Int {
            let start = end
            while end > 0, isSkipped(bytes[end - 1]) { end -= 1 }
            return start - end
        }
        _ = skip { $0 == 0x20 }
        guard (1...6).contains(skip { (0x30...0x39).contains($0) }), skip({ $0 == 0x20 }) >= 4 else { return line }
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    /// The line without its prompt; nil if it has none. Copying may drop trailing blanks, so a prompt alone matches
    /// without them.
    private static func strip(_ line: String, _ prompts: [String]) -> String? {
        for prompt in prompts.sorted(by: { $0.count > $1.count }) where !prompt.isEmpty {
            if line.hasPrefix(prompt) { return String(line.dropFirst(prompt.count)) }
            let bare = String(prompt.reversed().drop(while: \.isWhitespace).reversed())
            if !bare.isEmpty, line == bare { return "" }
        }
        return nil
    }
}
