import Files
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

/// A commit that the server refuses for what it has must not keep back those behind it.
@Suite(
    "Commits that the server refuses", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct SharedDenialTests {
    private let link: CutLink

    init() throws { link = try CutLink() }

    /// Has the server refuse items with a part of a key.
    private func refuse(_ part: String, with code: String) throws {
        try link.cluster.connect().runScript(
            """
            create or replace function public.refuse() returns trigger language plpgsql as $$
            begin
                if position(convert_to('\(part)', 'UTF8') in new.key) > 0 then
                    raise exception 'no such item' using errcode = '\(code)';
                end if;
                return new;
            end $$;
            drop trigger if exists refuse on cubby.item;
            create trigger refuse before insert or update on cubby.item for each row execute function public.refuse();
            """)
    }

    private func create(_ store: ItemStore, _ key: String) throws {
        try store.createItem(ItemFields(name: "the \(key)", itemKey: key))
        try store.commit()
    }

    @Test(
        "in a queue it is to be resolved with what builds on it, and the others are sent",
        arguments: ["54000", "22P05", "23514"])
    func queue(code: String) throws {
        let collection = "denied-\(code)"
        let address = try link.cluster.newCollection(collection)
        var laptop = try link.open(collection)
        try create(laptop, "first")
        try laptop.saveChanges()
        try refuse("bad \(code)", with: code)
        try link.goAway(laptop)
        for number in 0..<130 { try create(laptop, "a\(number)") }
        try create(laptop, "bad \(code)")
        try laptop.item(forKey: "bad \(code)")?.setName("builds on it")
        try laptop.item(forKey: "first")?.setName("goes along")
        try laptop.commit()
        for number in 0..<130 { try create(laptop, "b\(number)") }
        try laptop.item(forKey: "first")?.setValue(.string("Hall"), forField: "room")
        try laptop.commit()
        #expect(laptop.waitingCommits == 263)
        try link.comeBack(laptop)
        let desk = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        try expectEqual([laptop, desk])
        #expect(desk.count == 261 && desk.item(forKey: "bad \(code)") == nil)
        #expect(try desk.item(forKey: "first")?.value(forField: "room") == .string("Hall"))
        #expect(try desk.item(forKey: "first")?.name == "the first")
        for restarts in [false, true] {
            if restarts { laptop = try link.open(collection) }
            let conflicts = laptop.conflicts
            #expect(conflicts.count == 2)
            let problem = try #require(conflicts.first?.changes.first?.problem)
            #expect(problem.contains("the item bad \(code): ") && problem.contains("no such item"))
            #expect(problem.contains(code))
            #expect(conflicts[0].description.hasPrefix("the server refused the commit of "))
            #expect(conflicts[1].denial == nil)
        }
        // Again it is refused, and stays; then it is given up.
        #expect(throws: StoreError.self) { try laptop.keepMine(laptop.conflicts[0]) }
        #expect(laptop.conflicts.count == 2)
        for conflict in laptop.conflicts { try laptop.keepTheirs(conflict) }
        try create(laptop, "after")
        try expectEqual([laptop, desk])
        #expect(laptop.conflicts.isEmpty && laptop.waitingCommits == 0)
    }

    @Test("without a queue it is rolled back, names the item, and the next commit goes through")
    func online() throws {
        let address = try link.cluster.newCollection("online")
        let desk = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        try refuse("wrong", with: "22P05")
        try create(desk, "before")
        let error = #expect(throws: StoreError.self) { try create(desk, "wrong") }
        #expect(error?.message.contains("the item wrong: ") == true && error?.message.contains("rolled back") == true)
        #expect(desk.item(forKey: "wrong") == nil && !desk.hasUncommittedChanges)
        #expect(throws: StoreError.self) {
            try desk.transaction(isolation: .serializable) {
                try desk.createItem(ItemFields(itemKey: "wrong, too"))
                try desk.createItem(ItemFields(itemKey: "right"))
            }
        }
        try create(desk, "after")
        try expectEqual([desk])
        #expect(desk.count == 2)
    }

    @Test("a key that the server's index cannot have is refused at once, also by a copy")
    func longKeys() throws {
        let address = try link.cluster.newCollection("long-keys")
        let desk = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        var random = SystemRandomNumberGenerator()
        // Not to be compressed.
        func key(_ count: Int) -> String {
            String(decoding: (0..<count).map { _ in UInt8.random(in: 33...126, using: &random) }, as: UTF8.self)
        }
        try create(desk, key(2_000))
        let error = #expect(throws: StoreError.self) { try desk.createItem(ItemFields(itemKey: key(2_001))) }
        #expect(error?.code == .invalidValue(field: "itemKey") && error?.message.contains("2,001 bytes") == true)
        try expectEqual([desk])
        let source = ItemStore()
        try source.createItem(ItemFields(itemKey: "x" + key(2_500)))
        let empty = try link.cluster.newCollection("long-keys-2")
        let target = try ItemStore.open(SharedPersistence(empty, hostName: "desk"))
        let refused = #expect(throws: StoreError.self) { try ItemTransfer.copy(from: source, to: target) }
        #expect(refused?.message.contains("the itemKey \"x") == true && target.count == 0)
    }
}
