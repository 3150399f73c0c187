import Foundation
package import PropertyList

/// The amount of work of a property test that accounts for every value put in: each value comes out equal, or is named by
/// an error, or is counted in a report.
package enum Accounting {
    /// How many generated values a test puts in: 1,000, or as many as `scripts/soak values N` says.
    package static let values = ProcessInfo.processInfo.environment["CUBBY_VALUES"].flatMap { Int($0) } ?? 1_000
}

/// Values as other programs write them: texts in both normalization forms, names that are empty or equal, numbers at the
/// edges of their types, dates of any year, mixed kinds.
package struct ForeignValues {
    package var random: TestGenerator

    package init(seed: UInt64) { random = TestGenerator(seed: seed) }

    package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[random.number(elements.count)] }

    /// A text; every eighth is empty or has characters that programs often treat in a special way.
    package mutating func text() -> String {
        if random.number(8) == 0 { return pick(Self.edges) }
        let alphabet = pick(Self.alphabets)
        return String((0..<random.number(12)).map { _ in pick(alphabet) })
    }

    /// A name of a field or a key. Few enough are different that equal ones, and equivalent ones, meet.
    package mutating func name() -> String {
        random.number(4) == 0
            ? text() : pick(["a", "b", "name", "é", "e\u{301}", "1", "", "$a", "$date", "é\u{0}", "price"])
    }

    /// An integer of up to 128 bits, at an edge as often as not.
    package mutating func integer() -> Int128 {
        switch random.number(4) {
        case 0: Int128(random.number(200) - 100)
        case 1: pick(Self.integerEdges) + Int128(random.number(3) - 1)
        case 2: Int128(Int64(bitPattern: random.next()))
        default: Int128(Int64(bitPattern: random.next())) << Int128(random.number(64))
        }
    }

    /// A finite real.
    package mutating func real() -> Double {
        switch random.number(4) {
        case 0: return Double(random.number(2_000) - 1_000) / pick([1, 2, 10, 100, 1_000])
        case 1: return pick(Self.realEdges)
        default:
            let value = Double(bitPattern: random.next())
            return value.isFinite ? value : 0.1
        }
    }

    /// Seconds since 2001 of a date in any year, with and without a fraction.
    package mutating func seconds() -> Double {
        switch random.number(4) {
        case 0: Double(random.number(1_000_000_000))
        case 1: Double(random.number(1_000_000_000)) + Double(random.number(1_000)) / 1_000
        case 2: Double(Int64(bitPattern: random.next()) >> 22) / 7
        default: pick([0, -0.001, -978_307_200, -63_114_076_800, 252_423_993_600, 1e11, -1e12, 0.999_999_9])
        }
    }

    /// A property-list value without a reference into an archive; containers nest as deep as given.
    package mutating func value(depth: Int = 3) -> PropertyListValue {
        switch random.number(depth > 0 ? 10 : 7) {
        case 0: return .boolean(random.number(2) == 0)
        case 1:
            let value = integer()
            return Int64(exactly: value).map { .integer($0) } ?? .wideInteger(value)
        case 2: return .real(real())
        case 3: return .single(Float(random.number(1_000)) / 8)
        case 4: return .date(PropertyListDate(secondsSinceReferenceDate: seconds()))
        case 5: return .data((0..<random.number(9)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        case 6, 7: return random.number(8) == 0 ? PropertyListValue(utf16: units()) : .string(text())
        case 8: return .array((0..<random.number(4)).map { _ in value(depth: depth - 1) })
        default:
            var entries = PropertyListDictionary()
            let hasAnyKeys = random.number(4) == 0
            for _ in 0..<random.number(4) {
                entries[hasAnyKeys ? value(depth: 0) : .string(name())] = value(depth: depth - 1)
            }
            return .dictionary(entries)
        }
    }

    /// The UTF-16 units of a text that a program cut, perhaps within a surrogate pair.
    package mutating func units() -> [UInt16] {
        var units = Array("\(text())👍\(text())🏽".utf16)
        units.removeLast(random.number(units.count))
        if random.number(2) == 0 { units.removeFirst(random.number(units.count + 1)) }
        return units
    }

    private static let edges = [
        "", " ", "\u{FEFF}", "\u{0}", "a\u{0}b", "\r\n", "\t", "\"", "\"\"", "'", ",", ";", "n/a", "NULL", "nil", "NaN",
        "inf", "-0", "007", "1e5", "0x10", "1,5", "2006.10", "true", "é", "e\u{301}", "\u{212B}", "Å", "👩‍👩‍👧", "\u{202E}",
        "]]>",
        "<", "&amp;", "\u{FFFD}", "\u{FFFF}", "\u{1F}", "18446744073709551616",
    ]
    private static let alphabets: [[Character]] = [
        Array("abcdefghij"), Array("äöüßéñ 漢字"), Array("0123456789.-+e"), ["e\u{301}", "é", "👍🏽", "𝄞"],
        Array("a,;|\t\"'\n "),
    ]
    private static let integerEdges: [Int128] = [
        0, 1 << 31, 1 << 32, 1 << 53, 1 << 63, 1 << 64, -(1 << 31), -(1 << 53), -(1 << 63), -(1 << 64), 1 << 100,
    ]
    private static let realEdges: [Double] = [
        0, -0.0, 0.1, 12.5, 1e16, 1e17, 9_007_199_254_740_992, 6.626_070_15e-34, 2e18, .leastNonzeroMagnitude,
        .greatestFiniteMagnitude,
        9.223_372_036_854_776e18, 1.0 / 3,
    ]
}
