import Application
import Items
import Testing

@testable import REPL

@Suite("What others changed")
struct PeerChangesTests {
    private let loop: EventLoop

    init() throws { loop = try EventLoop() }

    /// The tally of a commit that creates items.
    private func created(_ count: Int) throws -> ItemCommitTally {
        let store = ItemStore()
        var tally = ItemCommitTally()
        store.commitCounter = { tally = $1 }
        for _ in 0..<count { _ = try store.createItem() }
        try store.commit()
        return tally
    }

    @Test("commits that follow each other are a line, each author's by itself; none while an entry runs")
    func merged() throws {
        var lines: [String] = []
        let peerChanges = PeerChanges(loop) { lines.append($0) }
        peerChanges.isQuiet = true
        peerChanges.add(try created(2), by: "the host")
        peerChanges.add(try created(1), by: "another prompt")
        peerChanges.add(try created(3), by: "the host")
        peerChanges.add(try created(0), by: "nobody")
        #expect(!loop.hasWork)
        peerChanges.isQuiet = false
        while lines.isEmpty { loop.runOnce() }
        #expect(lines == ["5 items created by the host · 1 item created by another prompt"])
        #expect(!loop.hasWork)
    }
}
