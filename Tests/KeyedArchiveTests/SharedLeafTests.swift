import KeyedArchive
import PropertyList
import Testing

/// A long string that stands in very many places is in the file once. Who read it anew for each would not come to an end.
@Suite("Long leaves in many places", .timeLimit(.minutes(5)))
struct SharedLeafTests {
    private static let mentions = 50_000

    /// An array that holds one string of two megabytes again and again; in an archive, or in a plain property list.
    private static func file(keyed: Bool, missing: Int? = nil) throws -> [UInt8] {
        let writer = BinaryPropertyListWriter()
        let long = String(repeating: "Fluffy Bear ", count: 1 << 17)
        guard keyed else {
            let (root, references) = writer.array(count: mentions)
            let text = writer.string(long)
            let other = writer.string("other")
            for index in 0..<mentions {
                writer.setReference(index, in: references, to: index == missing ? other : text)
            }
            return try writer.finish(topObject: root)
        }
        let archiver = KeyedArchiver()
        var elements: [ArchiveValue?] = Array(repeating: .string("short"), count: mentions)
        if let missing { elements[missing] = .string("other") }
        try archiver.encode(.collection(ArchivedCollection(elements: elements)), forKey: KeyedArchiver.rootKey)
        // The leaf that all share becomes the long one.
        guard case .dictionary(var top) = try PropertyListValue(decoding: try archiver.finishEncoding()),
            case .array(var objects)? = top["$objects"]
        else { return [] }
        for index in objects.indices where objects[index] == .string("short") { objects[index] = .string(long) }
        top["$objects"] = .array(objects)
        return try PropertyListValue.dictionary(top).encoded(as: .binary)
    }

    @Test("are drawn and compared", arguments: [true, false])
    func shared(keyed: Bool) throws {
        let tree = try ArchiveTree(PropertyListStorage(try Self.file(keyed: keyed)))
        var lines = 0
        var characters = 0
        var drawing = TreeDrawing(tree)
        drawing.draw { line in
            lines += 1
            characters += line.reduce(0) { $0 + $1.text.utf8.count }
        }
        #expect(lines == Self.mentions + 1)
        #expect(characters < Self.mentions * 400)
        let other = try ArchiveTree(PropertyListStorage(try Self.file(keyed: keyed, missing: 7)))
        var difference = TreeDifference(tree, other)
        var changes = 0
        #expect(difference.compare { _ in changes += 1 } == false)
        #expect(changes == 1)
    }
}
