import Foundation
import Items
import ItemsTestSupport
import PredicateFormat
import PropertyList
import Testing

/// Relations, their rules on removal, and how queries follow them.
@Suite("Relations of models")
struct ItemRelationTests {
    struct Owner: ItemModel, Equatable {
        var id: Int
        var name = ""
        static let name: ItemAttribute<Owner, String> = .init(\.name)
        static let pets = hasMany(Pet.owner)
        static let cages = hasMany(Cage.keepers)
    }

    struct Cage: ItemModel, Equatable {
        var id: String
        var keepers: [Owner.ID] = []
        static let keepers = manyToMany(Owner.self, \.keepers)
        static let declarations = [keepers.declared()]
    }

    struct Pet: ItemModel, Equatable {
        var id = UUID()
        var name: String
        var owner: Owner.ID?
        var cage: Cage.ID?
        var mother: UUID?
        static let name: ItemAttribute<Pet, String> = .init(\.name)
        static let owner = belongsTo(Owner.self, \.owner, onDelete: .nullify)
        static let cage = belongsTo(Cage.self, \.cage, onDelete: .deny)
        static let mother = belongsTo(Pet.self, \.mother, onDelete: .cascade)
        static let children = hasMany(Pet.mother)
        static let declarations = [owner.declared(), cage.declared(), mother.declared()]
    }

    private let database: ItemDatabase
    private let owners: ItemCollection<Owner>
    private let pets: ItemCollection<Pet>
    private let cages: ItemCollection<Cage>

    init() async throws {
        database = try ItemDatabase()
        (owners, pets) = (database.collection(of: Owner.self), database.collection(of: Pet.self))
        cages = database.collection(of: Cage.self)
        try await owners.insert(contentsOf: [
            Owner(id: 1, name: "Ann"), Owner(id: 2, name: "Bob"), Owner(id: 3, name: "Cy"),
        ])
        try await cages.insert(contentsOf: [Cage(id: "A", keepers: [1, 2]), Cage(id: "B", keepers: [2])])
        try await pets.insert(contentsOf: [
            Pet(name: "Rex", owner: 1, cage: "A"), Pet(name: "Tom", owner: 1), Pet(name: "Kit", owner: 2, cage: "B"),
            Pet(name: "Stray"),
        ])
    }

    @Test("both sides are fetched with their models in one call, in the order asked for")
    func including() async throws {
        let found = try await pets.fetch(including: Pet.owner, Pet.cage, sortedBy: [.descending(Pet.name)])
        #expect(
            found.map { "\($0.name) \($1?.name ?? "-") \($2?.id ?? "-")" } == [
                "Tom Ann -", "Stray - -", "Rex Ann A", "Kit Bob B",
            ])
        let kept = try await owners.fetch(including: Owner.pets, Owner.cages)
        #expect(kept.map { $0.1.map(\.name) } == [["Rex", "Tom"], ["Kit"], []])
        #expect(kept.map { $0.2.map(\.id) } == [["A"], ["A", "B"], []])
        #expect(try await cages.fetch(including: Cage.keepers).map { $1.map(\.name) } == [["Ann", "Bob"], ["Bob"]])
        let ann = try #require(try await owners.model(forKey: 1))
        #expect(try await pets.fetch(where: Pet.owner == ann && Pet.name != "Rex").map(\.name) == ["Tom"])
        #expect(try await cages.fetch(where: Cage.keepers == ann).map(\.id) == ["A"])
        let rex = try #require(try await pets.first(where: Pet.name == "Rex"))
        #expect(try await owners.fetch(where: Owner.pets == rex) == [ann])
        let many = (10..<200).map { Owner(id: $0) }
        try await owners.insert(contentsOf: many)
        #expect(try await owners.fetch(including: Owner.pets).map { $1.count }.prefix(4) == [2, 1, 0, 0])
    }

    @Test("a removal takes the reference away, is refused, or removes as well; and is undone as one step")
    func rules() async throws {
        let before = try await pets.fetch()
        #expect(try await owners.delete(key: 1))
        #expect(try await pets.fetch().map(\.owner) == [nil, nil, 2, nil])
        #expect(try await cages.fetch().map(\.keepers) == [[2], [2]])
        try await database.undo()
        #expect(try await pets.fetch() == before)
        #expect(try await cages.fetch().map(\.keepers) == [[1, 2], [2]])
        do {
            _ = try await cages.delete(key: "A")
            Issue.record("a cage with a pet was removed")
        } catch {
            #expect(error.code == .referenced(field: "cage"))
            #expect(error.message.hasPrefix("Cage:A is the cage of"))
        }
        #expect(try await cages.count() == 2)
        #expect(try await pets.delete(where: Pet.name == "Rex") == 1)
        #expect(try await cages.delete(key: "A"))
    }

    @Test("a chain of a thousand goes with its first, cycles too, and a refusal on the way leaves all")
    func cascade() async throws {
        var mother = Pet(name: "0")
        var all = [mother]
        for number in 1...1000 {
            mother = Pet(name: "\(number)", mother: mother.id)
            all.append(mother)
        }
        try await pets.insert(contentsOf: all)
        all[0].mother = mother.id
        try await pets.update(all[0])
        #expect(try await pets.delete(all[500]))
        #expect(try await pets.count() == 4)
        #expect(try await database.undo())
        #expect(try await pets.count() == 1005)
        #expect(try await pets.fetch(including: Pet.children, where: Pet.name == "7").first?.1.map(\.name) == ["8"])
    }

    @Test("what goes with an item of a bulk removal is removed once, by objects, by a query and by SQL, in any order")
    func bulk() async throws {
        let grown = Pet(name: "grown")
        let all = [grown, Pet(name: "young", mother: grown.id), Pet(name: "free", owner: 3, cage: "B")]
        try await pets.insert(contentsOf: all)
        let keys = all.map(\.id.uuidString) + ["Cage:B"]
        try await database.withStore { store in
            try store.item(forKey: "Cage:B").map { try $0.setValue(.array([.integer(3)]), forField: "keepers") }
            try store.query(FormatPredicate(format: "name == 'Kit'")).remove()
            for keys in [keys, keys.reversed()] {
                try store.commit()
                let before = store.count
                try store.removeItems(try keys.map { try #require(store.item(forKey: $0)) })
                #expect(store.count == before - 4)
                try store.undo()
                let condition = try FormatPredicate(
                    format: "itemKey IN { \(keys.map { "'\($0)'" }.joined(separator: ", ")) }")
                #expect(try store.query(condition).remove() == 4)
                try store.undo()
                let sql = try SQLFixture(store)
                let listed = keys.map { "'\($0)'" }.joined(separator: ", ")
                #expect(try sql.run("delete from items where itemKey in (\(listed))") == 4)
                try store.undo()
                #expect(store.count == before)
            }
            // One that is kept by an item that is not removed with it keeps all.
            let before = store.count
            let cage = try #require(store.item(forKey: "Cage:B"))
            #expect(throws: StoreError.self) {
                try store.removeItems([try #require(store.item(forKey: grown.id.uuidString)), cage])
            }
            #expect(store.count == before)
        }
    }

    @Test("hasMany has what refers to each, once and in order, for few models and for many", arguments: [10, 200])
    func groups(count: Int) async throws {
        let many = (10..<10 + count).map { Owner(id: $0) }
        try await owners.insert(contentsOf: many)
        let all = (0..<500).map { number in
            // Some ids twice, some none, some of models that are not asked for.
            Cage(id: "c\(number)", keepers: (0..<number % 4).map { 10 + (number * 7 + $0 / 2) % count } + [1])
        }
        try await cages.insert(contentsOf: all)
        let found = try await owners.fetch(including: Owner.cages, where: Owner.name == "")
        #expect(found.map(\.0.id) == many.map(\.id))
        for (owner, cages) in found {
            #expect(cages.map(\.id) == all.filter { $0.keepers.contains(owner.id) }.map(\.id), "\(owner.id)")
        }
    }

    @Test("an array of references loses all removed items at once; only new ids of it are checked")
    func arrays() async throws {
        let many = (10..<600).map { Owner(id: $0) }
        try await owners.insert(contentsOf: many)
        try await cages.insert(contentsOf: (0..<50).map { Cage(id: "c\($0)", keepers: [3] + many.map(\.id)) })
        #expect(try await owners.delete(where: Owner.name == "") == 590)
        #expect(try await cages.fetch().map(\.keepers).dropFirst(2).allSatisfy { $0 == [3] })
        try await database.withStore { store in
            // As another host brings it.
            try store.apply([.update("Cage:A", "keepers", to: .array([.integer(99), .integer(1)]))])
            let cage = try #require(store.item(forKey: "Cage:A"))
            try cage.setValue(.array([.integer(2), .integer(99)]), forField: "keepers")
            do throws(StoreError) {
                try cage.setValue(.array([.integer(99), .integer(98)]), forField: "keepers")
                Issue.record("a reference to nothing was added")
            } catch { #expect(error.message.contains("none with the id 98")) }
        }
    }

    @Test("an id that no item has is refused, in a model and in whatever a script sets; before a declaration, too")
    func dangling() async throws {
        await #expect(throws: StoreError.self) { try await pets.insert(Pet(name: "x", owner: 9)) }
        await #expect(throws: StoreError.self) { try await cages.insert(Cage(id: "C", keepers: [1, 9])) }
        try await database.withStore { store in
            let rex = try #require(try store.query(FormatPredicate(format: "name == 'Rex'")).first())
            #expect(throws: StoreError.self) { try rex.setValue(.integer(9), forField: "owner") }
            try rex.setValue(.integer(2), forField: "owner")
        }
        let own = UUID()
        try await pets.insert(Pet(id: own, name: "self", mother: own))
        let store = ItemStore()
        try store.createItem(ItemFields(custom: ["owner": .integer(9)]))
        do {
            try LocalItemCollection<Pet>(store).insert(Pet(name: "x"))
            Issue.record("a reference to nothing was declared")
        } catch { #expect(error.code == .unfittingItems(field: "owner")) }
    }

    @Test("predicates follow references, through several items and arrays, and name what is misspelt")
    func paths() async throws {
        try await database.withStore { store in
            func count(_ text: String) throws -> Int { try store.query(FormatPredicate(format: text)).count() }
            #expect(try count("owner.name == 'Ann'") == 2)
            #expect(try count("owner.name != 'Ann' AND itemKind == 'Pet'") == 2)
            #expect(try count("owner.name BEGINSWITH 'B' OR cage.id == 'A'") == 2)
            #expect(try count("ANY cage.keepers.name == 'Bob'") == 2)
            #expect(try count("owner.itemKey == 'Owner:1'") == 2)
            #expect(throws: FormatPredicateError.self) { try count("owner.nmae == 'Ann'") }
            let last = try store.query().sorted("owner.name", descending: true).first()
            #expect(try last?.value(forField: "name") == .string("Kit"))
        }
    }

    @Test("a relation that is not declared is refused where it is used; declarations are saved with the store")
    func declared() async throws {
        struct Loose: ItemModel {
            var id = 1
            var owner: Owner.ID?
            static let owner = belongsTo(Owner.self, \.owner)
        }
        await #expect(throws: StoreError.self) {
            try await database.collection(of: Loose.self).fetch(including: Loose.owner)
        }
        let folder = try StoreFolder()
        do {
            let store = try ItemStore.open(ArchivePersistence(folder: folder.path))
            try LocalItemCollection<Owner>(store).insert(Owner(id: 1))
            try LocalItemCollection<Pet>(store).insert(Pet(name: "x", owner: 1))
            try store.saveChanges()
        }
        let store = try ItemStore.open(ArchivePersistence(folder: folder.path))
        let declaration = try #require(store.declaredFields.first { $0.name == "owner" })
        #expect(declaration.references == FieldDeclaration.Reference("Owner", onDelete: .nullify))
        try store.item(forKey: "Owner:1")?.remove()
        #expect(try LocalItemCollection<Pet>(store).fetch().map(\.owner) == [nil])
    }
}
