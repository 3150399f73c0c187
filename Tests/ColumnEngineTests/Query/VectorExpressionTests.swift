import PropertyList
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items
@testable import PredicateFormat

@Suite("Expressions over columns")
struct VectorExpressionTests {
    private static let integers: [Int64] = [
        0, 1, -1, 3, 7, -7, 94_906_267, 1 << 53 - 1, -(1 << 53) + 1, 1 << 53, 1 << 53 + 1, .max, .min,
    ]
    /// What a column of reals holds: integers, too.
    private static let reals: [PropertyListValue] = [
        .real(0.5), .real(-0.0), .real(3), .real(1e300), .real(-1e300), .real(1e-300), .real(.infinity), .integer(0),
        .integer(-7), .integer(3), .integer(1 << 53 - 1), .integer(94_906_267),
    ]

    private let store = ItemStore()
    private let records: [PropertyListFields]

    init() throws {
        let left = Self.integers.flatMap { left in Self.integers.map { (PropertyListValue.integer(left), $0) } }
        let right = Self.reals.flatMap { left in Self.reals.map { (left, $0) } }
        records = left.indices.map { place in
            var record: PropertyListFields = ["i": left[place].0, "j": .integer(left[place].1)]
            if place < right.count { (record["r"], record["s"]) = right[place] }
            return record
        }
        for record in records { try store.createItem(ItemFields(custom: record)) }
        #expect(try store.columns.table.column(store.field(named: "i"))?.encoding == .integers)
        #expect(try store.columns.table.column(store.field(named: "r"))?.encoding == .reals)
    }

    @Test(
        "agree with exact arithmetic, or leave a row to it",
        arguments: ["i", "r"].flatMap { left in ["j", "s", "3", "0", "0.5"].map { (left, $0) } })
    func arithmetic(left: String, right: String) throws {
        for operation in ["+", "-", "*", "/"] {
            try check("\(left) \(operation) \(right)")
            try check("\(right) \(operation) \(left)")
            try check("(\(left) \(operation) \(right)) / \(left)")
            try check("-\(left) \(operation) \(right)")
        }
    }

    private func check(_ format: String) throws {
        let expression = try FormatExpression(format: format)
        let vector = try #require(VectorExpression(expression, store.columns), "\(format)")
        var rows = records.indices.map { UInt32($0) }
        rows.withUnsafeMutableBufferPointer { rows in
            vector.withNumbers(rows) { numbers, states in
                for place in rows.indices {
                    let record = records[place]
                    let expected = PredicateEvaluator(lookup: { record[$0] }).value(expression)
                    let found: PropertyListValue?
                    switch states[place] {
                    case VectorExpression.State.absent: found = nil
                    case VectorExpression.State.integer: found = .integer(Int64(numbers[place]))
                    case VectorExpression.State.real: found = .real(numbers[place])
                    default:
                        #expect(Self.needsExactness(record, expected), "\(format) of \(record)")
                        continue
                    }
                    #expect(found == expected, "\(format) of \(record)")
                }
            }
        }
    }

    /// Whether a number of some record, or a result on the way to it, is an integer that a real may not hold.
    private static func needsExactness(_ record: PropertyListFields, _ result: PropertyListValue?) -> Bool {
        let large = Double(94_906_267)
        return ([result] + record.values.map(Optional.some)).contains { value in
            switch value {
            case .integer(let number)?: Double(number.magnitude) >= large
            case .wideInteger?: true
            default: false
            }
        }
    }

    @Test("is none of what is not a number")
    func refused() throws {
        for format in ["i ** 2", "name", "i + name", "length(name)", "i.w", "i + 9007199254740993", "SELF"] {
            #expect(VectorExpression(try FormatExpression(format: format), store.columns) == nil, "\(format)")
        }
    }
}
