import Lua
import Scripting
import TestSupport
import Testing

/// Entries of attached prompts, without a prompt.
@Suite("Entries of attached prompts")
struct ScriptEntryTests {
    @Test("an entry whose prompt left while it was compiled ends at once, and the next one runs")
    func leftBefore() throws {
        let watchdog = Watchdog("an entry that nobody waits for")
        defer { watchdog.done() }
        let scratch = try TemporaryDirectory()
        let embedding = try Embedding(scratch.file("container"))
        embedding.host.launch()
        var ends: [String] = []
        func begin(_ source: String, isInterrupted: Bool) throws {
            let function = try embedding.host.state.load(Array(source.utf8), name: "=entry")
            let entry = ScriptEntry(number: 1, frontEnd: embedding.recorder) { isInterrupted }
            embedding.host.begin(function, as: entry) { result in
                switch result {
                case .success(let values):
                    ends.append(values.map { embedding.host.state.describe($0).description }.joined())
                case .failure(let error): ends.append("\(error.kind)")
                }
            }
        }
        try begin("while true do end", isInterrupted: true)
        try begin("return 1", isInterrupted: false)
        #expect(ends == ["cancelled", "1"])
        embedding.end()
    }
}
