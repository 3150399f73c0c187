import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

@Suite(
    "The schema of shared collections", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct SharedSchemaTests {
    private let cluster: PostgresServer

    init() throws { cluster = try .ofSuite }

    @Test("init makes tables and the collection once, and again does nothing")
    func initialize() throws {
        let address = try cluster.address("first")
        let made = try SharedSchema.initialize(address)
        #expect(made.madeCollection)
        #expect(try SharedSchema.initialize(address) == SharedSchema.Outcome())
        #expect(try SharedSchema.initialize(cluster.address("second")).madeCollection)
        #expect(try SharedSchema.migrate(address) == 1)
    }

    @Test("values of all kinds go and come back, empty and null ones too")
    func values() throws {
        let connection = try cluster.connect()
        let rows = try connection.run(
            "select $1::text, $2::int8, $3::bytea, $4::bytea, $5::bytea[], $6::int4, $7::bytea[]",
            [.text("ä"), .int8(.min), .bytes([]), .null, .byteArrays([[1, 2], [], [0]]), .int4(-5), .byteArrays([])])
        #expect(try rows.text(0, 0) == "ä")
        #expect(try rows.number(0, 1) == .min)
        #expect(try rows.bytes(0, 2) == [])
        #expect(try rows.bytes(0, 3) == nil)
        #expect(try rows.number(0, 5) == -5)
        let parts = try connection.run("select unnest($1::bytea[])", [.byteArrays([[1, 2], [], [0]])])
        #expect(try (0..<parts.rowCount).map { try parts.bytes($0, 0) } == [[1, 2], [], [0]])
        #expect(throws: PostgresError.self) { try rows.number(0, 0) }
        #expect(throws: PostgresError.self) { try rows.number(1, 1) }
    }

    @Test("a command that takes too long ends at its deadline, and its connection with it")
    func deadline() throws {
        let connection = try cluster.connect()
        connection.timeLimit = 0.2
        let error = #expect(throws: PostgresError.self) { try connection.run("select pg_sleep(60)") }
        #expect(error?.kind == .timedOut)
        #expect(error?.isInDoubt == true)
        #expect(!connection.isOpen)
    }

    @Test("a refused command says why, and the connection goes on")
    func refused() throws {
        let connection = try cluster.connect()
        let error = #expect(throws: PostgresError.self) { try connection.run("select 1/0") }
        #expect(error?.kind == .server("22012"))
        #expect(try connection.run("select 7::int8").number(0, 0) == 7)
    }

    @Test("a host reads and calls functions, and writes no table")
    func rights() throws {
        let address = try cluster.address("rights")
        try SharedSchema.initialize(address)
        let owner = try cluster.connect()
        try owner.runScript("create role \"desk \"\"7\" login")
        let host = try PostgresConnection(
            SharedAddress("postgres://desk%20%227@/postgres?host=\(cluster.folder.path)"), waiter: BlockingWaiter())
        #expect(throws: PostgresError.self) { try host.run("select * from cubby.item") }
        #expect(try SharedRights.grant("desk \"7", writes: true, address).isEmpty)
        try host.run("select * from cubby.item")
        let id = [UInt8](repeating: 7, count: 16)
        let hello = try host.run(
            "select * from cubby.hello($1, $2, $3, 0)", [.text("rights"), .uuid(id), .text("desk")])
        #expect(try hello.number(0, 1) == 0)
        for sql in [
            "delete from cubby.item", "update cubby.collection set head = 9", "insert into cubby.format values (2)",
            "truncate cubby.log", "drop table cubby.picture", "create table cubby.mine (a int)",
            "create or replace function cubby.outcome(in_token uuid) returns bigint language sql as 'select 1::bigint'",
            "insert into cubby.member values (9, 'desk \"7', true)", "select cubby.open_to(9, 'desk \"7', true)",
            "select cubby.close_to(1, 'desk \"7')", "select cubby.admit('desk \"7')", "select cubby.shorten_log(1, 9)",
            "drop policy readable on cubby.item", "alter table cubby.item disable row level security",
        ] {
            #expect(throws: PostgresError.self, "\(sql)") { try host.run(sql) }
        }
        // A name of the host's own in front does not lead the functions astray.
        try host.runScript("create temp table collection (id int)")
        try host.run("select cubby.outcome($1)", [.uuid(id)])
    }

    @Test("a commit notifies of its number, and of nothing else: any role may listen on any channel")
    func notifications() throws {
        let address = try cluster.newCollection("notified")
        let store = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        let listener = try cluster.connect()
        try listener.runScript("listen \(#require(store.shared.server.collection).channel)")
        for number in 0..<3 {
            try store.createItem(ItemFields(name: "secret \(number)"))
            try store.commit()
        }
        try listener.run("select 1")
        #expect(try listener.takeNotifications() == ["1", "2", "3"])
    }

    @Test("a commit behind others looks at the log since what its host has seen, and at nothing before")
    func log() throws {
        let connection = try cluster.connect()
        try SharedSchema.initialize(cluster.address("log"))
        let host = [UInt8](repeating: 7, count: 16)
        let hello = try connection.run(
            "select * from cubby.hello($1, $2, $3, 0)", [.text("log"), .uuid(host), .text("desk")])
        let id = try #require(try hello.bytes(0, 0))
        let epoch = try #require(try hello.bytes(0, 3))
        let number = id.reduce(Int32(0)) { $0 << 8 | Int32($1) }
        try connection.runScript(
            """
            insert into cubby.log (collection, revision, seen, host, token, lineage, keys, record)
                select \(number), i, i - 1, gen_random_uuid(), gen_random_uuid(), '', array[decode(md5(i::text), 'hex')], ''
                from generate_series(1, 20000) i;
            analyze cubby.log;
            update cubby.collection set head = 20000 where id = \(number)
            """)
        // The server keeps a plan for all values after a few.
        for round in 0..<12 {
            try connection.runScript("begin")
            let item = CommitCall.item("\(round)")
            let answer = try connection.run(
                "select status, revision from cubby.commit($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)",
                [
                    .int4(number), .uuid(epoch), .int8(19_990), .uuid((0..<16).map { UInt8($0 + round) }), .uuid(host),
                    .byteArrays([[1], [2]]), .byteArrays([]), .byteArrays([item.key]), .byteArrays([item.rank]),
                    .byteArrays([item.record]), .bytes(CommitCall.nothing),
                ])
            #expect(try answer.number(0, 0) == 0)
            #expect(try answer.number(0, 1) == 20_001 + Int64(round))
            let rows = try connection.run(
                "select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int8 from pg_stat_xact_all_tables "
                    + "where relid = 'cubby.log'::regclass")
            // Those of the rounds before are among them as long as the server has not reported them.
            #expect(try rows.number(0, 0) < 1000)
            try connection.runScript("commit")
        }
    }

    @Test("what is missing is said with what to do")
    func missing() throws {
        let address = try cluster.address("unknown")
        try SharedSchema.initialize(cluster.address("known"))
        let connection = try cluster.connect()
        let error = #expect(throws: PostgresError.self) {
            try connection.run(
                "select * from cubby.hello($1, $2, $3, 0)",
                [.text("unknown"), .uuid([UInt8](repeating: 1, count: 16)), .text("x")])
        }
        let shown = try SharedError(#require(error), address)
        #expect(shown.message.contains("there is no collection \"unknown\""))
        #expect(shown.message.contains("cubby shared init"))
    }
}
