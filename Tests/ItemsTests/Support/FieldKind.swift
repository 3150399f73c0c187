import PropertyList
import TestSupport

/// What a field holds for a while: values of one kind, or of several.
enum FieldKind: CaseIterable {
    case smallIntegers, largeIntegers, reals, numbers, booleans, dates
    case repeatedTexts, distinctTexts, longRepeatedTexts, longDistinctTexts
    case dictionaries, arrays, mixed

    private static let edgeIntegers: [Int64] = [
        .min, .min + 1, .max, .max - 1, 1 << 53, 1 << 53 + 1, -(1 << 53), -(1 << 53) - 1, 1 << 53 - 1, 0, -1, 1,
    ]
    private static let edgeReals: [Double] = [
        -0.0, 0, 1, -1, 0.5, 2, 1e300, -1e300, 1e-300, 0x1p53, 0x1p53 + 2, 0x1p63, -0x1p63, 1.0 / 3,
    ]
    private static let words = [
        "Study", "Kitchen", "", "äther", "a\u{308}ther", "Straße 7", "😀 two words", "study", "x\0",
    ]

    func value(_ random: inout TestGenerator, depth: Int = 0) -> PropertyListValue {
        switch self {
        case .smallIntegers: .integer(Int64(random.number(12)) - 4)
        case .largeIntegers:
            .integer(
                random.number(2) == 0
                    ? Self.edgeIntegers[random.number(Self.edgeIntegers.count)]
                    : Int64(bitPattern: random.next()) >> Int64(random.number(64)))
        case .reals:
            .real(
                random.number(2) == 0
                    ? Self.edgeReals[random.number(Self.edgeReals.count)] : Double(random.number(4000) - 2000) / 8)
        case .numbers:
            random.number(2) == 0 ? .integer(Int64(random.number(40)) - 20) : .real(Double(random.number(80) - 40) / 4)
        case .booleans: .boolean(random.number(2) == 0)
        case .dates: .date(PropertyListDate(secondsSinceReferenceDate: Double(random.number(200)) * 86_400.5))
        case .repeatedTexts: .string(Self.words[random.number(Self.words.count)])
        case .distinctTexts: .string("\(Self.words[random.number(Self.words.count)]) \(random.next() >> 30)")
        case .longRepeatedTexts: .string("a text that no cell holds itself, number \(random.number(20))")
        case .longDistinctTexts: .string("a text that no cell holds itself \(random.next())")
        case .dictionaries:
            .dictionary([
                "w": Self.allCases[random.number(7)].value(&random), "h": .integer(Int64(random.number(5))),
                "name": .string(Self.words[random.number(Self.words.count)]),
            ])
        case .arrays:
            .array((0..<random.number(4)).map { _ in Self.mixed.value(&random, depth: depth + 1) })
        case .mixed: mixedValue(&random, depth)
        }
    }

    private func mixedValue(_ random: inout TestGenerator, _ depth: Int) -> PropertyListValue {
        switch random.number(16) {
        case 0: .single(Float(random.number(20)) / 4)
        case 1: .wideInteger(Int128(Int64.max) + 1 + Int128(random.number(5)))
        case 2: .data((0..<random.number(20)).map { UInt8($0) })
        default: Self.allCases[random.number(depth > 1 ? 10 : 12)].value(&random, depth: depth + 1)
        }
    }
}
