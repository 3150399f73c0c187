/// The characters that match at one position of a regular expression, with ICU's semantics.
indirect enum PatternSet: Hashable, Sendable {
    case range(UInt32, UInt32)
    case digit
    case word
    case space
    case lineEnd
    case union([PatternSet])
    case intersection(PatternSet, PatternSet)
    case difference(PatternSet, PatternSet)
    case symmetricDifference(PatternSet, PatternSet)
    case inverted(PatternSet)
    /// Every case of the other set's characters.
    case anyCase(PatternSet)
    /// A one-character expression evaluated by the standard library: `\p{Greek}`, `[[:alpha:]]`.
    case expression(String)

    static let any = PatternSet.range(0, 0x10FFFF)

    static func scalar(_ scalar: Unicode.Scalar) -> PatternSet { .range(scalar.value, scalar.value) }

    /// Whether the set contains a character. `expressions` evaluates a one-character expression.
    func takes(_ scalar: Unicode.Scalar, _ expressions: (String, Unicode.Scalar) -> Bool) -> Bool {
        switch self {
        case .range(let first, let last): first <= scalar.value && scalar.value <= last
        case .digit: scalar.properties.generalCategory == .decimalNumber
        case .word: Self.isWord(scalar)
        case .space: scalar.properties.isWhitespace
        case .lineEnd: Self.isLineEnd(scalar)
        case .union(let sets): sets.contains { $0.takes(scalar, expressions) }
        case .intersection(let a, let b): a.takes(scalar, expressions) && b.takes(scalar, expressions)
        case .difference(let a, let b): a.takes(scalar, expressions) && !b.takes(scalar, expressions)
        case .symmetricDifference(let a, let b): a.takes(scalar, expressions) != b.takes(scalar, expressions)
        case .inverted(let set): !set.takes(scalar, expressions)
        case .anyCase(let set): PatternCase.variants(of: scalar).contains { set.takes($0, expressions) }
        case .expression(let source): expressions(source, scalar)
        }
    }

    /// The only character of the set; nil when there are several.
    var only: Unicode.Scalar? {
        guard case .range(let first, let last) = self, first == last else { return nil }
        return Unicode.Scalar(first)
    }

    static func isLineEnd(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }

    /// Whether `\w` matches a character.
    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .connectorPunctuation: true
        default: scalar.properties.isAlphabetic || scalar.properties.isJoinControl
        }
    }
}

/// Case variants of characters, by Unicode's simple case folding.
enum PatternCase {
    /// The character itself and its other cases.
    static func variants(of scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        if scalar.isASCII {
            let value = scalar.value
            guard value | 0x20 >= 0x61, value | 0x20 <= 0x7A else { return [scalar] }
            guard let other = Unicode.Scalar(value ^ 0x20) else { return [scalar] }
            return [scalar, other] + (strays[Unicode.Scalar(value | 0x20) ?? scalar] ?? [])
        }
        let properties = scalar.properties
        guard properties.isCased || properties.changesWhenCaseMapped else { return [scalar] }
        let folded = folded(scalar)
        var result = [scalar]
        let mapped = [properties.lowercaseMapping, properties.uppercaseMapping, properties.titlecaseMapping]
        let ofFolded = [folded.properties.uppercaseMapping, folded.properties.titlecaseMapping]
        for other in [folded] + (mapped + ofFolded).compactMap(single) + (strays[folded] ?? []) {
            if !result.contains(other), Self.folded(other) == folded { result.append(other) }
        }
        return result
    }

    /// The common form of all cases of a character.
    static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        if scalar.value == 0x1E9E { return "ß" }
        // In simple folding the Turkish letters have no other case.
        if scalar.value == 0x130 || scalar.value == 0x131 { return scalar }
        let upper = single(scalar.properties.uppercaseMapping) ?? scalar
        return single(upper.properties.lowercaseMapping) ?? upper
    }

    private static func single(_ text: String) -> Unicode.Scalar? {
        let scalars = text.unicodeScalars
        return scalars.count == 1 ? scalars.first : nil
    }

    /// The cases that are neither upper nor title case, by folded character.
    private static let strays: [Unicode.Scalar: [Unicode.Scalar]] = {
        var strays: [Unicode.Scalar: [Unicode.Scalar]] = [:]
        let values: [UInt32] = [
            0xB5, 0x17F, 0x1C5, 0x1C8, 0x1CB, 0x1F2, 0x345, 0x3C2, 0x3D0, 0x3D1, 0x3D5, 0x3D6, 0x3F0, 0x3F1, 0x3F4,
            0x3F5, 0x1C80, 0x1C81, 0x1C82, 0x1C83, 0x1C84, 0x1C85, 0x1C86, 0x1C87, 0x1C88, 0x1E9B, 0x1E9E, 0x1FBE,
            0x2126, 0x212A, 0x212B,
        ]
        for scalar in values.compactMap(Unicode.Scalar.init) { strays[folded(scalar), default: []].append(scalar) }
        return strays
    }()
}

/// Divides characters into equivalence classes that a program cannot distinguish. A character is classified on its
/// first occurrence.
struct PatternAlphabet {
    /// Properties of a class that assertions depend on.
    struct Facts: OptionSet {
        let rawValue: UInt8
        static let word = Facts(rawValue: 1)
        static let combining = Facts(rawValue: 2)
        static let lineEnd = Facts(rawValue: 4)
        static let carriageReturn = Facts(rawValue: 8)
        static let lineFeed = Facts(rawValue: 16)
    }

    /// The class of characters not classified yet.
    static let unknown: UInt16 = 0
    /// The class of the text's end.
    static let end: UInt16 = 1

    /// Maximum number of classes.
    static let limit = 1 << 15
    private static let pageSize = 256

    private let program: PatternProgram
    private var expressions: NameTable<Regex<AnyRegexOutput>> = [:]
    private let width: Int
    /// For each class one bit for each set that contains it, followed by its facts.
    private var members: [UInt64] = []
    private(set) var facts: [Facts] = []
    private var numbers: [[UInt64]: UInt16] = [:]
    /// The page of a scalar's class, by the scalar's upper bits. Page 0 is ASCII; page 1 is empty and shared.
    private(set) var pageNumbers: [UInt16] = []
    private(set) var pages: [UInt16] = []

    var count: Int { facts.count }

    init(_ program: PatternProgram) {
        self.program = program
        width = (program.sets.count + 63) / 64 + 1
        clear()
    }

    mutating func clear() {
        members = [UInt64](repeating: 0, count: 2 * width)
        facts = [[], []]
        numbers = [:]
        pageNumbers = [UInt16](repeating: 1, count: 0x11_0000 / Self.pageSize)
        pageNumbers[0] = 0
        pages = [UInt16](repeating: Self.unknown, count: 2 * Self.pageSize)
    }

    /// Whether a class belongs to the set at an index.
    func takes(_ number: Int, _ set: Int) -> Bool {
        members[number * width + set / 64] >> UInt64(set % 64) & 1 != 0
    }

    /// A character's class, if it is classified.
    func known(_ scalar: UInt32) -> UInt16 {
        pages[Int(pageNumbers[Int(scalar / 256)]) * Self.pageSize + Int(scalar % 256)]
    }

    /// A character's class; nil when there are too many classes.
    mutating func number(of scalar: UInt32) -> UInt16? {
        let known = known(scalar)
        if known != Self.unknown { return known }
        guard let number = classify(Unicode.Scalar(scalar) ?? "\u{FFFD}") else { return nil }
        let upper = Int(scalar / 256)
        if pageNumbers[upper] == 1 {
            pageNumbers[upper] = UInt16(pages.count / Self.pageSize)
            pages.append(contentsOf: repeatElement(Self.unknown, count: Self.pageSize))
        }
        pages[Int(pageNumbers[upper]) * Self.pageSize + Int(scalar % 256)] = number
        return number
    }

    private mutating func classify(_ scalar: Unicode.Scalar) -> UInt16? {
        var key = [UInt64](repeating: 0, count: width)
        for (index, set) in program.sets.enumerated() where set.takes(scalar, { evaluate($0, $1) }) {
            key[index / 64] |= 1 << UInt64(index % 64)
        }
        let facts = facts(of: scalar)
        key[width - 1] = UInt64(facts.rawValue)
        if let number = numbers[key] { return number }
        guard count < Self.limit else { return nil }
        let number = UInt16(count)
        numbers[key] = number
        members.append(contentsOf: key)
        self.facts.append(facts)
        return number
    }

    private func facts(of scalar: Unicode.Scalar) -> Facts {
        var facts: Facts = []
        if program.hasLastEnd {
            if PatternSet.isLineEnd(scalar) { facts.insert(.lineEnd) }
            if scalar == "\r" { facts.insert(.carriageReturn) }
            if scalar == "\n" { facts.insert(.lineFeed) }
        }
        if program.hasWords {
            let properties = scalar.properties
            let category = properties.generalCategory
            // As in ICU, a combining character belongs to its base.
            if properties.isGraphemeExtend || category == .format { facts.insert(.combining) }
            if properties.isAlphabetic || properties.numericType == .decimal || category == .connectorPunctuation {
                facts.insert(.word)
            }
        }
        return facts
    }

    private mutating func evaluate(_ source: String, _ scalar: Unicode.Scalar) -> Bool {
        if expressions[source] == nil {
            expressions[source] = (try? Regex(source))?.matchingSemantics(.unicodeScalar)
        }
        guard let expression = expressions[source] else { return false }
        return (try? expression.wholeMatch(in: String(scalar))) != nil
    }
}
