/// What stands between two runs of a `LIKE` pattern: characters, and places for any one.
///
/// It is matched with texts in ASCII, and with folded ones of `PlainCharacters`.
struct WildcardPiece: Sendable {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    private enum Part: Sendable {
        case one
        case literal(ByteSearch)
    }

    private let parts: [Part]
    private let foldsCase: Bool
    /// The first literal byte if the piece begins with ASCII.
    private let lead: UInt8?

    init(_ units: ArraySlice<PredicateWildcard.Unit>, foldsCase: Bool) {
        var parts: [Part] = []
        var literal: [UInt8] = []
        func flush() {
            if !literal.isEmpty { parts.append(.literal(ByteSearch(literal, foldsCase: foldsCase))) }
            literal = []
        }
        for unit in units {
            if case .character(let character) = unit {
                literal += character.utf8
            } else {
                flush()
                parts.append(.one)
            }
        }
        flush()
        self.parts = parts
        self.foldsCase = foldsCase
        lead =
            if case .literal(let first) = parts.first { first.bytes.first.flatMap { $0 < 0x80 ? $0 : nil } } else {
                nil
            }
    }

    /// Whether a text, folded or not, begins with another ASCII character than the piece.
    @inline(__always)
    func isExcluded(from text: Bytes) -> Bool {
        guard let lead else { return false }
        guard let byte = text.first else { return true }
        return byte < 0x80 && (foldsCase ? PredicateFolding.lowered(byte) : byte) != lead
    }

    /// Where the piece ends that begins at a place; nil when it does not stand there.
    @inline(__always)
    func end(in text: Bytes, from start: Int, _ isASCII: Bool) -> Int? {
        var place = start
        for part in parts {
            switch part {
            case .one:
                guard place < text.count else { return nil }
                place = isASCII ? place + 1 : PlainCharacters.end(text, place)
            case .literal(let literal):
                guard place + literal.bytes.count <= text.count, literal.stand(in: text, at: place) else { return nil }
                place += literal.bytes.count
                guard isASCII || PlainCharacters.isBorder(text, place) else { return nil }
            }
        }
        return place
    }

    /// Where the piece begins that ends with the text; nil when it does not stand there.
    func start(in text: Bytes, _ isASCII: Bool) -> Int? {
        var place = text.count
        for part in parts.reversed() {
            switch part {
            case .one:
                guard place > 0 else { return nil }
                place = isASCII ? place - 1 : PlainCharacters.start(text, place)
            case .literal(let literal):
                place -= literal.bytes.count
                guard place >= 0, literal.stand(in: text, at: place),
                    isASCII || PlainCharacters.isBorder(text, place)
                else { return nil }
            }
        }
        return place
    }

    /// The end of the first such piece between two places; nil when there is none.
    func firstEnd(in text: Bytes, from start: Int, to end: Int, _ isASCII: Bool) -> Int? {
        guard let first = parts.first else { return start }
        let text = Bytes(rebasing: text[..<end])
        var place = start
        while place <= end {
            if case .literal(let literal) = first {
                guard let found = literal.place(in: text, from: place) else { return nil }
                place = found
            }
            if isASCII || PlainCharacters.isBorder(text, place), let last = self.end(in: text, from: place, isASCII) {
                return last
            }
            guard place < end else { return nil }
            place += isASCII ? 1 : PatternText.anyScalar(text, place).length
        }
        return nil
    }
}
