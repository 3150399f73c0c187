import ItemsTestSupport
import PredicateFormat
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

/// Random fields, changes and questions, beside a model that answers one record at a time. A failure names its seed.
@Suite("Operators against a naive evaluator")
struct OperatorModelTests {
    @Test("every answer is the naive one, and columns take every encoding on the way")
    func randomSchemas() throws {
        typealias Encoding = FieldColumn.Encoding
        let all: [Encoding] = [.integers, .reals, .dates, .codes, .cells, .sparse]
        var wanted: [(Encoding, Encoding)] = [
            (.integers, .reals), (.integers, .cells), (.reals, .cells), (.dates, .cells), (.codes, .cells),
            (.cells, .codes),
        ]
        for encoding in all.dropLast() { wanted += [(encoding, .sparse), (.sparse, encoding)] }
        let conversions = wanted.map { EncodingLog.Conversion(from: $0, to: $1) }

        var encodings = EncodingLog()
        func missing() -> [EncodingLog.Conversion] { conversions.filter { !encodings.conversions.contains($0) } }
        // More seeds than the least only while a conversion was not met.
        for seed in 1...UInt64(Self.mostSeeds) where seed <= Self.seeds || !missing().isEmpty {
            var run = try OperatorRun(seed: seed, mapped: seed % 2 == 0)
            try run.run(steps: Self.steps)
            encodings.formUnion(run.driver.encodings)
        }
        #expect(encodings.encodings == Set(all))
        #expect(missing().isEmpty, "never met: \(missing())")
    }

    private static let seeds = 6, mostSeeds = 24, steps = 45
}

/// One run of a seed.
struct OperatorRun {
    let seed: UInt64
    let isMapped: Bool
    let folder: StoreFolder
    var driver: FieldDriver
    private var step = 0
    private var save: ItemStoreSave?
    private var snapshot: (ItemSnapshot, [ItemFields])?

    init(seed: UInt64, mapped: Bool) throws {
        (self.seed, isMapped) = (seed, mapped)
        folder = try StoreFolder()
        driver = FieldDriver(try folder.open(mapped: mapped), seed: seed)
    }

    /// Nil for a comparison that no value of a field can satisfy.
    private static func query(_ predicate: FormatPredicate, of store: ItemStore) throws -> ItemQuery? {
        do throws(FormatPredicateError) { return try store.query(predicate) } catch {
            if error.code == .typeMismatch || error.code == .unknownField { return nil }
            throw error
        }
    }

    private var place: Comment { "seed \(seed), step \(step)" }

    mutating func run(steps: Int) throws {
        try driver.create(1200)
        try commit()
        for number in 1...steps {
            step = number
            try act()
            if number % 4 == 0 || number == steps { try check() }
        }
    }

    private mutating func commit() throws {
        if try driver.store.commit() { driver.model.commit() }
    }

    private mutating func act() throws {
        let depth = driver.store.changeHistory.undoCount
        switch driver.random.number(18) {
        case 0: #expect(try driver.store.undo() == driver.model.undo(), place)
        case 1: #expect(try driver.store.redo() == driver.model.redo(), place)
        case 2, 3:
            try driver.transaction()
            if driver.store.changeHistory.undoCount > depth { driver.model.commit() }
        case 4 where snapshot == nil && save == nil && !driver.store.columns.table.hasSnapshot:
            driver.store.compactHeap()
        case 5:
            if let begun = save {
                try driver.store.finish(begun, begun.write())
                save = nil
            } else {
                save = try driver.store.beginSave()
            }
        case 6 where save == nil: try reopen()
        case 9:
            let field = FieldDriver.fields[driver.random.number(FieldDriver.fields.count)]
            if try !driver.store.createIndex(field, lazily: driver.random.number(2) == 0) {
                driver.store.dropIndex(field)
            }
        case 7, 8:
            if let (snapshot, items) = snapshot {
                let found = (0..<snapshot.count).map { snapshot.fields(at: $0) }
                #expect(found == items, place)
                self.snapshot = nil
            } else {
                snapshot = (ItemSnapshot(driver.store.columns), driver.model.items)
            }
        default:
            for _ in 0..<1 + driver.random.number(2) { try driver.change() }
            try commit()
        }
        driver.encodings.note(driver.store)
    }

    private mutating func reopen() throws {
        try commit()
        snapshot = nil
        driver.reopen(try folder.open(mapped: isMapped && driver.random.number(4) > 0))
    }

    // MARK: Questions

    private mutating func check() throws {
        let store = driver.store
        #expect(try store.records == driver.model.items, place)
        let naive = NaiveQuery(driver.model.items)
        let fields = FieldDriver.fields.filter { store.columns.fields.existing($0) != nil }
        guard !fields.isEmpty else { return }
        var questions = RandomQuestions(fields: fields, random: driver.random)
        for _ in 0..<6 {
            guard let predicate = questions.predicate() else { continue }
            // Of fields whose values are all of one kind, not all comparisons are possible.
            guard let query = try OperatorRun.query(predicate, of: store) else { continue }
            let expected = naive.filter(predicate)
            #expect(try Self.keys(query) == expected.keys, "\(place): \(predicate)")
            #expect(try query.count() == expected.records.count, "\(place): \(predicate)")
            try checkSorted(query, expected, &questions)
            try checkAggregates(query, expected, &questions)
        }
        for _ in 0..<3 { try checkGroups(store.query(), naive, &questions) }
        driver.random = questions.random
        driver.encodings.note(store)
    }

    private static func keys(_ query: ItemQuery) throws -> [PropertyListValue?] {
        try query.all().map { .string(try $0.itemKey) }
    }

    private func checkSorted(
        _ query: ItemQuery, _ naive: NaiveQuery, _ questions: inout RandomQuestions
    ) throws {
        let keys = try (0..<2).map { _ in
            (key: try usableKey(&questions), isDescending: questions.random.number(2) == 0)
        }
        var sorted = query
        for key in keys { sorted = try sorted.sorted(key.key, descending: key.isDescending) }
        let expected = try naive.sorted(keys).keys
        #expect(try Self.keys(sorted) == expected, "\(place): sorted by \(keys)")
        let (offset, limit) = (questions.random.number(20), questions.random.number(200))
        let part = try Self.keys(sorted.offset(offset).limit(limit))
        let isPart = part == Array(expected.dropFirst(offset).prefix(limit))
        #expect(isPart, "\(place): \(limit) behind \(offset) of those sorted by \(keys)")
    }

    private func checkAggregates(
        _ query: ItemQuery, _ naive: NaiveQuery, _ questions: inout RandomQuestions
    ) throws {
        let key = try usableKey(&questions)
        let (sum, count) = try naive.sum(key)
        if count > 0 {
            let found = try query.sum(key)
            if case (.real(let found), .real(let sum)) = (found, sum) {
                #expect(Self.areEqual(found, sum), "\(place): sum of \(key)")
            } else {
                #expect(found == sum, "\(place): sum of \(key)")
            }
            let mean = PredicateNumber(sum).map { $0.real / Double(count) }
            #expect(Self.areEqual(try query.average(key), mean), "\(place): average of \(key)")
        } else if try naive.values(key).contains(where: { $0 != nil }) {
            #expect(throws: StoreError.self, "\(place): sum of \(key)") { try query.sum(key) }
        }
        for (wanted, extreme) in [(-1, query.min), (1, query.max)] as [(Int, (String) throws -> PropertyListValue?)] {
            guard let expected = try naive.extreme(key, wanted) else { continue }
            #expect(try extreme(key) == expected, "\(place): extreme \(wanted) of \(key)")
        }
    }

    /// A key that some item may have a value for.
    private func usableKey(_ questions: inout RandomQuestions) throws -> String {
        let key = questions.key()
        do {
            _ = try driver.store.key(key)
            return key
        } catch {
            guard let cause = error.cause as? FormatPredicateError,
                [.typeMismatch, .unknownField].contains(cause.code)
            else { throw error }
            return "name"
        }
    }

    private func checkGroups(_ query: ItemQuery, _ naive: NaiveQuery, _ questions: inout RandomQuestions) throws {
        let (key, other) = (try usableKey(&questions), try usableKey(&questions))
        let groups = try query.groups(by: driver.store.key(key))
        let expected = try naive.groups(key)
        let areKeys = groups.map(\.key) == expected.map(\.key)
        let areCounts = groups.map(\.count) == expected.map(\.members.records.count)
        #expect(areKeys && areCounts, "\(place): groups by \(key)")
        guard groups.count == expected.count else { return }
        for (group, expected) in zip(groups, expected).prefix(20) {
            let members = try group.items.map { PropertyListValue?.some(.string(try $0.itemKey)) }
            #expect(members == expected.members.keys, "\(place): group \(String(describing: group.key)) of \(key)")
        }
        let wanted = try expected.prefix(10).map { group -> [PropertyListValue?] in
            let present = try group.members.values(other).count { $0 != nil }
            return [
                .integer(Int64(group.members.records.count)), .integer(Int64(present)),
                try group.members.extreme(other, -1), try group.members.extreme(other, 1),
            ]
        }
        let found: [[PropertyListValue?]]
        do {
            let functions = ["count()", "count(\(other))", "min(\(other))", "max(\(other))"]
            found = try groups.limit(10).aggregate(functions)
        } catch {
            // What is refused has a value in no group.
            let isNone = wanted.allSatisfy { $0[1] == .integer(0) }
            #expect(isNone, "\(place): \(other) of groups of \(key): \(error.message)")
            return
        }
        for (row, (wanted, group)) in zip(found, zip(wanted, expected)) {
            #expect(row == wanted, "\(place): \(other) of group \(String(describing: group.key)) of \(key)")
        }
    }

    /// Sums whose terms overflow may not be numbers.
    private static func areEqual(_ first: Double?, _ second: Double?) -> Bool {
        first == second || first?.isNaN == true && second?.isNaN == true
    }
}

extension PredicateNumber {
    fileprivate var real: Double {
        switch self {
        case .integer(let integer): Double(integer)
        case .real(let real): real
        }
    }
}
