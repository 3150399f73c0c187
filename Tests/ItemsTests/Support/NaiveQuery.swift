import PropertyList

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items
@testable import PredicateFormat

/// Answers questions about an array of records, one record after the other.
struct NaiveQuery {
    let records: [PropertyListFields]

    init(_ items: [ItemFields]) {
        records = items.map { item in
            var record = item.custom
            record["name"] = .string(item.name)
            record["serialNumber"] = item.serialNumber.map { .string($0) }
            record["valueInDollars"] = .integer(item.valueInDollars)
            record["dateCreated"] = item.dateCreated.map { .date($0) }
            record["itemKey"] = item.itemKey.map { .string($0) }
            return record
        }
    }

    private init(records: [PropertyListFields]) { self.records = records }

    /// The names of the records, by which answers are compared.
    var keys: [PropertyListValue?] { records.map { $0["itemKey"] } }

    func filter(_ predicate: FormatPredicate) -> NaiveQuery {
        NaiveQuery(records: records.filter { record in predicate.evaluate { record[$0] } })
    }

    /// The value of a key, which is a field or an expression, in each record.
    func values(_ key: String) throws -> [PropertyListValue?] {
        let expression = try FormatExpression(format: key)
        return records.map { record in PredicateEvaluator(lookup: { record[$0] }).value(expression) }
    }

    func sorted(_ keys: [(key: String, isDescending: Bool)]) throws -> NaiveQuery {
        let values = try keys.map { try self.values($0.key).map(Self.sortable) }
        let places = records.indices.sorted { first, second in
            for (values, key) in zip(values, keys) {
                let order = Self.compare(values[first], values[second])
                if order != 0 { return (order < 0) != key.isDescending }
            }
            return first < second
        }
        return NaiveQuery(records: places.map { records[$0] })
    }

    /// An integer beyond 64 bits is sorted by its nearest real.
    private static func sortable(_ value: PropertyListValue?) -> PropertyListValue? {
        if case .wideInteger(let number)? = value { .real(Double(number)) } else { value }
    }

    // MARK: Groups

    struct Group {
        let key: PropertyListValue?
        var members: NaiveQuery
    }

    func groups(_ key: String) throws -> [Group] {
        var places: [GroupKey: Int] = [:]
        var groups: [(key: PropertyListValue?, records: [PropertyListFields])] = []
        for (value, record) in zip(try values(key), records) {
            let place = places[GroupKey(value)] ?? groups.count
            if place == groups.count {
                places[GroupKey(value)] = place
                groups.append((value, []))
            }
            groups[place].records.append(record)
        }
        return groups.map { Group(key: $0.key, members: NaiveQuery(records: $0.records)) }
    }

    /// Numbers are equal by value, texts by their bytes, all others as property-list values.
    private enum GroupKey: Hashable {
        case absent, text([UInt8]), other(PropertyListValue)

        init(_ value: PropertyListValue?) {
            switch value {
            case nil: self = .absent
            case .string(let text)?: self = .text(Array(text.utf8))
            case .real(let number)?: self = Self(number)
            case .single(let number)?: self = Self(Double(number))
            case let value?: self = .other(value)
            }
        }

        private init(_ number: Double) {
            self = .other(Int64(exactly: number).map { .integer($0) } ?? .real(number))
        }
    }

    // MARK: Aggregates

    /// The sum of the numbers, and their count; other values are left out.
    func sum(_ key: String) throws -> (sum: PropertyListValue, count: Int) {
        var (integers, reals, hasReals, count) = (Int128(0), 0.0, false, 0)
        for case let value? in try values(key) {
            switch value {
            case .integer(let number): integers += Int128(number)
            case .wideInteger(let number): integers += number
            case .real(let number): (reals, hasReals) = (reals + number, true)
            case .single(let number): (reals, hasReals) = (reals + Double(number), true)
            default: continue
            }
            count += 1
        }
        if !hasReals, let sum = Int64(exactly: integers) { return (.integer(sum), count) }
        return (.real(reals + Double(integers)), count)
    }

    /// The extreme of the most frequent kind of values.
    func extreme(_ key: String, _ wanted: Int) throws -> PropertyListValue? {
        let values = try values(key).compactMap { $0 }
        // Truth values are a kind of their own, the last of equally frequent ones.
        let kinds = Dictionary(grouping: values) { Self.rank($0) == 1 ? 100 : Self.rank($0) }
        guard let kind = kinds.max(by: { ($0.value.count, -$0.key) < ($1.value.count, -$1.key) }) else { return nil }
        var best = kind.value[0]
        for value in kind.value where Self.compare(value, best).signum() == wanted { best = value }
        return best
    }

    // MARK: Order

    /// Absent, truth values, numbers, dates, texts by their bytes, and the rest, which are equal.
    static func compare(_ first: PropertyListValue?, _ second: PropertyListValue?) -> Int {
        let (left, right) = (rank(first), rank(second))
        if left != right { return left - right }
        switch (first, second) {
        case (.boolean(let first)?, .boolean(let second)?): return (first ? 1 : 0) - (second ? 1 : 0)
        case (.date(let first)?, .date(let second)?): return first < second ? -1 : second < first ? 1 : 0
        case (.string(let first)?, .string(let second)?):
            if first.utf8.elementsEqual(second.utf8) { return 0 }
            return first.utf8.lexicographicallyPrecedes(second.utf8) ? -1 : 1
        case let (first?, second?) where left == 2:
            guard let first = PredicateNumber(first), let second = PredicateNumber(second) else { return 0 }
            return PredicateNumber.order(first, second) ?? 0
        default: return 0
        }
    }

    private static func rank(_ value: PropertyListValue?) -> Int {
        switch value {
        case nil: 0
        case .boolean: 1
        case .integer, .real, .single, .wideInteger: 2
        case .date: 3
        case .string: 4
        default: 5
        }
    }
}
