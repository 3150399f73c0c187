import Items
import PropertyList
import TestSupport
import Testing

@testable import SharedItems

@Suite(
    "Copies into shared collections and back", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"),
    .cluster)
struct SharedTransferTests {
    private func filled(_ count: Int) throws -> ItemStore {
        let store = ItemStore()
        for number in 0..<count {
            try store.createItem(
                ItemFields(
                    name: "item \(number)", serialNumber: number % 3 == 0 ? nil : "S\(number)",
                    itemKey: number % 7 == 0 ? "key \(number)" : nil,
                    custom: ["tags": .array([.integer(Int64(number))])]))
        }
        try store.commit()
        return store
    }

    @Test("all items go, with keys, fields and order, and come back; again there is nothing to do")
    func whole() throws {
        let address = try PostgresServer.ofSuite.newCollection("whole")
        let source = try filled(2_500)
        let shared = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        var steps: [Int] = []
        #expect(try SharedTransfer.copy(from: source, to: shared) { steps.append($0) } == 2_500)
        #expect(steps == [1_000, 2_000, 2_500])
        #expect(try shared.contents == source.contents)
        #expect(try SharedTransfer.copy(from: source, to: shared) == 0)
        let back = ItemStore()
        let late = try ItemStore.open(SharedPersistence(address, hostName: "late"))
        #expect(try SharedTransfer.copy(from: late, to: back) == 2_500)
        #expect(try back.contents == source.contents)
    }

    @Test("an interrupted copy goes on; other items are refused, and nothing is changed")
    func resumed() throws {
        let address = try PostgresServer.ofSuite.newCollection("resumed")
        let source = try filled(1_200)
        let shared = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        for position in 0..<1_000 { try shared.createItem(#require(source[position]).allFields) }
        try shared.commit()
        #expect(try SharedTransfer.copy(from: source, to: shared) == 200)
        #expect(try shared.contents == source.contents)
        let other = try filled(1_200)
        let error = #expect(throws: StoreError.self) { try SharedTransfer.copy(from: other, to: shared) }
        #expect(error?.code == .conflict)
        #expect(try shared.contents == source.contents)
    }
}
