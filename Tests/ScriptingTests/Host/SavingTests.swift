import ColumnEngine
import Lua
import Scripting
import TestSupport
import Testing

@testable import Items

@Suite("Saving from scripts") struct SavingTests {
    /// What waits for a save goes on within its end: the snapshot has to be gone by then, or the first change of each
    /// column copies it.
    @Test func aSnapshotIsGoneWhenTheScriptThatSavedGoesOn() throws {
        let scratch = try TemporaryDirectory()
        let embedding = try Embedding(scratch.file("c"))
        let host = embedding.host
        host.launch()
        let declaration = LuaFunctionDeclaration("hasSnapshot", [])
        let hasSnapshot = host.state.makeFunction(declaration) { [items = host.items] call in
            call.returns(items.columns.hasSnapshot)
        }
        host.state.globals["hasSnapshot"] = .function(hasSnapshot)
        let script = """
            local seen = {}
            for round = 1, 20 do
              items:createItem{ name = "Lamp" }
              assert(items:saveChanges())
              seen[tostring(hasSnapshot())] = true
            end
            return tostring(next(seen)), next(seen, (next(seen)))
            """
        #expect(embedding.run(script) == "false nil")
        embedding.end()
    }
}
