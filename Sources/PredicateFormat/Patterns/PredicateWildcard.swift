/// The right side of `LIKE`: `*` stands for any run of characters, `?` for one, a backslash takes the next as it is.
///
/// A character is what a reader sees as one (an extended grapheme cluster). Text in plain ASCII is matched by bytes
/// without allocating. The time is at most the product of both lengths.
@usableFromInline
package struct PredicateWildcard: Sendable {
    private enum Unit: Sendable {
        case one
        case run
        case character(Character)
    }

    private let options: PredicateOptions
    private let units: [Unit]
    /// The same for ASCII text: a byte, or one of the marks below; nil when the pattern needs other characters.
    private let ascii: [UInt16]?
    /// The text that every match begins with, unfolded.
    let prefix: String

    private static let anyOne: UInt16 = 256
    private static let anyRun: UInt16 = 257

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
        var bytes: [UInt16]? = []
        for unit in units {
            switch unit {
            case .one: bytes?.append(Self.anyOne)
            case .run: bytes?.append(Self.anyRun)
            case .character(let character):
                // CR LF is one character of two bytes: that, too, is left to the characters.
                if character.utf8.count == 1, let byte = character.utf8.first {
                    bytes?.append(UInt16(byte))
                } else {
                    bytes = nil
                }
            }
        }
        ascii = bytes
    }

    @usableFromInline
    func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        if let ascii, PredicateFolding.isASCII(text), !text.contains(0x0D) {
            let foldsCase = options.contains(.caseInsensitive)
            return ascii.withUnsafeBufferPointer { pattern in
                Self.match(text.count, pattern.count, isRun: { pattern[$0] == Self.anyRun }) { place, unit in
                    if pattern[unit] == Self.anyOne { return true }
                    return pattern[unit] == UInt16(foldsCase ? PredicateFolding.lowered(text[place]) : text[place])
                }
            }
        }
        let characters = Array(String(decoding: PredicateFolding.folded(text, options), as: UTF8.self))
        func isRun(_ unit: Int) -> Bool {
            if case .run = units[unit] { true } else { false }
        }
        return Self.match(characters.count, units.count, isRun: isRun) { place, unit in
            guard case .character(let wanted) = units[unit] else { return true }
            return characters[place].utf8.elementsEqual(wanted.utf8)
        }
    }

    /// Greedy matching that goes back to the latest run alone, which is enough for runs of anything.
    @inline(__always)
    private static func match(
        _ textCount: Int, _ unitCount: Int, isRun: (Int) -> Bool, accepts: (Int, Int) -> Bool
    ) -> Bool {
        var (place, unit) = (0, 0)
        var retry: (place: Int, unit: Int)?
        while place < textCount {
            if unit < unitCount && isRun(unit) {
                retry = (place, unit + 1)
                unit += 1
            } else if unit < unitCount && accepts(place, unit) {
                place += 1
                unit += 1
            } else if let again = retry {
                retry = (again.place + 1, again.unit)
                (place, unit) = (again.place + 1, again.unit)
            } else {
                return false
            }
        }
        while unit < unitCount && isRun(unit) { unit += 1 }
        return unit == unitCount
    }
}
