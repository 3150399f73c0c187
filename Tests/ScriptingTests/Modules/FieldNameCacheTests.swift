import Items
import Testing

@testable import ItemBindings

@Suite("The cache of checked field names")
struct FieldNameCacheTests {
    private func found(_ cache: FieldNameCache, _ name: String) -> ItemField? {
        var name = name
        return name.withUTF8 { cache.field(UnsafeRawBufferPointer($0)) }
    }

    @Test("finds a name by its bytes, and no other that falls into the same place")
    func lookup() throws {
        var cache = FieldNameCache()
        let store = ItemStore()
        let names = ["room", "rome", "r", "", "größe", String(repeating: "x", count: 300)]
        #expect(names.allSatisfy { found(cache, $0) == nil })
        var fields: [String: ItemField] = [:]
        for number in 0..<500 {
            let name = "field \(number)"
            let field = try store.field(named: name)
            cache.insert(field, name)
            fields[name] = field
            #expect(found(cache, name) == field)
        }
        // A later name may take an earlier one's place; none is ever taken for another.
        for (name, field) in fields { #expect(found(cache, name).map { $0 == field } ?? true) }
        #expect(names.allSatisfy { found(cache, $0) == nil })
    }
}
