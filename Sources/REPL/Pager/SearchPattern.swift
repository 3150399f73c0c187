/// A text to search for. Without capital letters, case is ignored.
struct SearchPattern {
    let text: String
    private let bytes: [UInt8]
    private let characters: [String]
    private let ignoresCase: Bool

    /// - Parameter text: the text; a long one is truncated.
    init(_ text: String) {
        self.text = String(text.prefix(200))
        ignoresCase = self.text == self.text.lowercased()
        bytes = Array(self.text.utf8)
        characters = self.text.map(String.init)
    }

    /// Whether a text contains the pattern.
    func isFound(in text: String) -> Bool {
        guard let first = bytes.first else { return false }
        var folded = ignoresCase ? text.lowercased() : text
        return folded.withUTF8 { text in
            guard text.count >= bytes.count else { return false }
            for start in 0...text.count - bytes.count where text[start] == first {
                if text[start..<start + bytes.count].elementsEqual(bytes) { return true }
            }
            return false
        }
    }

    /// The places of the pattern in a line of the screen, without overlaps.
    func ranges(in line: String) -> [Range<String.Index>] {
        let indices = Array(line.indices) + [line.endIndex]
        let letters = line.map { ignoresCase ? $0.lowercased() : String($0) }
        var ranges: [Range<String.Index>] = []
        var start = 0
        while !characters.isEmpty, start + characters.count <= letters.count {
            if letters[start..<start + characters.count].elementsEqual(characters) {
                ranges.append(indices[start]..<indices[start + characters.count])
                start += characters.count
            } else {
                start += 1
            }
        }
        return ranges
    }
}
