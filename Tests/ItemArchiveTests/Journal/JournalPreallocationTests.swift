import Items
import ItemsTestSupport
import TestSupport
import Testing

/// The zeros behind the records of a journal whose commits wait for the disk.
@Suite("Room in the journal")
struct JournalPreallocationTests {
    let folder: StoreFolder

    init() throws {
        folder = try StoreFolder()
    }

    private func add(_ names: String..., to store: ItemStore) throws {
        for name in names {
            try store.createItem(ItemFields(name: name))
            try store.commit()
        }
    }

    @Test("later commits are written into it, each by one write and one sync, and the file keeps its size")
    func commits() throws {
        let layer = FaultyFileLayer()
        let store = try folder.open(layer, durability: .power)
        try add("one", to: store)
        let size = try folder.read(folder.journal).count
        layer.arm(failAt: .max)
        try add("two", "three", to: store)
        #expect(layer.calls == ["write", "sync", "write", "sync"])
        #expect(try folder.read(folder.journal).count == size)
        let opened = try folder.open(isReadOnly: true)
        #expect(try opened.records == store.records)
        #expect(opened.loadReport.notices.isEmpty)
    }

    @Test("a commit that survives the process alone has none behind it, and goes where there is some")
    func process() throws {
        do {
            let store = try folder.open(durability: .process)
            try add("one", to: store)
            let size = try folder.read(folder.journal).count
            #expect(size < 200)
            try add("two", to: store)
            #expect(try folder.read(folder.journal).count < 2 * size)
        }
        do { try add("three", to: try folder.open(durability: .power)) }
        let size = try folder.read(folder.journal).count
        let store = try folder.open(durability: .process)
        #expect(store.loadReport.notices.isEmpty && store.count == 3)
        try add("four", to: store)
        #expect(try folder.read(folder.journal).count == size)
        #expect(try folder.open(isReadOnly: true).records == store.records)
    }

    @Test("a torn record in it is kept aside without the zeros, wherever it is torn")
    func torn() throws {
        do { try add("one", "two", to: try folder.open(durability: .power)) }
        let journal = try folder.read(folder.journal)
        let end = try #require(journal.lastIndex { $0 != 0 }) + 1
        let start = try journal.withUnsafeBytes { try JournalScan($0) }.records[1].offset
        for length in start..<end {
            let other = try StoreFolder()
            let torn = journal[..<length] + [UInt8](repeating: 0, count: journal.count - length)
            try other.write(Array(torn), other.journal)
            let store = try other.open(durability: .power)
            #expect(store.count == 1 || journal[length..<end].allSatisfy { $0 == 0 })
            for kept in store.loadReport.quarantinedFiles { #expect(try other.read(kept).count <= length - start) }
            #expect(store.loadReport.quarantinedFiles.isEmpty == !torn[start...].contains { $0 != 0 })
            try add("after", to: store)
            let again = try other.open(isReadOnly: true)
            #expect(try again.records == store.records && again.loadReport.notices.isEmpty)
        }
    }

    @Test("a commit that fails in it leaves nothing behind, and the next one goes on")
    func failure() throws {
        let layer = FaultyFileLayer()
        let store = try folder.open(layer, durability: .power)
        try add("one", to: store)
        for call in 1...2 {
            layer.arm(failAt: call)
            #expect(throws: StoreError.self) { try add("lost \(call)", to: store) }
            layer.disarm()
            #expect(try folder.open(isReadOnly: true).loadReport.notices.isEmpty)
        }
        try store.commit()
        try add("two", to: store)
        let opened = try folder.open(isReadOnly: true)
        #expect(try opened.records == store.records)
        #expect(opened.loadReport.notices.isEmpty)
    }

    @Test("what is committed while a save is under way goes to the next journal without it")
    func following() throws {
        let store = try folder.open(durability: .power)
        try add("one", to: store)
        let save = try #require(try store.beginSave())
        try add("two", to: store)
        try store.finish(save, save.write())
        #expect(try folder.read(folder.journal).count < 300)
        try add("three", to: store)
        #expect(try folder.open(isReadOnly: true).records == store.records)
    }
}
