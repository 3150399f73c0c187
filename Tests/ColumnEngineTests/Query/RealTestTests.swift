import PropertyList
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items
@testable import PredicateFormat

@Suite("Comparisons of reals with constants")
struct RealTestTests {
    private static let numbers: [Double] = [
        0, -0.0, 1, -1, 0.5, 1.5, 2, 1e300, -1e300, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
        .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .infinity, -.infinity, .nan, 0x1p53, 0x1p53 - 1,
        1 + 0x1p-52,
    ]
    private static let constants: [PropertyListValue] =
        numbers.map { .real($0) } + [
            .integer(0), .integer(1), .integer(-1), .integer(1 << 53 - 1), .boolean(true), .boolean(false),
            .single(0.1), .wideInteger(3),
        ]

    @Test("agree with the general comparison on every number", arguments: PredicateOperator.allCases)
    func grid(operation: PredicateOperator) throws {
        let constants: [PropertyListValue] =
            switch operation {
            case .between: Self.constants.flatMap { lower in Self.constants.map { .array([lower, $0]) } }
            case .in: Self.constants.indices.map { .array(Array(Self.constants[...$0])) } + [.array([])]
            case .contains, .beginsWith, .endsWith, .like, .matches: [.string("1"), .string("")]
            default: Self.constants
            }
        for constant in constants {
            let test = try #require(RealTest(PredicateConstantTest(operation, [], constant)), "\(constant)")
            for number in Self.numbers {
                let expected = PredicateComparing.holds(.real(number), operation, constant, [])
                #expect(test.holds(number) == expected, "\(number) \(operation) \(constant)")
            }
        }
    }

    @Test("leave constants alone that are not numbers, or that no real holds")
    func refused() {
        let odd: [PropertyListValue] = [
            .integer(1 << 53), .integer(.min), .wideInteger(1 << 100), .string("1"), .null, .array([]),
            .date(PropertyListDate(secondsSinceReferenceDate: 1)),
        ]
        for constant in odd {
            #expect(RealTest(PredicateConstantTest(.equal, [], constant)) == nil, "\(constant)")
            #expect(RealTest(PredicateConstantTest(.between, [], .array([constant, .real(1)]))) == nil, "\(constant)")
        }
        #expect(RealTest(PredicateConstantTest(.in, [], .array([.integer(1 << 53), .real(1)]))) == nil)
        // What is not a number is equal to none.
        #expect(RealTest(PredicateConstantTest(.in, [], .array([.string("1"), .null])))?.holds(1) == false)
    }
}
