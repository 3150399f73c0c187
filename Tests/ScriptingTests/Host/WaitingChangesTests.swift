import Application
import Testing

@testable import Scripting

@Suite("Changes that wait for a watch's function")
struct WaitingChangesTests {
    private static func change(_ name: Int) -> FileChange { FileChange(kind: .created, path: "/\(name)") }

    @Test("those beyond the limit are one overflow with a reason; the next ones are kept when there is room")
    func limit() {
        var changes = WaitingChanges(limit: 3)
        changes.add((0..<5).map(Self.change), of: "/")
        changes.add([Self.change(5)], of: "/")
        #expect(changes.count == 4)
        #expect((0..<3).map { _ in changes.take()?.path } == ["/0", "/1", "/2"])
        changes.add([Self.change(6)], of: "/")
        let overflow = changes.take()
        #expect(overflow?.kind == .overflow && overflow?.reason?.contains("more than 3 changes wait") == true)
        #expect(changes.take()?.path == "/6")
        #expect(changes.take() == nil && changes.count == 0)
    }

    @Test("a function that is always behind leaves nothing of what it took")
    func taken() {
        var changes = WaitingChanges()
        var next = 0
        for round in 0..<5_000 {
            changes.add([Self.change(2 * round), Self.change(2 * round + 1)], of: "/")
            #expect(changes.take()?.path == "/\(next)")
            next += 1
        }
        #expect(changes.count == 5_000)
        while let change = changes.take() {
            #expect(change.path == "/\(next)")
            next += 1
        }
        #expect(next == 10_000)
    }
}
