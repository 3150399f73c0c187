import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items

@Suite("Declared fields")
struct DeclaredFieldsTests {
    let store = ItemStore()

    private func declare(
        _ name: String, _ kind: FieldDeclaration.Kind, _ more: (inout FieldDeclaration) -> Void = { _ in }
    ) throws {
        var declaration = FieldDeclaration(name, kind)
        more(&declaration)
        try store.declare([declaration])
    }

    private func message(_ body: () throws -> Void) -> String {
        do { try body() } catch { return "\(error)" }
        return "nothing thrown"
    }

    @Test("what converts without loss is taken, the rest is an error with field, value and kind")
    func kinds() throws {
        try declare("price", .real)
        try declare("sku", .string)
        try declare("pieces", .integer)
        let item = try store.createItem(
            ItemFields(name: "Lamp", custom: ["price": .integer(12), "sku": .integer(7), "pieces": .real(3)]))
        #expect(try item.value(forField: "price") == .real(12))
        #expect(try item.value(forField: "sku") == .string("7"))
        #expect(try item.value(forField: "pieces") == .integer(3))
        let text = message { try item.setValue(.string("cheap"), forField: "price") }
        #expect(
            text == "price is declared as a real: \"cheap\" is not one; give it another value, or declare it anew")
        #expect(message { try item.setValue(.real(2.5), forField: "pieces") }.contains("an integer: 2.5"))
        // 2^53 + 1 is no real.
        #expect(message { try item.setValue(.integer(9_007_199_254_740_993), forField: "price") }.contains("a real"))
        #expect(message { try store.query().update(["sku": .boolean(true)]) }.contains("sku is declared as a string"))
        #expect(
            message { try store.createItem(ItemFields(custom: ["price": .date(.init(secondsSinceReferenceDate: 0))])) }
                .contains("price is declared"))
        #expect(store.count == 1)
        try item.setValue(nil, forField: "price")
        #expect(try item.value(forField: "price") == nil)
        // Other fields are as free as before.
        try item.setValue(.boolean(true), forField: "lit")
    }

    @Test("required, oneOf, least, most and default hold")
    func constraints() throws {
        try declare("sku", .string) { $0.isRequired = true }
        try declare("room", .string) { $0.values = [.string("Attic"), .string("Study")] }
        try declare("price", .real) { ($0.least, $0.most) = (.integer(0), .real(99.5)) }
        try declare("state", .string) { $0.initial = .string("new") }
        #expect(message { try store.createItem() } == "sku is required: give the item a value of it, a string")
        #expect(message { try store.createItem(ItemFields(custom: ["sku": .string("")])) }.contains("sku is required"))
        let item = try store.createItem(ItemFields(custom: ["sku": .string("A"), "price": .real(99.5)]))
        #expect(try item.value(forField: "state") == .string("new"))
        #expect(message { try item.setValue(nil, forField: "sku") }.contains("sku is required"))
        #expect(
            message { try item.setValue(.string("Cellar"), forField: "room") }
                == "room is declared as one of \"Attic\", \"Study\": \"Cellar\" is none of them; "
                + "give it another value, or declare it anew")
        #expect(message { try item.setValue(.integer(-1), forField: "price") }.contains("at least 0.0: -1.0 is less"))
        #expect(message { try item.setValue(.integer(100), forField: "price") }.contains("at most 99.5: 100.0 is more"))
        try item.setValue(.string("Study"), forField: "room")
        #expect(store.count == 1)
    }

    @Test("a declaration that contradicts itself, or a field of every item, is an error")
    func contradictions() throws {
        #expect(message { try declare("itemKey", .string) }.contains("itemKey cannot be declared so"))
        #expect(message { try declare("valueInDollars", .real) }.contains("its kind cannot be real"))
        #expect(message { try declare("day", .string) { $0.format = .day } }.contains("is for dates"))
        #expect(message { try declare("tags", .array) { $0.isUnique = true } }.contains("a unique field is of"))
        #expect(
            message { try declare("n", .integer) { $0.least = .string("x") } }.contains("n is declared as an integer"))
        #expect(
            message { try declare("n", .integer) { ($0.least, $0.most) = (.integer(2), .integer(1)) } }
                .contains("least is more than most"))
        #expect(message { try store.declare([], freeing: ["nothing"]) }.contains("is not declared"))
        #expect(store.declarations.isEmpty && !store.hasChanges)
        try declare("serialNumber", .any) { $0.isUnique = true }
        #expect(store.declarations["serialNumber"]?.kind == .string)
    }

    @Test("a declared kind is not converted to another one")
    func converted() throws {
        try store.createItem(ItemFields(name: "a", custom: ["price": .real(12)]))
        try declare("price", .real)
        #expect(throws: StoreError.self) { try store.convert("price", to: .integer) }
        #expect(try store.convert("price", to: .real) == 0)
    }

    // MARK: Items that are there

    @Test("over items that do not fit nothing is declared, and the error has how many and the first three")
    func misfits() throws {
        for (name, price) in [("a", "n/a"), ("b", "12"), ("c", "x"), ("d", "y"), ("e", "z")] {
            try store.createItem(ItemFields(name: name, custom: ["price": .string(price)]))
        }
        try store.commit()
        let text = message { try declare("price", .real) }
        #expect(
            text == "5 items do not fit price, a real: \"n/a\" in \"a\", \"12\" in \"b\", \"x\" in \"c\", …; "
                + "nothing was declared: change them, or convert what can be (convert = true)")
        #expect(store.declarations.isEmpty && !store.hasUncommittedChanges)
        #expect(
            message { try store.declare([FieldDeclaration("price", .real)], converting: true) }
                .hasPrefix(
                    "4 items do not fit price, a real: \"n/a\" in \"a\", \"x\" in \"c\", \"y\" in \"d\", …; nothing"))
        #expect(try store[1]?.value(forField: "price") == .string("12"))
        for item in store.allItems where try item.name != "b" { try item.setValue(.string(""), forField: "price") }
        try store.declare([FieldDeclaration("price", .real)], converting: true)
        #expect(try store[1]?.value(forField: "price") == .real(12))
        #expect(try store[0]?.value(forField: "price") == nil)
    }

    @Test("a declaration is a step: undone, redone, rolled back, and forgotten by a dry run")
    func steps() throws {
        let item = try store.createItem(ItemFields(name: "a", custom: ["price": .integer(12)]))
        try store.commit()
        try declare("price", .real)
        try store.commit()
        #expect(try item.value(forField: "price") == .real(12))
        #expect(try store.undo())
        #expect(store.declarations.isEmpty)
        #expect(try item.value(forField: "price") == .integer(12))
        try item.setValue(.string("free"), forField: "price")
        try store.commit()
        #expect(try store.undo())
        #expect(try !store.redo() || store.declarations.isEmpty)
        #expect(try store.undo() || true)
        try declare("price", .real)
        try store.commit()
        #expect(try store.undo() && store.redo())
        #expect(store.declarations["price"]?.kind == .real)
        _ = try store.dryRun { try declare("room", .string) }
        #expect(store.declarations["room"] == nil)
        _ = try? store.transaction {
            try declare("room", .string)
            throw StoreError(.full, "enough")
        }
        #expect(store.declarations.all.map(\.name) == ["price"])
        try store.declare([], freeing: ["price"])
        #expect(store.declarations.isEmpty)
    }

    @Test("commits have it, and another store follows")
    func commits() throws {
        let persistence = MemoryPersistence(keepsCommits: true)
        let store = try ItemStore.open(persistence)
        try store.createItem(ItemFields(name: "a", custom: ["price": .integer(12)]))
        try store.commit()
        var declaration = FieldDeclaration("price", .real)
        declaration.format = .money
        declaration.summary = "what it was"
        try store.declare([declaration])
        try store.commit()
        let change = try #require(persistence.commits.last?.first)
        #expect(change.kind == .declare && change.itemKey.isEmpty)
        let again = try ItemStore.open(MemoryPersistence(commits: persistence.commits))
        #expect(again.declarations.all == [declaration])
        #expect(try again[0]?.value(forField: "price") == .real(12))
        let third = ItemStore()
        for changes in persistence.commits { try third.apply(changes) }
        #expect(third.declarations == store.declarations)
        #expect(throws: StoreError.self) { try third.createItem(ItemFields(custom: ["price": .string("x")])) }
    }

    @Test("values of another kind from elsewhere are carried, counted, and replaced only by what fits")
    func carried() throws {
        try declare("price", .real)
        try store.commit()
        try store.apply([.insert(["itemKey": .string("k"), "name": .string("Lamp"), "price": .string("n/a")])])
        let item = try #require(store.item(forKey: "k"))
        #expect(try item.value(forField: "price") == .string("n/a"))
        #expect(try store.fieldSummaries().first { $0.name == "price" }?.misfits == 1)
        #expect(
            store.declarationNotices == ["price does not fit what is declared, a real, in 1 item: \"n/a\" in \"Lamp\""])
        #expect(throws: StoreError.self) { try item.setValue(.string("none"), forField: "price") }
        try item.setName("Lamps")
        try item.setValue(.integer(3), forField: "price")
        try store.createItem(ItemFields(name: "without a price"))
        #expect(store.declarationNotices.isEmpty)
        #expect(try store.fieldSummaries().allSatisfy { $0.misfits == 0 })
    }

    @Test("summaries are of the fields of every item, the declared ones in order, then the others")
    func summaries() throws {
        try store.createItem(ItemFields(name: "a", custom: ["zoo": .integer(1), "b": .string("x")]))
        try declare("sku", .string) { $0.isUnique = true }
        try declare("b", .string)
        let summaries = try store.fieldSummaries()
        #expect(summaries.map(\.name).suffix(3) == ["sku", "b", "zoo"])
        #expect(summaries.map(\.count).suffix(3) == [0, 1, 1])
        #expect(summaries.last?.declaration == nil && summaries.last?.kind == "integer")
    }
}

@Suite("Unique fields")
struct UniqueFieldTests {
    let store = ItemStore()

    init() throws {
        var sku = FieldDeclaration("sku", .string)
        sku.isUnique = true
        try store.declare([sku])
        for number in 1...3 { try create("\(number)") }
        try store.commit()
    }

    @discardableResult
    private func create(_ sku: String?) throws -> Item {
        try store.createItem(ItemFields(name: "item \(sku ?? "")", custom: sku.map { ["sku": .string($0)] } ?? [:]))
    }

    private var skus: [String?] {
        get throws { try store.allItems.map { try $0.value(forField: "sku")?.text } }
    }

    @Test("a value that another item has is an error that names both, for every way in")
    func duplicates() throws {
        let error = try #require(throws: StoreError.self) { try create("2") }
        #expect(error.message == "sku is unique, and \"2\" is that of \"item 2\" already: give it another value")
        let first = try #require(store[0])
        #expect(throws: StoreError.self) { try first.setValue(.string("3"), forField: "sku") }
        #expect(throws: StoreError.self) { try first.setValue(.integer(3), forField: "sku") }
        #expect(throws: StoreError.self) { try store.query().update(["sku": .string("9")]) }
        #expect(throws: StoreError.self) { try first.copy() }
        #expect(try skus == ["1", "2", "3"])
        try first.setValue(.string("1"), forField: "sku")
        try create(nil)
        try create(nil)
        try create("")
        try create("")
    }

    @Test("an import rejects such a row, and one of the file's own")
    func imports() throws {
        var options = ItemFileOptions(format: .csv)
        var messages: [String] = []
        options.skipsRow = { row, _, _ in
            messages.append(row["name"]?.text ?? "")
            return true
        }
        let report = try store.importReport(Array("name,sku\na,2\nb,0042\nc,0042\nd,\n".utf8), path: "f", options)
        #expect(report.created == 2 && report.rejected == 2)
        #expect(messages == ["a", "c"])
        #expect(try skus == ["1", "2", "3", "0042", nil])
        options.key = ["name"]
        options.updates = true
        let again = try store.importReport(Array("name,sku\nb,1\nd,7\n".utf8), path: "f", options)
        #expect(again.rejected == 1 && again.updated == 1)
    }

    @Test("removing, undoing, rolling back and redoing free and take values")
    func history() throws {
        try #require(store[1]).remove()
        try store.commit()
        try create("2")
        try store.commit()
        #expect(try store.undo() && store.undo())
        #expect(throws: StoreError.self) { try create("2") }
        #expect(try store.redo())
        try #require(store[0]).setValue(.string("2"), forField: "sku")
        try store.commit()
        try create("1")
        #expect(try store.undo() && store.undo())
        #expect(throws: StoreError.self) { try create("1") }
        _ = try? store.transaction {
            try store.query().remove()
            try create("1")
            throw StoreError(.full, "enough")
        }
        #expect(try skus == ["1", "3"])
        #expect(throws: StoreError.self) { try create("3") }
    }

    @Test("equal numbers are one value, whatever their type")
    func numbers() throws {
        var number = FieldDeclaration("n", .number)
        number.isUnique = true
        try store.declare([number])
        let item = try #require(store[0])
        try item.setValue(.integer(1), forField: "n")
        let other = try #require(store[1])
        #expect(throws: StoreError.self) { try other.setValue(.real(1), forField: "n") }
        #expect(throws: StoreError.self) { try other.setValue(.single(1), forField: "n") }
        let wide = Int128(Int64.max) + 1
        try item.setValue(.wideInteger(wide), forField: "n")
        #expect(throws: StoreError.self) { try other.setValue(.wideInteger(wide), forField: "n") }
        try other.setValue(.real(1), forField: "n")
    }

    @Test(
        "equal numbers of different kinds are one value, whether they were there or come",
        arguments: [
            (PropertyListValue.integer(1), PropertyListValue.real(1)), (.real(-0.0), .integer(0)),
            (.single(0.5), .real(0.5)), (.wideInteger(1 << 64), .real(0x1p64)),
            (.real(-0x1p70), .wideInteger(-1 << 70)),
        ])
    func equalNumbers(first: PropertyListValue, second: PropertyListValue) throws {
        var n = FieldDeclaration("n", .number)
        n.isUnique = true
        let store = ItemStore()
        for value in [first, second] { try store.createItem(ItemFields(custom: ["n": value])) }
        #expect(throws: StoreError.self) { try store.declare([n]) }
        try #require(store[1]).setValue(.integer(7), forField: "n")
        try store.declare([n])
        #expect(throws: StoreError.self) { try store[1]?.setValue(second, forField: "n") }
        try store[0]?.setValue(second, forField: "n")
        #expect(throws: StoreError.self) { try store[1]?.setValue(first, forField: "n") }
        #expect(store.count == 2)
    }

    @Test("over items with equal values it is not declared")
    func existing() throws {
        let store = ItemStore()
        for _ in 0..<2 { try store.createItem(ItemFields(name: "x", serialNumber: "A")) }
        var serial = FieldDeclaration("serialNumber", .string)
        serial.isUnique = true
        let error = try #require(throws: StoreError.self) { try store.declare([serial]) }
        #expect(error.code == .unfittingItems(field: "serialNumber"))
        #expect(error.message.hasPrefix("1 item does not fit serialNumber, a string, unique: \"A\" in \"x\""))
        try #require(store[1]).setSerialNumber("B")
        try store.declare([serial])
        #expect(throws: StoreError.self) { try store[0]?.setSerialNumber("B") }
    }

    /// Against a naive model: no change that the model allows is an error, and none that it forbids is made.
    @Test(arguments: 1...8)
    func model(seed: UInt64) throws {
        var random = TestGenerator(seed: seed)
        for step in 0..<300 {
            let sku = random.number(6) == 0 ? nil : "\(random.number(24))"
            let taken = try Set(store.allItems.compactMap { try $0.value(forField: "sku")?.text })
            switch random.number(8) {
            case 0 where store.count > 0: try #require(store[random.number(store.count)]).remove()
            case 1: try store.commit()
            // The first step is the declaration.
            case 2 where store.changeHistory.undoCount > 1 || store.hasUncommittedChanges: _ = try store.undo()
            case 3: _ = try store.redo()
            case 4 where store.count > 0:
                let item = try #require(store[random.number(store.count)])
                let own = try item.value(forField: "sku")?.text
                let value = sku.map { PropertyListValue.string($0) }
                if let sku, sku != own, taken.contains(sku) {
                    #expect(throws: StoreError.self, "step \(step)") { try item.setValue(value, forField: "sku") }
                } else {
                    try item.setValue(value, forField: "sku")
                }
            default:
                if let sku, taken.contains(sku) {
                    #expect(throws: StoreError.self, "step \(step)") { try create(sku) }
                } else {
                    try create(sku)
                }
            }
            let values = try skus.compactMap { $0 }
            #expect(Set(values).count == values.count)
        }
    }
}
