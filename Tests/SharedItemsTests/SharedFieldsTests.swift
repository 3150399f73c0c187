import Files
import ItemsTestSupport
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

@Suite(
    "Collections whose items have fields of their own", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct SharedFieldsTests {
    private static let library = ItemSchema([
        .text("title"), .text("isbn", isOptional: true), .integer("pages", initial: 1), .date("added", isStamped: true),
    ])

    private let cluster: PostgresServer
    private let folder: TemporaryDirectory

    init() throws {
        cluster = try .ofSuite
        folder = try TemporaryDirectory()
    }

    private func host(
        _ address: SharedAddress, _ name: String, caches: Bool = false, queues: Bool = false
    ) -> SharedPersistence {
        SharedPersistence(
            address, host: [UInt8](repeating: UInt8(name.utf8.count), count: 16), hostName: name,
            timeLimit: .seconds(5), folder: caches ? folder.file(name) : nil, keepsCommits: queues)
    }

    private func create(_ store: ItemStore, _ key: String, _ fields: PropertyListFields) throws {
        var values = fields
        values["itemKey"] = .string(key)
        try store.createItem(ItemFields(stored: values, store.schema))
        try store.commit()
    }

    @Test("hosts find the fields that the collection was made for, and share its items", arguments: [true, false])
    func hosts(hasNone: Bool) throws {
        let schema = hasNone ? ItemSchema() : Self.library
        let address = try cluster.address("hosts \(hasNone)")
        #expect(try SharedSchema.initialize(address, schema: schema).madeCollection)
        #expect(try !SharedSchema.initialize(address, schema: schema).madeCollection)
        #expect(try !SharedSchema.initialize(address).madeCollection)
        #expect(try SharedSchema.items(of: address) == schema)
        let persistence = host(address, "desk")
        try persistence.prepare()
        #expect(try persistence.schema == schema)
        let desk = try ItemStore.open(persistence, schema: schema)
        let laptop = try ItemStore.open(host(address, "laptop"), schema: schema)
        let values: PropertyListFields = ["title": .string("Dune"), "pages": .integer(604), "shelf": .string("B 4")]
        try create(desk, "dune", values)
        try laptop.update()
        for (name, value) in values { #expect(try laptop.item(forKey: "dune")?.value(forField: name) == value) }
        try laptop.item(forKey: "dune")?.setValue(.integer(605), forField: "pages")
        try laptop.commit()
        try desk.update()
        #expect(try desk.item(forKey: "dune")?.value(forField: "pages") == .integer(605))
        let late = try ItemStore.open(host(address, "late"), schema: schema)
        #expect(try late.contents == desk.contents)
        #expect(try SharedStatus(address).lines.contains { $0.contains("itemKey, and what is declared") })
        // A program that follows the commits reads them by the collection's fields.
        let commits = try SharedLog(address, schema: .household).next()
        let inserted = commits.first?.changes.lazy.compactMap { change in
            if case .insert("dune", let fields, _) = change { fields } else { nil }
        }.first
        for (name, value) in values { #expect(inserted?[name] == value, "\(name)") }
        let isSet = commits.last?.changes.contains { change in
            if case .set("dune", "pages", .integer(605)?) = change { true } else { false }
        }
        #expect(isSet == true, "\(commits)")
    }

    @Test("a store with other fields is refused, and nothing is read")
    func others() throws {
        let (own, usual) = (try cluster.address("own"), try cluster.newCollection("usual"))
        try SharedSchema.initialize(own, schema: Self.library)
        for (address, schema, reason) in [
            (own, ItemSchema.household, "its items have the fields title, isbn, pages, added"),
            (own, ItemSchema(), "its items have the fields title, isbn, pages, added"),
            (usual, ItemSchema(), "its items have the fields of a household"),
        ] {
            let error = #expect(throws: StoreError.self) {
                try ItemStore.open(host(address, "desk"), schema: schema)
            }
            #expect(error?.message.hasSuffix(reason) == true, "\(error?.message ?? "")")
            #expect(throws: SharedError.self) { try SharedSchema.initialize(address, schema: schema) }
        }
        #expect(try SharedSchema.items(of: usual) == nil)
    }

    @Test("a program that does not know of such fields is refused by the server")
    func older() throws {
        let address = try cluster.address("older")
        try SharedSchema.initialize(address, schema: ItemSchema())
        let connection = try cluster.connect()
        let id = PostgresValue.uuid([UInt8](repeating: 3, count: 16))
        for call in ["cubby.hello('older', $1, 'desk', 0)", "cubby.hello('older', $1, 'desk', 0, 1)"] {
            let error = #expect(throws: PostgresError.self) { try connection.run("select * from \(call)", [id]) }
            #expect(error?.message.contains("have fields of their own") == true, "\(error?.message ?? "")")
        }
        // Tables of a program before that are made to have them by `migrate`.
        try connection.runScript("alter table cubby.collection drop column fields")
        let error = #expect(throws: SharedError.self) {
            try SharedSchema.initialize(cluster.address("newer"), schema: ItemSchema())
        }
        #expect(error?.message.contains("cubby shared migrate") == true)
        let usual = try cluster.address("usual too")
        #expect(try SharedSchema.initialize(usual).madeCollection)
        // A host goes on with such tables, and declares fields.
        let hello = try connection.run(
            "select pg_get_functiondef('cubby.hello(text, uuid, text, bigint, int)'::regprocedure)"
        ).text(0, 0)
        let former = hello.replacing(/if in_level < 2(?s:.*?)end if;/, with: "")
        #expect(former != hello)
        try connection.runScript(former)
        let persistence = host(usual, "desk")
        let desk = try ItemStore.open(persistence, schema: .household)
        try create(desk, "vase", ["name": .string("Vase")])
        #expect(persistence.declaringDenial == nil)
        #expect(try SharedLog(usual, schema: .household).next().count == 1)
        try SharedSchema.migrate(address)
        #expect(try SharedSchema.initialize(cluster.address("newer"), schema: ItemSchema()).madeCollection)
    }

    @Test("without the server the fields come from what the host keeps, which an older program refuses")
    func offline() throws {
        let address = try cluster.address("offline fields")
        try SharedSchema.initialize(address, schema: Self.library)
        var desk = try ItemStore.open(host(address, "desk", caches: true, queues: true), schema: Self.library)
        try create(desk, "dune", ["title": .string("Dune"), "pages": .integer(604)])
        try desk.saveChanges()
        cluster.stop()
        defer { try? cluster.start() }
        let persistence = host(address, "desk", caches: true, queues: true)
        try persistence.prepare()
        #expect(try persistence.schema == Self.library)
        desk = try ItemStore.open(persistence, schema: Self.library)
        #expect(try desk.item(forKey: "dune")?.value(forField: "pages") == .integer(604))
        try create(desk, "emma", ["title": .string("Emma"), "pages": .integer(300)])
        let error = #expect(throws: StoreError.self) {
            try ItemStore.open(host(address, "desk", caches: true), schema: .household)
        }
        #expect(error?.message.contains("cannot be opened with the fields") == true, "\(error?.message ?? "")")
        for name in ["items.cache", "commits.queue"] {
            let path = try #require(persistence.closedPaths.first { $0.hasSuffix(name) })
            let version = try PosixFileLayer().contents(of: path)[8]
            #expect(version == 5, "\(name)")
        }
        try cluster.start()
        desk = try ItemStore.open(host(address, "desk", caches: true, queues: true), schema: Self.library)
        try desk.update()
        let late = try ItemStore.open(host(address, "late"), schema: Self.library)
        #expect(try late.item(forKey: "emma")?.value(forField: "pages") == .integer(300))
    }

    @Test("a damaged record on the server is said as such, and not taken for one without fields")
    func damagedOnServer() throws {
        let (own, usual) = (try cluster.address("damaged own"), try cluster.newCollection("damaged usual"))
        try SharedSchema.initialize(own, schema: Self.library)
        let desk = try ItemStore.open(host(usual, "desk"))
        try desk.declare([FieldDeclaration("width", .real), FieldDeclaration("sku", .string)])
        try desk.commit()
        #expect(
            try SharedStatus(own).lines.contains {
                $0.hasSuffix("title, isbn, pages, added, itemKey, and what is declared")
            })
        #expect(try SharedStatus(usual).lines.contains { $0.hasPrefix("declared ") && $0.hasSuffix(" width, sku") })
        #expect(try !SharedStatus(own).lines.contains { $0.hasPrefix("declared ") })
        try cluster.connect().runScript(
            """
            update cubby.collection set fields = set_byte(fields, 3, 7 # get_byte(fields, 3)) where name = 'damaged own';
            update cubby.declaration d set record = set_byte(record, 3, 7 # get_byte(record, 3))
                from cubby.collection c where c.id = d.collection and c.name = 'damaged usual'
            """)
        for (address, name) in [(own, "fields"), (usual, "declared")] {
            let status = try SharedStatus(address)
            #expect(
                status.lines.contains {
                    $0.hasPrefix(name) && $0.contains("cannot be read: a record's checksum is wrong")
                },
                "\(status.lines)")
            #expect(status.advice.contains { $0.contains("is damaged") }, "\(status.advice)")
        }
        let error = #expect(throws: SharedError.self) { try SharedSchema.initialize(own, schema: Self.library) }
        #expect(
            error?.message.contains("cannot be read (a record's checksum is wrong)") == true, "\(error?.message ?? "")")
        let fields = #expect(throws: StoreError.self) { try ItemStore.open(host(own, "late"), schema: Self.library) }
        #expect(fields?.message.contains("cannot be read") == true, "\(fields?.message ?? "")")
        let declared = #expect(throws: StoreError.self) { try ItemStore.open(host(usual, "late")) }
        #expect(declared?.message.contains("what is declared of the collection's fields cannot be read") == true)
    }

    @Test("a record of fields is read as it was written; a damaged one is refused")
    func records() throws {
        for schema in [ItemSchema(), Self.library, ItemSchema([.integer("n", initial: -7)])] {
            let record = try #require(SharedFields.record(of: schema))
            #expect(try SharedFields.schema(record) == schema)
            for place in record.indices {
                var damaged = record
                damaged[place] ^= 1
                #expect(throws: StoreError.self) { try SharedFields.schema(damaged) }
            }
        }
        #expect(SharedFields.record(of: .household) == nil)
        #expect(ItemSchema.household.isHousehold)
        let more = ItemSchema(ItemSchema.household.fields + [.text("room")])
        let read = try SharedFields.record(of: more).map(SharedFields.schema)
        #expect(read?.names == more.names && read?.isHousehold == true)
        for list: [PropertyListValue] in [
            [.string("title")], [.dictionary(["name": .string("a")])],
            [.dictionary(["name": .string("a"), "kind": .string("real")])],
            [.dictionary(["name": .string("a"), "kind": .string("text"), "unique": .boolean(true)])],
        ] {
            #expect(throws: StoreError.self) { try ItemSchema(record: .array(list)) }
        }
    }
}
