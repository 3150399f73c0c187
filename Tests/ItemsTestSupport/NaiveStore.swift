import ColumnEngine
package import Items
import PropertyList
package import TestSupport

/// What a store should be: an array of records, and copies of it for all that is taken back.
package struct NaiveStore {
    package var items: [ItemFields] = []
    /// The states that commits ended, oldest first; the last is the present.
    package var past: [[ItemFields]] = [[]]
    package var future: [[ItemFields]] = []

    package init() {}

    package mutating func commit() {
        past.append(items)
        future = []
    }

    package mutating func undo() -> Bool {
        guard past.count > 1 else { return false }
        future.append(past.removeLast())
        items = past[past.count - 1]
        return true
    }

    package mutating func redo() -> Bool {
        guard let next = future.popLast() else { return false }
        past.append(next)
        items = next
        return true
    }
}

/// Does the same random things to a store and to its model.
package struct StoreDriver {
    package struct Failure: Error {}

    package let store: ItemStore
    package var model = NaiveStore()
    package var random: TestGenerator

    package init(_ store: ItemStore, seed: UInt64) {
        self.store = store
        random = TestGenerator(seed: seed)
    }

    /// Goes on with another store that has the same items.
    package init(_ store: ItemStore, model: NaiveStore, random: TestGenerator) {
        self.store = store
        self.model = model
        self.random = random
    }

    /// One change, or none when there is nothing to change.
    package mutating func change() throws {
        let count = model.items.count
        switch random.number(10) {
        case 0, 1, 2:
            let item = try store.createItem(randomFields())
            model.items.append(try item.allFields)
        case 3 where count > 0:
            let position = random.number(count)
            try store.removeItem(item(position))
            model.items.remove(at: position)
        case 4 where count > 0:
            let (from, to) = (random.number(count), random.number(count))
            try store.moveItem(from: from, to: to)
            model.items.insert(model.items.remove(at: from), at: to)
        case 5 where count > 0:
            let position = random.number(count)
            let name = randomText()
            try item(position).setName(name)
            model.items[position].name = name
        case 6 where count > 0:
            let position = random.number(count)
            let serial = random.number(3) == 0 ? nil : randomText()
            try item(position).setSerialNumber(serial)
            model.items[position].serialNumber = serial
        case 7 where count > 0:
            let position = random.number(count)
            let value = Int64(truncatingIfNeeded: random.next()) >> Int64(random.number(64))
            try item(position).setValueInDollars(value)
            model.items[position].valueInDollars = value
        case 8, 9:
            guard count > 0 else { return }
            let position = random.number(count)
            let field = "field\(random.number(6))"
            let value = random.number(4) == 0 ? nil : randomValue()
            try item(position).setValue(value, forField: field)
            model.items[position].custom[field] = value
        default: return
        }
    }

    /// A transaction of a few changes, nested ones among them; some fail.
    package mutating func transaction(depth: Int = 0) throws {
        let before = model.items
        let fails = random.number(3) == 0
        do {
            try store.transaction {
                for _ in 0..<random.number(6) {
                    if depth < 3, random.number(4) == 0 { try transaction(depth: depth + 1) } else { try change() }
                }
                if fails { throw Failure() }
            }
        } catch is Failure {
            model.items = before
        }
    }

    private func item(_ position: Int) throws -> Item {
        guard let item = store[position] else { throw Failure() }
        return item
    }

    private mutating func randomFields() -> ItemFields {
        ItemFields(
            name: randomText(), serialNumber: random.number(2) == 0 ? nil : randomText(),
            valueInDollars: Int64(random.number(1000)),
            dateCreated: PropertyListDate(secondsSinceReferenceDate: Double(random.number(1_000_000)) / 8),
            itemKey: random.number(5) == 0 ? "key \(random.next())" : nil,
            custom: random.number(2) == 0 ? [:] : ["field\(random.number(6))": randomValue()])
    }

    private mutating func randomText() -> String {
        String((0..<random.number(30)).map { _ in Array("abcXYZ äŁ😀\0")[random.number(11)] })
    }

    private mutating func randomValue(depth: Int = 0) -> PropertyListValue {
        switch random.number(depth > 2 ? 8 : 10) {
        case 0: .boolean(random.number(2) == 0)
        case 1: .integer(Int64(bitPattern: random.next()))
        case 2: .real(Double(random.number(1000)) / 7)
        case 3: .single(Float(random.number(1000)) / 7)
        case 4: .date(PropertyListDate(secondsSinceReferenceDate: Double(random.number(1 << 40)) / 4))
        case 5: .data((0..<random.number(40)).map { UInt8($0) })
        case 6: .wideInteger(Int128(Int64.max) + 1 + Int128(random.number(1 << 40)))
        case 7: .string(randomText())
        case 8: .array((0..<random.number(4)).map { _ in randomValue(depth: depth + 1) })
        default:
            .fields(
                PropertyListFields((0..<random.number(4)).map { ("key\($0)", randomValue(depth: depth + 1)) }))
        }
    }
}
