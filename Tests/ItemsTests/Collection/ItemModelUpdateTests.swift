import Foundation
import Items
import ItemsTestSupport
import PropertyList
import Testing

/// Updates by models that have less than the items, and values of the widest integers.
@Suite("What a model does not have stays; what it has is exact")
struct ItemModelUpdateTests {
    /// What a later version of a program stores, and an earlier one has less of.
    private struct Later: ItemModel, Equatable {
        struct Size: Codable, Sendable, Equatable { var width: Int, height: Int?, unit: Unit? }
        struct Unit: Codable, Sendable, Equatable { var name: String, factor: Double? }
        enum Shape: Codable, Sendable, Equatable { case square(side: Int, label: String?), round(Unit), none }
        var id: Int
        var size: Size
        var sizes: [String: Size]
        var list: [Size] = []
        var shape: Shape = .round(Unit(name: "cm", factor: 0.01))
        var note: String? = "note"

        static let itemKind = "Thing"
    }

    private struct Earlier: ItemModel, Equatable {
        struct Size: Codable, Sendable, Equatable { var width: Int, unit: Unit? }
        struct Unit: Codable, Sendable, Equatable { var name: String }
        enum Shape: Codable, Sendable, Equatable { case square(side: Int), round(Unit) }
        var id: Int
        var size: Size
        var sizes: [String: Size]
        var list: [Size] = []
        var shape: Shape?

        static let itemKind = "Thing"
    }

    private let database: ItemDatabase
    private let later: ItemCollection<Later>
    private let earlier: ItemCollection<Earlier>

    init() throws {
        database = try ItemDatabase()
        later = database.collection(of: Later.self)
        earlier = database.collection(of: Earlier.self)
    }

    /// Stores what the later version has, and reads, changes and writes it as the earlier one.
    private func updated(_ thing: Later, _ change: (inout Earlier) -> Void) async throws -> Later {
        try await later.upsert(thing)
        var old = try #require(try await earlier.fetch().first)
        change(&old)
        #expect(try await earlier.update(old))
        return try #require(try await later.fetch().first)
    }

    @Test("keys of nested dictionaries stay at every level; what the model removes is removed")
    func nested() async throws {
        let unit = Later.Unit(name: "cm", factor: 0.01)
        var thing = Later(
            id: 1, size: .init(width: 1, height: 2, unit: unit),
            sizes: ["a": .init(width: 3, height: 4, unit: unit), "b": .init(width: 5, height: 6, unit: nil)])
        var result = try await updated(thing) { old in
            old.size.width = 10
            old.size.unit?.name = "mm"
            old.sizes["b"] = nil
            old.sizes["c"] = .init(width: 7, unit: nil)
        }
        thing.size = .init(width: 10, height: 2, unit: .init(name: "mm", factor: 0.01))
        thing.sizes["b"] = nil
        thing.sizes["c"] = .init(width: 7, height: nil, unit: nil)
        #expect(result == thing)
        result = try await updated(thing) { $0.size.unit = nil }
        thing.size.unit = nil
        #expect(result == thing)
    }

    @Test("the elements of an array are replaced, and the case of an enum is one")
    func whole() async throws {
        var thing = Later(id: 1, size: .init(width: 1, height: 2, unit: nil), sizes: [:])
        thing.list = [.init(width: 1, height: 2, unit: nil)]
        thing.shape = .square(side: 3, label: "x")
        var result = try await updated(thing) { $0.shape = .square(side: 4) }
        #expect(result.list == [.init(width: 1, height: nil, unit: nil)])
        #expect(result.shape == .square(side: 4, label: "x"))
        result = try await updated(result) { $0.shape = .round(.init(name: "cm")) }
        #expect(result.shape == .round(.init(name: "cm", factor: nil)))
        // A case that the earlier version does not have cannot be read by it, and can be replaced.
        result.shape = .none
        try await later.upsert(result)
        await #expect(throws: StoreError.self) { try await earlier.fetch() }
        let square = Earlier(id: 1, size: .init(width: 1, unit: nil), sizes: [:], shape: .square(side: 1))
        #expect(try await earlier.update(square))
        #expect(try await earlier.fetch() == [square])
    }

    private struct Wide: Codable, Identifiable, Sendable, Equatable {
        struct Part: Codable, Sendable, Equatable { var signed: Int128, unsigned: UInt128? }
        enum Raw: Codable, Sendable, Equatable { case number(Int128) }
        var id: Int
        var signed: Int128
        var unsigned: UInt128
        var perhaps: Int128?
        var unsignedPerhaps: UInt128?
        var part: Part
        var all: [Int128]
        var allUnsigned: [UInt128]
        var byName: [String: UInt128] = [:]
        var raw: Raw = .number(.min)

        static let signed: ItemAttribute<Wide, Int128> = .init(\.signed)
    }

    @Test("integers of 128 bits are carried, compared and summed, after a save as well", arguments: Keeper.allCases)
    func wide(_ keeper: Keeper) async throws {
        let kept = try KeptBooks(keeper)
        let database = kept.database
        let wides = database.collection(of: Wide.self).declaringFields()
        let numbers: [Int128] = [0, -1, Int128(Int64.max), Int128(Int64.max) + 1, .max, .min, Int128(UInt64.max)]
        var all = numbers.enumerated().map { place, number in
            let unsigned = UInt128(number.magnitude == .init(Int128.max) + 1 ? 7 : number.magnitude)
            return Wide(
                id: place, signed: number, unsigned: unsigned, perhaps: place % 2 == 0 ? number : nil,
                unsignedPerhaps: place % 2 == 1 ? unsigned : nil, part: .init(signed: number, unsigned: unsigned),
                all: [number, 1], allUnsigned: [unsigned], byName: ["a": unsigned], raw: .number(number))
        }
        try await wides.insert(contentsOf: all)
        #expect(try await wides.fetch() == all)
        (all[0].perhaps, all[1].unsignedPerhaps) = (nil, nil)
        for wide in all.prefix(2) { #expect(try await wides.update(wide)) }
        #expect(try await database.save() == (keeper == .archive))
        #expect(try await wides.fetch() == all)
        #expect(try await wides.fetch(where: Wide.signed == Int128.max).map(\.id) == [4])
        #expect(try await wides.fetch(where: Wide.signed > Int128(Int64.max)).map(\.id) == [3, 4, 6])
        #expect(try await wides.max(Wide.signed) == .max)
        withExtendedLifetime(kept) {}
    }

    @Test("what no field holds is refused, with the field and what to do")
    func tooWide() async throws {
        let wides = database.collection(of: Wide.self)
        let most = UInt128(Int128.max)
        let wide = Wide(
            id: 1, signed: 1, unsigned: 1, part: .init(signed: 1, unsigned: most + 1), all: [], allUnsigned: [])
        let error = await #expect(throws: StoreError.self) { try await wides.insert(wide) }
        #expect(error?.code == .invalidValue(field: "part.unsigned"))
        #expect(error?.message.hasPrefix("part.unsigned is \(most + 1), and an integer of an item") == true)
        #expect(error?.message.hasSuffix("store it as a text") == true)
        #expect(try await wides.count() == 0)
        struct Small: Codable, Identifiable, Sendable, Equatable { var id: Int, number: UInt128 }
        try await database.withStore { store in
            _ = try store.createItem(
                ItemFields(
                    itemKey: "Small:1",
                    custom: ["id": .integer(1), "itemKind": .string("Small"), "number": .integer(-1)]))
        }
        await #expect(throws: StoreError.self) { try await database.collection(of: Small.self).fetch() }
    }
}
