/// An incremental search of the history, from the newest entry to older ones.
///
/// A lower-case query ignores case; a query with an upper-case letter does not.
struct HistorySearch: Sendable {
    private(set) var query = ""
    /// The matching entry, and the range of the query in it, in UTF-8 offsets.
    private(set) var match: (index: Int, range: Range<Int>)?
    /// Whether the last step found nothing; the previous match is still shown.
    private(set) var hasFailed = false
    /// The buffer before the search.
    let original: EditBuffer

    init(from original: EditBuffer) { self.original = original }

    /// Extends the query; the match stays if it contains the longer query.
    mutating func append(_ text: String, in history: History) {
        query += text
        search(from: match?.index ?? history.entries.count - 1, step: -1, in: history)
    }

    /// Shortens the query and searches again from the newest entry.
    mutating func removeLast(in history: History) {
        guard !query.isEmpty else { return }
        query.removeLast()
        match = nil
        hasFailed = false
        if !query.isEmpty { search(from: history.entries.count - 1, step: -1, in: history) }
    }

    /// Moves to the next matching entry, older or newer.
    mutating func next(older: Bool, in history: History) {
        guard !query.isEmpty else { return }
        let step = older ? -1 : 1
        search(from: (match?.index ?? (older ? history.entries.count : -1)) + step, step: step, in: history)
    }

    /// Takes over the query of the last search, for C-r pressed twice.
    mutating func resume(_ earlier: String, in history: History) {
        query = ""
        append(earlier, in: history)
    }

    private mutating func search(from start: Int, step: Int, in history: History) {
        let folds = !query.contains(where: \.isUppercase)
        let wanted = Array((folds ? query.lowercased() : query).utf8)
        var index = start
        while index >= 0, index < history.entries.count {
            if let offset = Self.find(wanted, in: history.entries[index], foldingCase: folds) {
                match = (index, offset..<offset + wanted.count)
                hasFailed = false
                return
            }
            index += step
        }
        hasFailed = true
    }

    /// The offset of the last occurrence of the bytes. Case is ignored for ASCII letters only.
    private static func find(_ wanted: [UInt8], in text: String, foldingCase: Bool) -> Int? {
        guard !wanted.isEmpty, text.utf8.count >= wanted.count else { return nil }
        var text = text
        return text.withUTF8 { bytes in
            var start = bytes.count - wanted.count
            while start >= 0 {
                var length = 0
                while length < wanted.count {
                    var byte = bytes[start + length]
                    if foldingCase, byte >= 0x41, byte <= 0x5A { byte += 0x20 }
                    if byte != wanted[length] { break }
                    length += 1
                }
                if length == wanted.count { return start }
                start -= 1
            }
            return nil
        }
    }
}
