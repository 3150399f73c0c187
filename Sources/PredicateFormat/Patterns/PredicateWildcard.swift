import PropertyList

/// The right side of `LIKE`: `*` matches any run of characters, `?` matches one, a backslash escapes the next
/// character.
///
/// A character is an extended grapheme cluster. For texts of plain characters (see `PlainCharacters`) the pieces
/// between the runs are searched in the text's bytes, without allocation; other texts are divided into characters
/// first. The time is at most the product of both lengths.
@usableFromInline
package struct PredicateWildcard: Sendable {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    enum Unit: Sendable {
        case one
        case run
        case character(Character)
    }

    private let options: PredicateOptions
    let units: [Unit]
    private let pieces: WildcardPieces
    /// The longest literal, if the comparison has no options. It rejects most texts before the full match.
    private let literal: ByteSearch?
    /// The common prefix of all matches, unfolded.
    let prefix: String

    init(_ pattern: String, _ options: PredicateOptions) {
        self.options = options
        var units: [Unit] = []
        var literal = ""
        var prefix: String?
        func flush() {
            let folded = String(decoding: PredicateFolding.folded(literal, options), as: UTF8.self)
            units += folded.map { .character($0) }
            if prefix == nil { prefix = literal }
            literal = ""
        }
        var scalars = pattern.unicodeScalars[...]
        while let scalar = scalars.popFirst() {
            switch scalar {
            case "*", "?":
                flush()
                units.append(scalar == "*" ? .run : .one)
            case "\\":
                literal.unicodeScalars.append(scalars.popFirst() ?? scalar)
            default:
                literal.unicodeScalars.append(scalar)
            }
        }
        flush()
        self.prefix = prefix ?? ""
        self.units = units
        pieces = WildcardPieces(units, foldsCase: options.contains(.caseInsensitive))
        self.literal = options.isEmpty ? pieces.longestLiteral.map { ByteSearch($0, foldsCase: false) } : nil
    }

    @usableFromInline
    func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        if pieces.areExcluded(from: text) { return false }
        if let literal, literal.firstOffset(in: text) == nil { return false }
        if PlainCharacters.areBytes(text) { return pieces.match(text, isASCII: true) }
        return PredicateFolding.withFolded(text, options) { text in
            PlainCharacters.make(up: text) ? pieces.match(text, isASCII: false) : matches(characters: text)
        }
    }

    /// Greedy matching that backtracks to the latest run only, which is sufficient for wildcards.
    func matches(characters text: Bytes) -> Bool {
        let characters = Array(String(decoding: text, as: UTF8.self))
        var (offset, unit) = (0, 0)
        var retry: (offset: Int, unit: Int)?
        func isRun(_ unit: Int) -> Bool {
            if case .run = units[unit] { true } else { false }
        }
        func accepts(_ offset: Int, _ unit: Int) -> Bool {
            guard case .character(let wanted) = units[unit] else { return true }
            return characters[offset].utf8.elementsEqual(wanted.utf8)
        }
        while offset < characters.count {
            if Interruption.isDueAtStep { return false }
            if unit < units.count && isRun(unit) {
                retry = (offset, unit + 1)
                unit += 1
            } else if unit < units.count && accepts(offset, unit) {
                offset += 1
                unit += 1
            } else if let again = retry {
                retry = (again.offset + 1, again.unit)
                (offset, unit) = (again.offset + 1, again.unit)
            } else {
                return false
            }
        }
        while unit < units.count && isRun(unit) { unit += 1 }
        return unit == units.count
    }
}
