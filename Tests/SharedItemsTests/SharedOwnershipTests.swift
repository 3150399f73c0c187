import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

@Suite(
    "A shared collection and its owner", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct SharedOwnershipTests {
    private let cluster: PostgresServer

    init() throws { cluster = try .ofSuite }

    @Test("the owner lists and forgets hosts, renames and drops a collection; the other ones stay")
    func owner() throws {
        let address = try cluster.newCollection("owned")
        let other = try cluster.newCollection("other")
        for place in [address, other] {
            let store = try ItemStore.open(SharedPersistence(place, hostName: "desk"))
            try store.createItem(ItemFields(name: "vase"))
            try store.commit()
        }
        #expect(try SharedOwnership.hosts(address).map(\.name) == ["desk"])
        #expect(try SharedOwnership.hosts(address).map(\.commits) == [1])
        #expect(try SharedOwnership.forget("nobody", address) == 0)
        #expect(try SharedOwnership.forget("desk", address) == 1)
        #expect(try SharedOwnership.hosts(address).isEmpty)
        #expect(try SharedLog(address, schema: .household).next().map(\.host) == [""])

        #expect(throws: SharedError.self) { try SharedOwnership.rename(address, to: "other") }
        try SharedOwnership.rename(address, to: "renamed")
        #expect(throws: SharedError.self) { try SharedOwnership.contents(address) }
        let renamed = try cluster.address("renamed")
        #expect(try SharedOwnership.contents(renamed) == .init(items: 1, pictures: 0, commits: 1, hosts: 0))
        try SharedOwnership.drop(renamed)
        #expect(throws: SharedError.self) { try SharedOwnership.contents(renamed) }
        #expect(try SharedOwnership.contents(other) == .init(items: 1, pictures: 0, commits: 1, hosts: 1))
        let rest = try cluster.connect().run(
            "select count(*) from cubby.log l where not exists (select from cubby.collection c where c.id = l.collection)"
        )
        #expect(try rest.number(0, 0) == 0)
    }

    @Test("tables of an older program, and those that a newer one added, are dropped as far as they are there")
    func dropOfOtherTables() throws {
        let address = try cluster.newCollection("older")
        let store = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        try store.createItem(ItemFields(name: "vase"))
        try store.commit()
        let owner = try cluster.connect()
        try owner.runScript(
            """
            drop table cubby.declaration;
            alter table cubby.collection drop column fields, drop column declared;
            create table cubby.published (collection int, line text);
            insert into cubby.published select id, 'vase' from cubby.collection where name = 'older';
            """)
        #expect(try SharedOwnership.contents(address).items == 1)
        try SharedOwnership.drop(address)
        for table in ["item", "log", "host", "published"] {
            let rows = try owner.run(
                "select count(*) from cubby.\(table) t where not exists (select from cubby.collection c where c.id = t.collection)"
            )
            #expect(try rows.number(0, 0) == 0, "\(table)")
        }
        #expect(throws: SharedError.self) { try SharedOwnership.contents(address) }
        try owner.runScript("drop table cubby.published")
        try SharedSchema.migrate(address)
        #expect(try SharedSchema.initialize(address).madeCollection)
    }
}
