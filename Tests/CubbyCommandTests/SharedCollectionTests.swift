import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// `--shared` and `cubby shared`, with the built program and a PostgreSQL of each test's own.
@Suite(
    "Shared collections with the program",
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"))
final class SharedCollectionTests {
    private let program: Program
    private let server: PostgresServer

    init() throws {
        program = try Program()
        server = try PostgresServer()
        #expect(try program("shared", "init", server.url()).status == .exited(0))
    }

    deinit { server.stop() }

    private func host(_ name: String, _ code: String) throws -> ProcessOutput {
        try program("--container", program.scratch.file(name), "--shared", server.url(), "-e", code)
    }

    @Test("what one host does another has; status shows both; init again changes nothing")
    func exchange() throws {
        #expect(try host("desk-1", "items:createItem{ name = 'Vase', itemKey = 'k' }").status == .exited(0))
        #expect(try host("desk-2", "items[1].room = 'Hall' print(#items)").stdout == "1\n")
        #expect(try host("desk-1", "print(items:item('k').room)").stdout == "Hall\n")
        let status = try program("shared", "status", server.url()).stdout
        for part in ["PostgreSQL 1", "home, 1 item", "revision    2", "desk-1", "desk-2", "synchronous standby"] {
            #expect(status.contains(part), "\(status)")
        }
        #expect(try program("shared", "init", server.url()).stdout.contains("nothing was changed"))
        #expect(try program("shared", "migrate", server.url()).stdout.contains("format 1"))
    }

    @Test("a save in a host's first run succeeds: it is not met by that of its new copy")
    func savesAtFirst() throws {
        for name in ["desk-1", "desk-2"] {
            let run = try host(name, "items:createItem{ name = 'Vase' } print(items:saveChanges())")
            #expect(run.stdout == "true\n" && run.stderr == "", "\(run.stderr)")
        }
    }

    @Test("the owner says what the log keeps, and the rest leaves; feeds and hosts say so")
    func trim() throws {
        let code = "for n = 1, 5 do items:transaction(function() items:createItem{ name = 'item ' .. n } end) end"
        #expect(try host("desk", code).status == .exited(0))
        let all = "all commits are kept: removed 0 commits, and the log has 5 commits after revision 0\n"
        #expect(try program("shared", "trim", server.url()).stdout == all)
        try server.sql("update cubby.log set at = at - interval '2 days'")
        let kept = try program("shared", "trim", "--keep", "2", server.url())
        #expect(
            kept.stdout
                == "the last 2 commits and those of the last day are kept: removed 3 commits, and the log has 2 commits after revision 3\n",
            "\(kept.stderr)")
        #expect(
            try program("shared", "status", server.url()).stdout.contains(
                "2 commits after revision 3, the last 2 commits and"))
        let feed = try program("shared", "follow", "--no-wait", server.url())
        #expect(feed.stdout.split(separator: "\n").count == 2 && feed.stderr.contains("begins after revision 3"))
        let gone = try program("shared", "follow", "--no-wait", "--after", "1", server.url())
        #expect(gone.status == .exited(65) && gone.stderr.contains("cubby shared pull"), "\(gone.stderr)")
        #expect(try host("late", "print(#items)").stdout == "5\n")
        for words in [["--older", "90"], ["--older", "0d"], ["--keep", "0"], ["--keep", "3", "--all"]] {
            #expect(try program(["shared", "trim"] + words + [server.url()]).status == .exited(64), "\(words)")
        }
        #expect(
            try program("shared", "trim", "--all", server.url()).stdout.hasPrefix("all commits are kept: removed 0"))
    }

    @Test("the items are rows of a table that other programs read, until that ends")
    func publish() throws {
        let code =
            "items:declare{ paid = { kind = 'real', format = 'money' } } items:createItem{ name = 'Vase', itemKey = 'v', paid = 12.5 }"
        #expect(try host("desk", code).status == .exited(0))
        let made = try program("shared", "publish", server.url())
        #expect(
            made.stdout
                == "the collection home is published as home.items: 1 row, with columns for name, serialNumber, valueInDollars, dateCreated, paid\n",
            "\(made.stderr)")
        #expect(
            try host("laptop", "items:item('v').name = 'Urn' items:createItem{ name = 'Jar' }").status == .exited(0))
        func expectRows(_ condition: String) throws {
            try server.sql("do $$ begin assert (select \(condition) from home.items); end $$")
        }
        try expectRows(
            "count(*) = 2 and bool_or(key = 'v' and name = 'Urn' and paid = 12.50 and fields->>'name' = 'Urn')")
        let undoing =
            "items:transaction(function() items:removeItem(items:item('v')) end) items:undo() items:removeItem(items[2])"
        #expect(try host("laptop", undoing).status == .exited(0))
        try expectRows("count(*) = 1 and bool_and(name = 'Urn')")
        #expect(
            try program("shared", "status", server.url()).stdout.contains(
                "as home.items, with columns for name, serialNumber, valueInDollars, dateCreated, paid"))
        #expect(try program("shared", "rename", server.url(), "house").status == .exited(0))
        let renamed = server.url("house")
        let moved = try program("shared", "publish", "--schema", "for readers", renamed).stdout
        #expect(moved.hasPrefix("the collection house is published as for readers.items: 1 row, with"))
        let ended = try program("shared", "publish", "--end", renamed)
        #expect(
            ended.stdout == "the collection house is not published any more: removed the table for readers.items\n")
        let again = try program("shared", "publish", "--end", renamed)
        #expect(again.status == .exited(65) && again.stderr.contains("house is not published"), "\(again.stderr)")
        let taken = try program("shared", "publish", "--schema", "cubby", renamed)
        #expect(taken.status == .exited(65) && taken.stderr.contains("another one with --schema"), "\(taken.stderr)")
        for words in [["--end", "--schema", "s"], ["--schema", ""], ["--schema", String(repeating: "s", count: 64)]] {
            #expect(try program(["shared", "publish"] + words + [renamed]).status == .exited(64), "\(words)")
        }
        #expect(try program("shared", "publish", renamed).status == .exited(0))
        #expect(try program("shared", "drop", "--yes", renamed).status == .exited(0))
        try server.sql("do $$ begin assert to_regnamespace('house') is null; end $$")
    }

    @Test("the owner opens the collection to roles, some of which only read, and closes it")
    func rights() throws {
        try server.sql("create role anna login")
        try server.sql("create role dashboard login")
        let anna = server.url(user: "anna")
        func run(_ url: String, _ code: String) throws -> ProcessOutput {
            try program("--container", program.scratch.file("desk"), "--shared", url, "-e", code)
        }
        let closed = try run(anna, "print(#items)")
        #expect(closed.status == .exited(65) && closed.stderr.contains("cubby shared grant ROLE"), "\(closed.stderr)")
        #expect(
            try program("shared", "grant", "anna", server.url()).stdout
                == "anna reads the collection home, and changes items through functions alone\n")
        #expect(try run(anna, "items:createItem{ name = 'Vase' } print(#items)").stdout == "1\n")
        #expect(
            try program("shared", "grant", "dashboard", "--read-only", server.url()).stdout
                == "dashboard reads the collection home, and changes nothing\n")
        let dashboard = server.url(user: "dashboard")
        #expect(try program("shared", "follow", "--no-wait", dashboard).stdout.contains("\"Vase\""))
        let reader = try run(dashboard, "print(items.isReadOnly, pcall(function() items:createItem{} end))")
        #expect(reader.stdout.hasPrefix("true\tfalse\t"), "\(reader.stdout)\(reader.stderr)")
        #expect(reader.stdout.contains("may only read the collection"), "\(reader.stdout)")
        #expect(try program("shared", "status", server.url()).stdout.contains("its owner, anna, dashboard (reads)"))
        for words in [
            ["grant", "anna"], ["revoke", "dashboard"], ["trim", "--keep", "9"], ["hosts", "--forget", "desk"],
        ] {
            let denied = try program(["shared"] + words + [anna])
            #expect(
                denied.status == .exited(65) && denied.stderr.contains("name the owner"), "\(words): \(denied.stderr)")
        }
        #expect(
            try program("shared", "revoke", "anna", server.url()).stdout
                == "the collection home is not open to anna any more\n")
        #expect(try run(anna, "print(#items)").status == .exited(65))
        let again = try program("shared", "revoke", "anna", server.url())
        #expect(again.status == .exited(65) && again.stderr.contains("it is open to dashboard"), "\(again.stderr)")
        #expect(try program("shared", "grant", "nobody-here", server.url()).stderr.contains("does not exist"))
    }

    @Test("what is wrong with an address or behind it: the status, and what to do")
    func refusals() throws {
        let table: [(url: String, status: Int32, text: String)] = [
            ("museum", 64, "postgres://host/database?collection=name"),
            ("postgres://a:secret@h/db", 64, "PGPASSFILE"),
            (server.url("unknown"), 65, "cubby shared init"),
            (server.url(database: "template1"), 65, "the database has no shared collections"),
            (server.url(folder: program.scratch.path), 74, "No such file or directory"),
            (server.url(user: "stranger"), 74, "stranger"),
        ]
        for (url, status, text) in table {
            for words in [["shared", "status", url], ["--shared", url, "-e", "print('ran')"]] {
                let output = try program(words)
                #expect(output.status == .exited(status), "\(words): \(output.stderr)")
                #expect(output.stderr.contains(text) && output.stdout.isEmpty, "\(words): \(output.stderr)")
            }
        }
        let memory = try program("--container", ":memory:", "--shared", server.url(), "-e", "1")
        #expect(memory.status == .exited(64))
    }

    @Test(
        "a container's items are pushed into a collection, and pulled into another container; doctor looks at the server"
    )
    func transfer() throws {
        #expect(
            try program("-e", "for n = 1, 1500 do items:createItem{ name = 'item ' .. n } end").status == .exited(0))
        let pushed = try program("--container", program.container, "shared", "push", server.url())
        #expect(
            pushed.stdout == "copied 1,500 items and 0 pictures; the collection has 1,500 items and 0 pictures\n",
            "\(pushed.stderr)")
        #expect(try program("shared", "push", server.url()).stdout.hasPrefix("copied 0 items"))
        let other = program.scratch.file("other")
        let pulled = try program("shared", "pull", "--container", other, server.url())
        #expect(
            pulled.stdout == "copied 1,500 items and 0 pictures; the collection has 1,500 items and 0 pictures\n",
            "\(pulled.stderr)")
        let listing = "for _, item in ipairs(items) do print(item.itemKey, item.name, item.dateCreated) end"
        #expect(try program("-e", listing).stdout == program("--container", other, "-e", listing).stdout)
        #expect(try host("desk", "items:removeItem(items[1])").status == .exited(0))
        let refused = try program("shared", "push", server.url())
        #expect(refused.status == .exited(65) && refused.stderr.contains("empty place"), "\(refused.stderr)")
        let doctor = try program("doctor", "--shared", server.url()).stdout
        #expect(doctor.contains("PostgreSQL 1") && doctor.contains("home, 1,499 items"), "\(doctor)")
    }

    @Test("items without a household's fields: made, declared, pushed, pulled, shared; other pairs are refused by name")
    func ownFields() throws {
        let books = server.url("books")
        let made = try program("shared", "init", "--own-fields", books)
        #expect(made.stdout.contains("made the collection books") && made.stdout.contains("cubby fields"))
        try program.scratch.write(
            "return { { name = 'title', kind = 'string', required = true }, { name = 'pages', kind = 'integer' } }",
            to: "fields.lua")
        let file = program.scratch.file("fields.lua")
        func run(_ container: String, _ words: String...) throws -> ProcessOutput {
            try program(["--container", program.scratch.file(container)] + words)
        }
        let denied = try program("fields", "--shared", books, "--only", file)
        #expect(denied.status == .exited(64) && denied.stderr.contains("--own-fields"), "\(denied.stderr)")
        // A host's own container has those of a household.
        let declared = try program("fields", "--container", program.scratch.file("desk"), "--shared", books, file)
        #expect(declared.status == .exited(0), "\(declared.stderr)")
        let names = declared.stdout.split(separator: "\n").dropFirst().compactMap { $0.split(separator: " ").first }
        #expect(names == ["itemKey", "title", "pages"], "\(declared.stdout)")
        #expect(
            try run("desk", "--shared", books, "-e", "items:createItem{ itemKey = 'k', title = 'Dune' }").status
                == .exited(0))
        #expect(
            try run("laptop", "--shared", books, "-e", "items[1].pages = 604 print(items[1], items[1].name)").stdout
                == "Dune\tnil\n")
        #expect(
            try run("desk", "--shared", books, "-e", "print(items[1].pages, #items[1]:fields())").stdout == "604\t2\n")
        #expect(try run("desk", "-e", "print(#items, items:createItem{}.valueInDollars)").stdout == "0\t0\n")
        // From there into a container that never had items, and into another collection.
        let copy = program.scratch.file("copy")
        #expect(try program("shared", "pull", "--container", copy, books).stdout.hasPrefix("copied 1 item"))
        #expect(try run("copy", "-e", "print(items[1], items[1].pages, #items[1]:fields())").stdout == "Dune\t604\t2\n")
        let others = server.url("others")
        #expect(try program("shared", "init", "--own-fields", others).status == .exited(0))
        #expect(try program("shared", "push", "--container", copy, others).stdout.hasPrefix("copied 1 item"))
        #expect(try program("shared", "status", others).stdout.contains("itemKey, and what is declared"))
        for (words, advice) in [
            (["push", "--container", copy, server.url()], "cubby shared init --own-fields"),
            (["pull", "--container", copy, server.url()], "a new container"),
            (["push", "--container", program.scratch.file("desk"), books], "without --own-fields"),
            (["pull", "--container", program.scratch.file("desk"), books], "--only is for a new container"),
        ] {
            let output = try program(["shared"] + words)
            #expect(output.status == .exited(64) && output.stderr.contains(advice), "\(words): \(output.stderr)")
        }
        #expect(try run("desk", "-e", "print(#items)").stdout == "1\n")
    }

    @Test("transfers between accounts by four hosts at once: the sum stays")
    func bank() async throws {
        #expect(
            try host("bank", "for n = 1, 6 do items:createItem{ itemKey = 'a' .. n, valueInDollars = 100 } end").status
                == .exited(0))
        let code = """
            local retries = 0
            for n = 1, 15 do
              items:transaction(function()
                retries = retries + 1
                local from, to = items:item("a" .. math.random(6)), items:item("a" .. math.random(6))
                local amount = math.random(10)
                from.valueInDollars = from.valueInDollars - amount
                to.valueInDollars = to.valueInDollars + amount
              end, { retries = 200 })
            end
            print(retries >= 15)
            """
        try await withThrowingTaskGroup(of: ProcessOutput.self) { group in
            for number in 0..<4 {
                let (program, url) = (program, server.url())
                group.addTask {
                    try program("--container", program.scratch.file("teller-\(number)"), "--shared", url, "-e", code)
                }
            }
            for try await output in group {
                #expect(output.status == .exited(0), "\(output.stderr)")
                #expect(output.stdout == "true\n")
            }
        }
        #expect(try host("bank", "print(#items, items:query():sum('valueInDollars'))").stdout == "6\t600\n")
    }

    @Test("at a prompt: others' changes are told, an outage is survived, a handler hears of both")
    func prompt() throws {
        let terminal = try program.terminal("--container", program.scratch.file("desk-1"), "--shared", server.url())
        try terminal.waitForPrompt()
        try terminal.sendLine("items:on('didCommit', function(e) print('heard', e.cause, e.host) end)")
        try terminal.expect("Hook(didCommit")
        #expect(try host("desk-2", "items:createItem{ name = 'Urn' }").status == .exited(0))
        try terminal.expect("1 change by desk-2")
        try terminal.expect("heard\tremote\tdesk-2")
        server.stop()
        try terminal.expect("the collection's server does not answer")
        try terminal.sendLine("items[1].name = 'lost'")
        try terminal.expect("changed when it is back")
        try terminal.sendLine("items[1].name .. tostring(items.isReadOnly) .. tostring(items.isConnected)")
        try terminal.expect("Urntruefalse")
        try server.start()
        try terminal.expect("the collection's server is back")
        try terminal.sendLine("items[1].name = 'Amphora'")
        try terminal.expect("heard\tscript")
        #expect(try host("desk-2", "print(items[1].name)").stdout == "Amphora\n")
    }

    /// A picture of some pixels, as Lua's text.
    private static let picture =
        "assert(image.fromData(data.fromBase64('R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=')))"

    @Test(
        "a picture that one host sets another has: by its item, as a thumbnail, in the gallery, and without the server")
    func pictures() throws {
        let set = "items:createItem{ name = 'Vase', itemKey = 'k' }.image = \(Self.picture)"
        #expect(try host("desk-1", set).status == .exited(0))
        let show = """
            items:on('didCommit', function(e) print('heard', e.cause, e.changes[1].field) end)
            print(items[1].image.width, images:thumbnail('k', 8).width, images:keys()[1], #items[1]:fields())
            """
        #expect(try host("desk-2", show).stdout == "1\t8\tk\t0\n")
        let caches = program.scratch.file("desk-2/Library/Caches")
        #expect(try FileManager.default.contentsOfDirectory(atPath: caches + "/Shared Images").count == 1)
        try FileManager.default.removeItem(atPath: caches)
        #expect(try host("desk-2", show).stdout == "1\t8\tk\t0\n")
        let page = try program(
            "gallery", "--container", program.scratch.file("desk-3"), "--shared", server.url(),
            program.scratch.file("page"))
        #expect(page.stdout.hasPrefix("1 item, 1 picture:"), "\(page.stdout)\(page.stderr)")
        let removed = try host("desk-1", "items:removeItem(items[1]) items:undo() print(#items)")
        #expect(removed.status == .exited(0) && removed.stdout == "1\n", "\(removed.stderr)")
        let terminal = try program.terminal("--container", program.scratch.file("desk-4"), "--shared", server.url())
        try terminal.waitForPrompt()
        try terminal.sendLine("items:item('k').name .. #images:keys()")
        try terminal.expect("Vase1")
        #expect(try host("desk-1", "items[1].image = nil").status == .exited(0))
        try terminal.expect("1 change by desk-1")
        try terminal.sendLine("tostring(items[1].image) .. #images:keys()")
        try terminal.expect("nil0")
        #expect(try host("desk-1", "items[1].image = \(Self.picture)").status == .exited(0))
        try terminal.expect("1 change by desk-1")
        server.stop()
        try terminal.expect("the collection's server does not answer")
        try terminal.sendLine("items[1].name .. select(2, images:image('k')).code")
        try terminal.expect("Vasedisconnected")
    }

    @Test("push and pull take pictures along, a second run those that are missing")
    func transferOfPictures() throws {
        let code = """
            for n = 1, 3 do items:createItem{ name = 'item ' .. n, itemKey = 'k' .. n } end
            items:item('k1').image = \(Self.picture)
            """
        #expect(try program("-e", code).status == .exited(0))
        let copied = "copied 3 items and 1 picture; the collection has 3 items and 1 picture\n"
        #expect(try program("shared", "push", server.url()).stdout == copied)
        #expect(try program("-e", "items:item('k3').image = \(Self.picture)").status == .exited(0))
        let again = "copied 0 items and 1 picture; the collection has 3 items and 2 pictures\n"
        #expect(try program("shared", "push", server.url()).stdout == again)
        let other = program.scratch.file("other")
        let pulled = try program("shared", "pull", "--container", other, server.url())
        #expect(
            pulled.stdout == "copied 3 items and 2 pictures; the collection has 3 items and 2 pictures\n",
            "\(pulled.stderr)")
        let listing = "for _, item in ipairs(items) do print(item.itemKey, item.image and #item.image:pngData()) end"
        let listed = try program("-e", listing).stdout
        #expect(listed.contains("k2\tnil"))
        #expect(try program("--container", other, "-e", listing).stdout == listed)
        #expect(try program("check", other).status == .exited(0))
    }
}
