import ColumnEngine
import Foundation
import Items
import Lua
import PropertyList
import Scripting
import SharedItems
import Synchronization
import TestSupport
import Testing

/// What each member of `items`, of items, queries and groups reads on a collection that another host changes.
@Suite(
    "What scripts' transactions read", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"))
struct SharedReadsTests {
    /// By class and member, what reads with it; nil for a member that reads no item, or that a transaction refuses.
    private static let members: [String: [String: String?]] = [
        "items": [
            "item": "return items:item('k')", "allItems": "return items.allItems", "each": "return items:each()",
            "index": "return items[1]", "len": "return #items", "query": "return items:query('name == \"vase\"')",
            "moveItem": "items:moveItem(1, 2)", "removeItem": "items:removeItem(k)",
            "createItem": "return pcall(items.createItem, items, { itemKey = 'k' })",
            "import": "return pcall(items.import, items, file('itemKey\\nk\\n'))",
            "export": "return items:export(file(''))", "describe": "return items:describe()",
            "fields": "return items:fields()", "declare": nil,
            "convert": "return pcall(items.convert, items, 'unknown', 'integer')",
            "dryRun": "return items:dryRun(function() end)",
            "transaction": "return items:transaction(function() return k.name end)",
            "randomItem": nil, "undo": nil, "redo": nil, "createIndex": nil, "dropIndex": nil, "indexes": nil,
            "saveChanges": nil, "synchronize": nil, "isReadOnly": nil, "isConnected": nil, "hasChanges": nil,
            "conflicts": nil,
            "archivePath": nil, "on": nil,
        ],
        "Item": [
            "name": "return k.name", "serialNumber": "return k.serialNumber",
            "valueInDollars": "return k.valueInDollars",
            "dateCreated": "return k.dateCreated", "itemKey": "return k.itemKey", "image": "return k.image",
            "images": "return k.images",
            "copy": "return k:copy()", "fields": "return k:fields()", "index": "return k.room",
            "increment": "return k:increment('height')",
            "tostring": "return tostring(k)", "set": "k.name = 'vase'", "setOther": "k.room = nil",
        ],
        "Query": [
            "where": "return q:where('name == \"vase\"')", "sorted": "return pcall(q.sorted, q, 'unknown')",
            "all": "return q:all()", "first": "return q:first()", "count": "return q:count()", "len": "return #q",
            "each": "return q:each()", "older": "return e()", "explain": "return q:explain()",
            "tostring": "return tostring(q)", "sum": "return q:sum('valueInDollars')",
            "average": "return q:average('valueInDollars')", "min": "return q:min('valueInDollars')",
            "max": "return q:max('valueInDollars')", "median": "return q:median('valueInDollars')",
            "percentile": "return q:percentile('valueInDollars', 90)", "stddev": "return q:stddev('valueInDollars')",
            "variance": "return q:variance('valueInDollars')", "counts": "return q:counts('name')",
            "aggregate": "return q:aggregate{ n = 'count()' }", "distinct": "return q:distinct('name')",
            "groupBy": "return q:groupBy('name')", "update": "return q:where(never):update{ name = 'x' }",
            "remove": "return q:where(never):remove()", "gallery": "return q:gallery(app.container.tmp .. '/gallery')",
            "export": "return q:export(app.container.tmp .. '/q.csv')", "describe": "return q:describe()",
            "limit": nil, "offset": nil, "plot": "return q:plot{ x = 'valueInDollars' }",
        ],
        "Group": [
            "items": "return g[1].items", "sum": "return g[1]:sum()", "average": "return g[1]:average()",
            "min": "return g[1]:min()", "max": "return g[1]:max()", "median": "return g[1]:median()",
            "percentile": "return g[1]:percentile('valueInDollars', 90)", "stddev": "return g[1]:stddev()",
            "variance": "return g[1]:variance()", "aggregate": "return g[1]:aggregate{ n = 'sum(valueInDollars)' }",
            "key": nil, "keys": nil, "count": nil,
        ],
        "Groups": [
            "aggregate": "return g:aggregate{ n = 'count()' }", "plot": "return g:plot{ y = 'valueInDollars' }",
            "sorted": nil, "limit": nil, "group": nil,
        ],
    ]

    private let server: PostgresServer
    private let other: ItemStore
    private let otherHost: SharedPersistence
    private let embedding: Embedding

    init() throws {
        server = try PostgresServer()
        let address = try SharedAddress(server.url())
        try SharedSchema.initialize(address)
        otherHost = SharedPersistence(address, hostName: "other")
        other = try ItemStore.open(otherHost)
        for key in ["k", "l"] { try other.createItem(ItemFields(name: "vase", itemKey: key)) }
        try other.commit()
        embedding = try Embedding(server.folder.file("c")) { options in
            options.persistence = { _ in SharedPersistence(address, hostName: "scripts") }
        }
        embedding.host.launch()
        let state = embedding.host.state
        let interfere = state.makeFunction(LuaFunctionDeclaration("interfere", [])) { [other] call in
            try other.item(forKey: "k")?.setValue(.integer(Int64(other.revision.rawValue)), forField: "n")
            try other.commit()
            return call.returnsNothing()
        }
        state.globals["interfere"] = .function(interfere)
    }

    @Test("each of them has the transaction run again")
    func everyMember() throws {
        let setUp = """
            function never() return false end
            function file(text)
                local path = app.container.tmp .. "/a.csv"
                fs.write(path, text)
                return path
            end
            k, q = items:item("k"), items:query()
            local only = items:query("itemKey == 'k'")
            g, e = only:groupBy("name"), only:each()
            """
        #expect(embedding.run(setUp) == "")
        func attempts(_ reading: String) throws -> String {
            let found = embedding.run(
                """
                k = items:item("k") or items:createItem{ name = "vase", itemKey = "k" }
                local only = items:query("itemKey == 'k'")
                g, e = only:groupBy("name"), only:each()
                """)
            #expect(found == "")
            try other.applyRemoteCommits()
            return embedding.run(
                """
                local attempts = 0
                local read = function() \(reading) end
                items:transaction(function()
                    attempts = attempts + 1
                    read()
                    items:createItem{ name = "mark" }
                    if attempts == 1 then interfere() end
                end)
                return attempts
                """)
        }
        for (type, members) in Self.members {
            for (member, reading) in members {
                guard let reading else { continue }
                try otherHost.poll()
                #expect(try attempts(reading) == "2", "\(type).\(member)")
            }
        }
        // The other host must know what the last of them committed, or its own commit is the one that conflicts.
        try otherHost.poll()
        let withoutReads = try attempts("")
        #expect(withoutReads == "1")
        embedding.end()
    }

    @Test("no member of a binding is missing")
    func completeness() throws {
        for (type, members) in Self.members {
            let declaration = try #require(embedding.host.state.declarations[type, .class])
            let declared = declaration.memberNames + declaration.operators.map(\.name)
            for name in declared { #expect(members[name] != nil, "\(type).\(name)") }
        }
        embedding.end()
    }

    @Test(
        "a statement's",
        arguments: [
            "sql('select sum(valueInDollars) from items')", "sql('select name from items where itemKey = ?', 'k')",
            "for row in sql.each('select * from items order by name limit 1') do break end",
            "sql('select count(*) from items a join items b on a.name = b.name')",
            "sql('update items set serialNumber = name where itemKey = ?', 'l')",
        ])
    func statements(_ reading: String) throws {
        let attempts = embedding.run(
            """
            local attempts = 0
            items:transaction(function()
                attempts = attempts + 1
                \(reading)
                items:createItem{ name = "mark" }
                if attempts == 1 then interfere() end
            end)
            return attempts
            """)
        #expect(attempts == "2")
        embedding.end()
    }
}

/// Two hosts that read a sum of all and change a summand of their own, at once.
@Suite(
    "Statements of two hosts", .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"))
struct SharedSumTests {
    /// The number of transactions of each; `CUBBY_ROUNDS` has that of a long trial.
    private static let rounds = Project.environment("CUBBY_ROUNDS").flatMap { Int($0) } ?? 25

    @Test("are serializable: no two transactions read the same sum")
    func serializable() throws {
        let server = try PostgresServer()
        let address = try SharedAddress(server.url())
        try SharedSchema.initialize(address)
        let store = try ItemStore.open(SharedPersistence(address, hostName: "owner"))
        for key in ["0", "1"] { try store.createItem(ItemFields(name: "summand", itemKey: key)) }
        try store.commit()
        let read = Mutex<[Int]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { host in
            guard
                let embedding = try? Embedding(
                    server.folder.file("\(host)"),
                    { options in
                        options.persistence = { _ in SharedPersistence(address, hostName: "host \(host)") }
                    })
            else { return }
            embedding.host.launch()
            let sums = embedding.run(
                """
                local sums = {}
                for round = 1, \(Self.rounds) do
                  items:transaction(function()
                    sums[round] = sql("select sum(valueInDollars) s from items")[1].s
                    sql("update items set valueInDollars = valueInDollars + 1 where itemKey = ?", "\(host)")
                  end, { retries = 1000 })
                end
                return table.concat(sums, " ")
                """)
            if sums.hasPrefix("error") { Issue.record("\(sums)") }
            read.withLock { $0 += sums.split(separator: " ").compactMap { Int($0) } }
            embedding.end()
        }
        #expect(read.withLock { $0.sorted() } == Array(0..<2 * Self.rounds))
    }
}
