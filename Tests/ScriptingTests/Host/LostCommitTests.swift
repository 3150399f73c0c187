import Application
import Foundation
import Items
import Lua
import Scripting
import SharedItems
import TestSupport
import Testing

/// Commits that the persistence refuses: whoever made the changes hears of it, or the log has it.
@Suite("Refused commits")
struct LostCommitTests {
    private let persistence = RefusingPersistence()
    private let embedding: Embedding
    private let scratch: TemporaryDirectory

    init() throws {
        scratch = try TemporaryDirectory()
        embedding = try Embedding(scratch.file("c")) { [persistence] in $0.persistence = { _ in persistence } }
        embedding.host.register("lose") { [persistence] in
            persistence.next = StoreError(.conflict, "others were first")
        }
        embedding.host.register("refuse") { [persistence] (refuses: Bool) in
            persistence.all = refuses ? StoreError(.inputOutput, "no room") : nil
        }
        embedding.host.launch()
        // Changes that the next commit loses.
        _ = embedding.run("function change() lose() items:createItem{ name = 'late' } end")
    }

    @Test(
        "a wait, and whatever else commits the changes of code, raises what has taken them back",
        arguments: [
            "timer.sleep(0)", "coroutine.wrap(function() timer.sleep(0) end)()", "app:run()", "app:pressHome()",
            "app:simulateMemoryWarning()", "timer.retry{ run = function() return 1 end }",
            "items:transaction(function() end)", "items:dryRun(function() end)", "items:undo()",
            "app:backup(app.container.tmp .. '/copy')", "async()",
        ])
    func waits(call: String) {
        embedding.host.register("async") { () async in }
        let text = embedding.run(
            """
            change()
            local hasWorked, problem = pcall(function() \(call) end)
            return hasWorked, problem.code, problem.message, #items
            """)
        #expect(text == "false conflict others were first 0")
        #expect(embedding.host.handlerFailureCount == 0)
        embedding.end()
    }

    @Test("a save and a synchronization return it, and a chunk ends with it")
    func returned() {
        for call in ["saveChanges", "synchronize"] {
            let text = embedding.run(
                "change() local done, problem = items:\(call)() return done, problem.code, #items")
            #expect(text == "nil conflict 0", "\(call)")
        }
        #expect(embedding.run("change()") == "error: others were first")
        #expect(embedding.run("local done = items:saveChanges() return done, #items") == "true 0")
        embedding.end()
    }

    @Test(
        "it is a failure of the handler or the timer whose changes are lost",
        arguments: [
            "app:on('user.event', change) app:emit('user.event')",
            "notifications:addObserver('n', change) notifications:post('n')",
            "app:on('didEnterBackground', change) app:pressHome()",
            "app:on('didBecomeActive', change) app:pressHome() app:open()",
            "app:on('willSave', change) items:createItem() items:saveChanges()",
            "app.delegate = { applicationDidEnterBackground = change } app:pressHome()",
            "timer.after(0, change) timer.sleep(0.05)",
            "timer.after(0, function() change() timer.sleep(0) end) timer.sleep(0.05)",
            "timer.after(0, function() coroutine.wrap(function() change() timer.sleep(0) end)() end) timer.sleep(0.05)",
        ])
    func handlers(code: String) {
        #expect(embedding.run(code).hasPrefix("error") == false)
        #expect(embedding.host.handlerFailureCount == 1)
        #expect(embedding.run("return app:errors()[1].message").contains("others were first"))
        #expect(embedding.recorder.errors.contains("others were first"))
        embedding.end()
    }

    @Test("code whose changes a handler's commit loses hears it at its own commit; handlers after it do not")
    func outerCode() {
        let text = embedding.run(
            """
            items:createItem{ itemKey = "k", name = "early" }
            timer.sleep(0)
            items:on("didUpdate", function(event) if event.new == "late" then lose() end end)
            app:on("user.event", function() items:createItem{ name = "kept" } end)
            items:item("k").name = "late"
            app:emit("user.event")
            """)
        #expect(text == "error: others were first")
        #expect(embedding.host.handlerFailureCount == 1)
        #expect(embedding.run("return #items, items:item('k').name") == "2 early")
        embedding.end()
    }

    @Test("a call that has lost its changes is tried again")
    func retried() {
        let text = embedding.run(
            """
            local function run(call) if call == 1 then change() else items:createItem() end return call end
            return timer.retry{ times = 2, delay = 0, run = run }, #items
            """)
        #expect(text == "2 1")
        embedding.end()
    }

    @Test("at the end of the application it is a failure, which the exit status has")
    func end() {
        _ = embedding.run("change() os.exit(0)")
        #expect(embedding.host.exitCode == 0 && embedding.host.handlerFailureCount == 1)
        #expect(embedding.recorder.errors.contains("error in the last changes: others were first"))
    }

    @Test("changes that stay for the next attempt are said once, and what made them goes on")
    func kept() {
        let text = embedding.run(
            """
            refuse(true)
            local every = timer.every(0.001, function() items:createItem() end)
            for _ = 1, 20 do timer.sleep(0.005) end
            every:cancel()
            refuse(false)
            return #items > 3
            """)
        #expect(text == "true")
        #expect(embedding.host.handlerFailureCount == 0)
        #expect(embedding.recorder.errors.components(separatedBy: "no room").count == 2)
        #expect(persistence.commits > 0)
        embedding.end()
    }
}

/// A host's part in a collection, with the server of each test's own.
@Suite(
    "A session with a shared collection", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"))
struct SharedSessionTests {
    private let server: PostgresServer
    private let address: SharedAddress

    init() throws {
        server = try PostgresServer()
        address = try SharedAddress(server.url())
        try SharedSchema.initialize(address)
    }

    @Test(
        "another host's earlier change of the same field is a conflict of what commits next",
        arguments: ["timer.sleep(0)", "assert(items:saveChanges())", "app:pressHome()"])
    func conflict(call: String) throws {
        let other = OtherHost(try ItemStore.open(SharedPersistence(address, hostName: "other")))
        try other.commit()
        let embedding = try Embedding(server.folder.file("c")) { [address] in
            $0.persistence = { _ in SharedPersistence(address, hostName: "scripts") }
        }
        embedding.host.register("others") { try other.commit() }
        embedding.host.launch()
        let text = embedding.run(
            """
            items[1].name = "late"
            others()
            local hasWorked, problem = pcall(function() \(call) end)
            return hasWorked, problem.code, items[1].name
            """)
        #expect(text == "false conflict early 2")
        embedding.end()
    }

    @Test("an outage is told as it is for this host: with a queue, changes are kept", arguments: [false, true])
    func outage(keepsCommits: Bool) throws {
        let folder = server.folder.file("copy")
        let embedding = try Embedding(server.folder.file("c")) { [address] in
            $0.persistence = { _ in
                SharedPersistence(address, hostName: "scripts", folder: folder, keepsCommits: keepsCommits)
            }
        }
        embedding.host.launch()
        server.stop()
        let end = ContinuousClock.now + .seconds(30)
        while embedding.host.items.isConnected, .now < end { embedding.host.loop.runOnce(timeout: 0.01) }
        #expect(embedding.run("return items.isReadOnly") == "\(!keepsCommits)")
        let errors = embedding.recorder.errors
        #expect(errors.contains("changes are kept here, and sent when it is back") == keepsCommits, "\(errors)")
        #expect(errors.contains("items can be read, and changed when it is back") == !keepsCommits, "\(errors)")
        embedding.end()
    }
}

/// Another host, which changes the first item's name.
private final class OtherHost: @unchecked Sendable {
    // Guard: the test's thread alone uses it.
    private let store: ItemStore
    private var count = 0

    init(_ store: ItemStore) { self.store = store }

    func commit() throws {
        count += 1
        if let item = store.allItems.first {
            try item.setName("early \(count)")
        } else {
            try store.createItem(ItemFields(name: "early \(count)"))
        }
        try store.commit()
    }
}

/// Keeps nothing, and refuses commits.
private final class RefusingPersistence: ItemPersistence, @unchecked Sendable {
    // Guard: the test's thread alone uses it.
    /// The error of the next commit.
    var next: StoreError?
    /// The error of all commits.
    var all: StoreError?
    private(set) var commits = 0
    let isReadOnly = false

    func load(into loader: ItemLoader) -> ItemLoadReport { ItemLoadReport() }

    func append(_ commit: borrowing ItemCommit, durable: Bool) throws(StoreError) -> ItemRevision {
        let error = next ?? all
        next = nil
        if let error { throw error }
        commits += 1
        return commit.revision.next
    }

    func synchronize() {}
}
