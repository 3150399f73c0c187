import Application
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

    @Test("a handler that saves by itself before the save: one archive with everything, and no error")
    func aHandlerSaves() throws {
        let scratch = try TemporaryDirectory()
        let embedding = try Embedding(scratch.file("c"))
        embedding.host.launch()
        _ = embedding.run(
            """
            saves = {}
            app:on("didSave", function(event) saves[#saves + 1] = tostring(event.ok) .. " " .. event.items end)
            app:on("willSave", { once = true }, function()
              items:createItem{ name = "Shade" }
              inner = items:saveChanges()
            end)
            items:createItem{ name = "Lamp" }
            """)
        #expect(embedding.run("return items:saveChanges(), items.hasChanges") == "true false")
        #expect(embedding.run("return inner, table.concat(saves, ', ')") == "true true 2")
        _ = embedding.run("items:createItem() app:on('willSave', function() inner = items:saveChanges() end)")
        embedding.host.handle(.pressHome, cause: .sigtstp)
        #expect(embedding.run("return items.hasChanges, table.concat(saves, ', ')") == "false true 2, true 3")
        #expect(!embedding.recorder.errors.contains("Could not save"))
        embedding.end()
    }
}
