import PredicateFormat
import PropertyList

/// A comparison of a real with a constant on its right, reduced to a range, its complement, or a list.
enum RealTest {
    case inside(ClosedRange<Double>)
    case outside(ClosedRange<Double>)
    case always(Bool)
    /// One of many, ascending.
    case among([Double])

    /// The test for a constant; nil if it is not a number, or a real can't represent it exactly.
    init?(_ test: PredicateConstantTest) {
        func number(_ value: PropertyListValue) -> Double? {
            switch PredicateNumber(value) {
            case .integer(let integer)?: integer.magnitude < 1 << 53 ? Double(Int64(integer)) : nil
            case .real(let real)?: real
            case nil: nil
            }
        }
        switch test.operation {
        case .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
            guard let bound = number(test.constant) else { return nil }
            if bound.isNaN {
                self = .always(test.operation == .notEqual)
                return
            }
            let infinity = Double.infinity
            switch test.operation {
            case .equal: self = .inside(bound...bound)
            case .notEqual: self = .outside(bound...bound)
            case .lessThan: self = bound == -infinity ? .always(false) : .inside(-infinity...bound.nextDown)
            case .lessThanOrEqual: self = .inside(-infinity...bound)
            case .greaterThan: self = bound == infinity ? .always(false) : .inside(bound.nextUp...infinity)
            default: self = .inside(bound...infinity)
            }
        case .between:
            guard case .array(let bounds) = test.constant, bounds.count == 2, let lower = number(bounds[0]),
                let upper = number(bounds[1])
            else { return nil }
            self = lower <= upper ? .inside(lower...upper) : .always(false)
        case .in:
            guard let elements = test.constant.predicateElements else { return nil }
            var numbers: [Double] = []
            for element in elements where PredicateNumber(element) != nil {
                guard let number = number(element) else { return nil }
                numbers.append(number)
            }
            self = .among(numbers.filter { !$0.isNaN }.sorted())
        case .contains, .beginsWith, .endsWith, .like, .matches: self = .always(false)
        }
    }

    @inline(__always)
    func holds(_ number: Double) -> Bool {
        switch self {
        case .inside(let range): range.lowerBound <= number && number <= range.upperBound
        case .outside(let range): !(range.lowerBound <= number && number <= range.upperBound)
        case .always(let verdict): verdict
        case .among(let numbers): numbers.contains(number)
        }
    }
}
