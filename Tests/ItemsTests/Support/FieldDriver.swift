import ItemsTestSupport
import PropertyList
import TestSupport

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

/// Changes fields of a store and of its model, so that their kinds change and they become frequent and rare again.
struct FieldDriver {
    struct Failure: Error {}

    static let fields = (0..<5).map { "field\($0)" }
    private static let shares = [0.002, 0.01, 0.05, 0.3, 0.9, 1]

    var store: ItemStore
    var model = NaiveStore()
    var random: TestGenerator
    var encodings = EncodingLog()
    private var created = 0

    init(_ store: ItemStore, seed: UInt64) {
        self.store = store
        random = TestGenerator(seed: seed)
    }

    /// Goes on with another store that has the same items.
    mutating func reopen(_ store: ItemStore) {
        self.store = store
        model.past = [model.items]
        model.future = []
        encodings.forget()
    }

    mutating func change() throws {
        let count = model.items.count
        switch random.number(10) {
        case 0: try create(random.number(count < 1800 ? 200 : 20))
        case 1: try remove(random.number(count > 2000 ? count / 3 : 20))
        case 2 where count > 0:
            let (from, to) = (random.number(count), random.number(count))
            try store.moveItem(from: from, to: to)
            model.items.insert(model.items.remove(at: from), at: to)
        case 3, 4:
            for _ in 0..<20 { try setOne() }
        case 5: try thin(Self.fields[random.number(Self.fields.count)], toNone: false)
        case 6: try renew()
        default: try fill()
        }
        encodings.note(store)
    }

    mutating func create(_ number: Int) throws {
        let kinds = Self.fields.map { _ in FieldKind.allCases[random.number(FieldKind.allCases.count)] }
        for _ in 0..<number {
            created += 1
            var fields = ItemFields(
                name: random.number(2) == 0 ? "Bear \(random.number(9))" : "item number \(created) of them all",
                valueInDollars: Int64(random.number(100)),
                dateCreated: PropertyListDate(secondsSinceReferenceDate: Double(created)), itemKey: "key \(created)")
            for (name, kind) in zip(Self.fields, kinds) where random.number(3) == 0 {
                fields.custom[name] = kind.value(&random)
            }
            try store.createItem(fields)
            model.items.append(fields)
        }
    }

    private mutating func remove(_ number: Int) throws {
        for _ in 0..<min(number, model.items.count) {
            let position = random.number(model.items.count)
            try store.removeItem(item(position))
            model.items.remove(at: position)
        }
    }

    private mutating func setOne() throws {
        guard !model.items.isEmpty else { return }
        let kind = FieldKind.allCases[random.number(FieldKind.allCases.count)]
        let value = random.number(3) == 0 ? nil : kind.value(&random)
        try set(random.number(model.items.count), Self.fields[random.number(Self.fields.count)], value)
        encodings.note(store)
    }

    /// Gives a share of the items a field of one kind, and takes it from the others or leaves them as they are.
    private mutating func fill() throws {
        let field = Self.fields[random.number(Self.fields.count)]
        let kind = FieldKind.allCases[random.number(FieldKind.allCases.count)]
        let share = Self.shares[random.number(Self.shares.count)]
        let clears = random.number(2) == 0
        for position in model.items.indices {
            if Double(random.number(1000)) < share * 1000 {
                try set(position, field, kind.value(&random))
                encodings.note(store, field)
            } else if clears {
                try set(position, field, nil)
            }
        }
    }

    /// Takes a field from nearly all items, or from all.
    private mutating func thin(_ field: String, toNone: Bool) throws {
        for position in model.items.indices where toNone || random.number(100) != 0 { try set(position, field, nil) }
        encodings.note(store, field)
    }

    /// Takes a field from all items, gives it to them with values of one kind, and may take it from them again.
    private mutating func renew() throws {
        let field = Self.fields[random.number(Self.fields.count)]
        let sole: [FieldKind] = [.smallIntegers, .largeIntegers, .reals, .dates]
        let kinds = random.number(3) > 0 ? sole : FieldKind.allCases
        let kind = kinds[random.number(kinds.count)]
        try thin(field, toNone: true)
        for position in model.items.indices {
            try set(position, field, kind.value(&random))
            encodings.note(store, field)
        }
        if random.number(2) == 0 { try thin(field, toNone: false) }
    }

    private mutating func set(_ position: Int, _ field: String, _ value: PropertyListValue?) throws {
        try item(position).setValue(value, forField: field)
        model.items[position].custom[field] = value
    }

    /// A transaction of a few changes, nested ones among them; some fail.
    mutating func transaction(depth: Int = 0) throws {
        let before = model.items
        let fails = random.number(2) == 0
        do {
            try store.transaction {
                for _ in 0..<1 + random.number(3) {
                    if depth < 2, random.number(4) == 0 { try transaction(depth: depth + 1) } else { try change() }
                }
                if fails { throw Failure() }
            }
        } catch is Failure {
            model.items = before
        }
        encodings.note(store)
    }

    private func item(_ position: Int) throws -> Item {
        guard let item = store[position] else { throw Failure() }
        return item
    }
}

/// Which encodings the columns of a store had, and from which to which they changed.
struct EncodingLog {
    struct Conversion: Hashable, CustomStringConvertible {
        let from: FieldColumn.Encoding, to: FieldColumn.Encoding
        var description: String { "\(from) to \(to)" }
    }

    private(set) var encodings: Set<FieldColumn.Encoding> = []
    private(set) var conversions: Set<Conversion> = []
    private var latest: [String: FieldColumn.Encoding] = [:]

    mutating func note(_ store: ItemStore) { for field in FieldDriver.fields { note(store, field) } }

    mutating func note(_ store: ItemStore, _ field: String) {
        guard let number = store.columns.fields.existing(field)?.rawValue,
            let column = store.columns.table.column(ItemField(rawValue: number))
        else {
            return
        }
        let encoding = column.encoding
        let old = latest.updateValue(encoding, forKey: field)
        if old == encoding { return }
        encodings.insert(encoding)
        if let old { conversions.insert(Conversion(from: old, to: encoding)) }
    }

    mutating func forget() { latest = [:] }

    mutating func formUnion(_ other: EncodingLog) {
        encodings.formUnion(other.encodings)
        conversions.formUnion(other.conversions)
    }
}
