import Application
import Files
import Items
import Scripting
import TestSupport
import Testing

@Suite("The persistence of a host's choice")
struct PersistenceOptionTests {
    struct Failure: Error {}

    let scratch: TemporaryDirectory

    init() throws { scratch = try TemporaryDirectory() }

    @Test("items in memory, and all else in the container")
    func memory() throws {
        let persistence = Shared(MemoryPersistence(keepsCommits: true))
        for expected in ["1", "2"] {
            let embedding = try Embedding(scratch.file("c")) { $0.persistence = { _ in persistence.value } }
            embedding.host.launch()
            let script = "items:createItem{ name = 'Lamp' } defaults:set('k', 1) return items:saveChanges(), #items"
            #expect(embedding.run(script) == "true \(expected)")
            #expect(embedding.run("return items.archivePath") == "nil")
            embedding.end()
            #expect(embedding.host.saveFailure == nil)
        }
        #expect(persistence.value.commits.count == 2)
        #expect(scratch.names("c/Documents") == [])
        #expect(scratch.names("c/Library/Preferences").contains("cubby.plist"))
    }

    @Test("the container is opened and locked before it is asked, and its files are closed to scripts")
    func files() throws {
        let asked = Shared([(String, Bool)]())
        let embedding = try Embedding(scratch.file("c")) { options in
            options.persistence = { opened in
                asked.value.append((opened.container.path, FolderLock.holder(of: opened.container.path) != nil))
                #expect(opened.lock != nil && !opened.isReadOnly)
                try opened.files.makeDirectories(opened.container.documents + "/own", permissions: 0o700)
                return OwnFiles([opened.container.documents + "/own/items"])
            }
        }
        #expect(asked.value.map(\.0) == [embedding.host.container.path])
        #expect(asked.value.map(\.1) == [true])
        try scratch.write([1], to: "c/Documents/own/items")
        try scratch.write([1], to: "c/Documents/own/other")
        #expect(embedding.run("return io.open('\(scratch.file("c"))/Documents/own/items') == nil") == "true")
        #expect(embedding.run("return io.open('\(scratch.file("c"))/Documents/own/other') ~= nil") == "true")
        embedding.end()
    }

    @Test("what it throws, the host throws, and the container is free again")
    func failure() throws {
        #expect(throws: Failure.self) {
            try Embedding(scratch.file("c")) { $0.persistence = { _ in throw Failure() } }
        }
        try Embedding(scratch.file("c")).end()
    }
}

/// Something of one thread's, for a closure that may be sent.
private final class Shared<Value>: @unchecked Sendable {
    // Guard: the test's thread alone uses it.
    var value: Value
    init(_ value: Value) { self.value = value }
}

/// Keeps nothing, and says that it had files.
private final class OwnFiles: ItemPersistence {
    let closedPaths: [String]
    let isReadOnly = false

    init(_ closedPaths: [String]) { self.closedPaths = closedPaths }

    func load(into loader: ItemLoader) -> ItemLoadReport { ItemLoadReport() }
    func append(_ commit: borrowing ItemCommit, durable: Bool) -> ItemRevision { commit.revision.next }
    func synchronize() {}
}
