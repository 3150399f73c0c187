import Foundation
import KeyedArchive
import PropertyList
import Testing

/// Archives that outgrow references of two bytes, which an archiver begins with when it expects few objects.
@Suite("Width of references")
struct ReferenceWidthTests {
    /// One that holds references in two bytes as long as it can, and one that never does.
    static func bytes(_ encode: (KeyedArchiver) throws -> Void) throws -> (narrow: [UInt8], wide: [UInt8]) {
        let archivers = [KeyedArchiver(), KeyedArchiver(expectedObjects: 100_000)]
        let bytes = try archivers.map { archiver in
            try encode(archiver)
            return try archiver.finishEncoding()
        }
        return (bytes[0], bytes[1])
    }

    /// Two objects of the table each: a string and the reference to it.
    static func texts(_ count: Int) -> ArchiveValue {
        .collection(ArchivedCollection(elements: (0..<count).map { .string("text \($0)") }))
    }

    @Test(
        "however many objects there are, the bytes are those of references that were wide from the beginning",
        arguments: [
            0, 100, 120, 5000, 32_735, 32_749, 32_755, 32_757, 32_758, 32_759, 32_760, 32_761, 32_762, 32_764, 33_500,
        ])
    func sameBytes(_ count: Int) throws {
        let (narrow, wide) = try Self.bytes { archiver in
            try archiver.encode(Self.texts(count), forKey: "texts")
            // A class, a record and a list that may be the first to come too late.
            try archiver.encode(Item("one more"), forKey: "item")
            try archiver.encode(Self.texts(20), forKey: "again")
        }
        #expect(narrow == wide)
        #expect(!ArchiveCheck(narrow).hasErrors)
        let back = try KeyedUnarchiver(narrow)
        #expect(try back.decodeObject(forKey: "texts")?.elements?.count == count)
        #expect(try back.decodeObject(forKey: "again")?.elements?.compactMap { $0?.stringValue }.last == "text 19")
    }

    @Test("a record of more fields than there is room for, and a list of more references", arguments: [9_000, 21_000])
    func atOnce(_ count: Int) throws {
        let (narrow, wide) = try Self.bytes { archiver in
            let fields = (0..<count).map {
                ArchivedObject.Field(key: "key \($0)", value: .inline(.string("value \($0)")))
            }
            let object = ArchivedObject(ArchivedClass("Wide"), fields: fields)
            try archiver.encode(.unknown(object), forKey: "object")
            try archiver.encode(Self.texts(count), forKey: "texts")
        }
        #expect(narrow == wide)
        #expect(!ArchiveCheck(narrow).hasErrors)
    }

    @Test(
        "many values on top, so that the objects get other numbers than was expected", arguments: [2, 30, 200, 34_000])
    func manyOnTop(_ count: Int) throws {
        let (narrow, wide) = try Self.bytes { archiver in
            try archiver.encode(Self.texts(32_700), forKey: "texts")
            for index in 0..<count { try archiver.encode(index, forKey: "value \(index)") }
        }
        #expect(narrow == wide)
        let back = try KeyedUnarchiver(narrow)
        #expect(try back.decodeInteger(forKey: "value \(count - 1)") == count - 1)
        #expect(try back.decodeObject(forKey: "texts")?.elements?.count == 32_700)
    }

    @Test(
        "a tree in place whose containers are open when it happens",
        arguments: Array(stride(from: 32_690, through: 32_760, by: 7)))
    func inPlace(_ count: Int) throws {
        let tree = PropertyListValue.dictionary([
            "list": .array((0..<30).map { .array([.string("inner \($0)"), .real(Double($0) + 0.5)]) }),
            "set": .set((0..<30).map { .string("element \($0)") }),
        ])
        let (narrow, wide) = try Self.bytes { archiver in
            try archiver.encode(Self.texts(count), forKey: "texts")
            let field = ArchivedObject.Field(key: "tree", value: .inline(tree))
            try archiver.encode(.unknown(ArchivedObject(ArchivedClass("Tree"), fields: [field])), forKey: "object")
        }
        #expect(narrow == wide)
        #expect(!ArchiveCheck(narrow).hasErrors)
    }
}
