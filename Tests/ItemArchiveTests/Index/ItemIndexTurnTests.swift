import Dispatch
import Foundation
import ItemsTestSupport
import Synchronization
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("The index that an opened archive lacks")
struct ItemIndexTurnTests {
    /// It is made by a thread, which may be late.
    @Test(.timeLimit(.minutes(5)))
    func theIndexOfASaveStays() throws {
        let folder = try StoreFolder()
        let first = try folder.open()
        for number in 0..<100 { try first.createItem(ItemFields(name: "Item \(number)")) }
        try first.saveChanges()

        let (isThere, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let isFirst = Mutex(true)
        let (caches, index) = (folder.caches, folder.index)
        let layer = FaultyFileLayer()
        layer.beforeOpening { path in
            guard path.hasPrefix(caches), path != index else { return }
            let isLate = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            guard isLate else { return }
            isThere.signal()
            goesOn.wait()
        }
        let store = try folder.open(layer, mapped: true)
        isThere.wait()
        try store.createItem(ItemFields(name: "new"))
        try store.saveChanges()
        let saved = try folder.read(index)
        goesOn.signal()
        while true {
            let names = try FileManager.default.contentsOfDirectory(atPath: caches)
            if names == ["items.index"], layer.openFiles <= 1 { break }
            Thread.sleep(forTimeInterval: 0.002)
        }
        #expect(try folder.read(index) == saved)
        let opened = try folder.open(isReadOnly: true, mapped: true)
        #expect(opened.columns.document.source != nil && opened.count == 101)
    }
}
