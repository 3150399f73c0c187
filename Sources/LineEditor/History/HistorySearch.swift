/// An incremental search of the history: the newest entry that holds what has been typed, then older ones.
///
/// Lower-case queries find either case; a query with an upper-case letter finds just that.
struct HistorySearch: Sendable {
    private(set) var query = ""
    /// The entry that is shown, and where in it the query is, in UTF-8 offsets.
    private(set) var match: (index: Int, range: Range<Int>)?
    /// Whether the last step found nothing; the match before it is still shown.
    private(set) var hasFailed = false
    /// The buffer as it was, to come back to.
    let original: EditBuffer

    init(from original: EditBuffer) { self.original = original }

    /// Makes the query longer; the entry shown stays if it holds the longer one too.
    mutating func append(_ text: String, in history: History) {
        query += text
        search(from: match?.index ?? history.entries.count - 1, step: -1, in: history)
    }

    /// Makes the query shorter and searches anew from the newest.
    mutating func removeLast(in history: History) {
        guard !query.isEmpty else { return }
        query.removeLast()
        match = nil
        hasFailed = false
        if !query.isEmpty { search(from: history.entries.count - 1, step: -1, in: history) }
    }

    /// Goes to the next entry that holds the query, older or newer.
    mutating func next(older: Bool, in history: History) {
        guard !query.isEmpty else { return }
        let step = older ? -1 : 1
        search(from: (match?.index ?? (older ? history.entries.count : -1)) + step, step: step, in: history)
    }

    /// Takes the query of the last search, for C-r pressed twice.
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

    /// The offset of the last place where the text holds the bytes. Letters outside ASCII are compared as they are.
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
