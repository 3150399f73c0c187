import Application
import Stores
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
        let filler = String(repeating: "x", count: 400)
        for number in 0..<50_000 {
            try store.createItem(
                ItemFields(name: "item \(number) \(filler)", valueInDollars: Int64(number), itemKey: "key \(number)"))
        }
        layer.arm(failAt: .max)
        #expect(try store.saveChanges())
        let calls = layer.calls
        // More than one piece, and scratch files.
        #expect(calls.count { $0.hasPrefix("write") } > 10, "\(calls)")
        #expect(try folder.open(isReadOnly: true).records == store.records)
        let saved = try folder.read(folder.archive)

        try #require(store[7]).setName("changed")
        try store.commit()
        for call in [3, calls.count / 2, calls.count * 2 / 3] {
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
        #expect(folder.names == ["items.archive", "items.journal"], "\(folder.names)")
    }
}
