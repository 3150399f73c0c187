import CPlatform
import ItemsTestSupport
import PredicateFormat
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("Columns of a mapped archive")
struct MaterialisingTests {
    private static let count = 20_000

    private func mappedStore(_ folder: StoreFolder) throws -> ItemStore {
        let store = try folder.open(mapped: true)
        try store.transaction {
            for number in 0..<Self.count {
                let item = try store.createItem(ItemFields(name: "n\(number)"))
                try item.setValue(.string("shelf \(number % 9)"), forField: "shelf")
            }
        }
        try store.saveChanges()
        return try folder.open(mapped: true)
    }

    @Test("reading a field of all items is given up when it has to stop, and begins anew at the next question")
    func interruption() throws {
        let folder = try StoreFolder()
        let store = try mappedStore(folder)
        try #require(store.columns.document.source != nil)
        let field = try #require(store.existingField(named: "shelf"))
        let predicate = try FormatPredicate(format: "shelf == 'shelf 3'")
        let former = cubby_watch_work(cubby_watch(is_stopped: { _ in 1 }, capacity: nil, context: nil))
        let error = #expect(throws: StoreError.self) { try store.query(predicate).count() }
        #expect(error?.cause is WorkStopped)
        _ = cubby_watch_work(former)
        #expect(store.columns.table.column(field) == nil)
        #expect(try store.query(predicate).count() == (Self.count + 5) / 9)
        #expect(store.columns.table.column(field)?.encoding == .codes)
    }

    @Test("a column that was read stays as it is until something changes")
    func viewsStay() throws {
        let folder = try StoreFolder()
        let store = try mappedStore(folder)
        let field = try #require(store.existingField(named: "shelf"))
        let first = try #require(store.columns.materialise(field)).encoding
        #expect(first == .codes)
        #expect(try #require(store.columns.materialise(field)).encoding == first)
    }
}
