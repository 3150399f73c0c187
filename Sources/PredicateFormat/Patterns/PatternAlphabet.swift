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
    private var expressions: [String: Regex<AnyRegexOutput>] = [:]
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
