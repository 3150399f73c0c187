import Items
import ItemsTestSupport
import PropertyList
import TestSupport
import Testing

/// Archives that are written while they are made.
@Suite("Large saves", .serialized)
struct LargeSaveTests {
    @Test("what a large save writes is what the store holds; where a call fails, the old archive stays")
    func largeSave() throws {
        let folder = try StoreFolder()
        let layer = FaultyFileLayer()
        let store = try folder.open(layer)
        let filler = String(repeating: "x", count: 100)
        for number in 0..<110_000 {
            var fields = ItemFields(
                name: "item \(number) \(filler)", valueInDollars: Int64(number), itemKey: "key \(number)")
            // So many objects that not all that is known of them is held in memory.
            for field in 0..<8 { fields.custom["field \(field)"] = .string("\(field) of \(number)") }
            try store.createItem(fields)
        }
        layer.arm(failAt: .max)
        #expect(try store.saveChanges())
        let calls = layer.calls
        // More than one piece, and scratch files.
        #expect(calls.count { $0.hasPrefix("write") } > 10, "\(calls)")
        #expect(calls.count { $0 == "open" } >= 6, "\(calls)")
        #expect(try folder.open(isReadOnly: true).records == store.records)
        let saved = try folder.read(folder.archive)

        try #require(store[7]).setName("changed")
        try store.commit()
        // The temporary file and the scratch file, while pieces are being written.
        let opens = calls.prefix { $0 != "read" }.indices.filter { calls[$0] == "open" }.map { $0 + 1 }
        for call in [calls.count * 2 / 3] + opens {
            layer.arm(failAt: call)
            let error = #expect(throws: StoreError.self, "call \(call) of \(calls)") { try store.saveChanges() }
            #expect(
                error?.path == folder.archive || error?.message.contains("items.") == true,
                "\(String(describing: error))")
            #expect(try folder.read(folder.archive) == saved)
        }
        layer.disarm()
        #expect(try store.saveChanges())
        #expect(try folder.open(isReadOnly: true).records == store.records)
        #expect(layer.openFiles <= 1)
        #expect(!layer.wasClosedWhileWriting)
        #expect(folder.names == ["items.archive", "items.journal"], "\(folder.names)")
    }
}
