import KeyedArchive
import PropertyList

/// Does with untrusted bytes all that can be done with them.
package enum Exercise {
    /// A promise of the codec that was not kept.
    package struct Broken: Error, CustomStringConvertible {
        package let description: String

        init(_ description: String) { self.description = description }
    }

    /// Limits under which an input is worked through in a moment.
    private static let lists = PropertyListLimits(maximumDepth: 128, maximumValues: 1 << 14)
    private static let limits = ArchiveLimits(propertyList: lists, maximumDepth: 64, maximumValues: 1 << 14)

    package static func everything(_ bytes: [UInt8]) throws(Broken) {
        try values(bytes)
        try archive(bytes)
        try fields(bytes)
        try look(bytes)
        try json(bytes)
    }

    private static func values(_ bytes: [UInt8]) throws(Broken) {
        guard let value = try? PropertyListValue(decoding: bytes, limits: lists) else { return }
        if let binary = try? value.encoded(as: .binary) {
            guard let again = try? PropertyListValue(decoding: binary) else {
                throw Broken("what was written as binary is not read")
            }
            if !isSame(again, value) { throw Broken("what was written as binary reads as something else") }
        }
        if let xml = try? value.encoded(as: .xml) {
            guard (try? PropertyListValue(decoding: xml)) != nil else {
                throw Broken("what was written as XML is not read")
            }
        }
    }

    private static func archive(_ bytes: [UInt8]) throws(Broken) {
        guard let reader = try? KeyedArchiveReader(bytes, limits: limits, acceptsAnyArchiver: true) else { return }
        let unarchiver = KeyedUnarchiver(reader: reader, failurePolicy: .setErrorAndReturn)
        for key in unarchiver.keys { _ = try? unarchiver.decodeObject(forKey: key) }
        if let uid = try? reader.rootUID() { _ = try? reader.propertyListValue(at: uid) }
        guard let graph = try? ArchiveGraph(reader) else { return }
        let dump = graph.dump()
        if let saved = try? graph.encoded(as: .binary) {
            guard let again = try? ArchiveGraph(saved) else { throw Broken("what was saved is not read") }
            // An object that nothing refers to may be merged with its equal.
            if reachable(again.dump()) != reachable(dump) {
                throw Broken("what was saved reads as something else:\n\(dump)\n\(again.dump())")
            }
            again.dismantle()
        }
        _ = try? graph.encoded(as: .xml)
        graph.dismantle()
    }

    /// Reads each object as everything that it may be, one field at a time, in each way that an archive can be opened.
    package static func fields(_ bytes: [UInt8]) throws(Broken) {
        guard let list = try? BinaryPropertyListReader(bytes, limits: lists) else { return }
        let plain = ArchiveObjectTable(plain: list)
        let tables = [
            plain, try? ArchiveObjectTable(list), try? ArchiveObjectTable(list, isForgiving: true),
            ArchiveObjectTable(withoutRoot: list),
        ]
        for case let table? in tables {
            var archive = ArchiveObjectReader(table, limits: limits, isReadWhole: true)
            for number in 0..<min(list.objectCount, 64) { read(number, &archive) }
            for (_, value) in table.top { _ = try? archive.value(at: table.resolve(value)) }
        }
        var archive = ArchiveObjectReader(plain, limits: limits)
        guard let value = try? archive.value(at: list.topObject), let tree = try? list.value() else { return }
        if !isSame(value, tree) { throw Broken("a property list reads as something else one object at a time") }
    }

    private static func read(_ number: Int, _ archive: inout ArchiveObjectReader) {
        let table = archive.table
        _ = try? table.string(at: number)
        _ = try? table.data(at: number)
        _ = try? table.number(at: number)
        _ = try? table.date(at: number)
        _ = try? archive.value(at: number)
        guard let found = try? table.dictionary(at: number) else { return }
        _ = archive.describe(number)
        _ = try? archive.shape(of: found)
        for slot in 0..<min(found.count, 64) {
            _ = try? archive.date(at: slot, in: found)
            _ = try? table.string(at: table.value(at: slot, in: found))
        }
        guard let elements = try? archive.elements(of: found) else { return }
        var indexes: [UInt32] = []
        for index in 0..<min(elements.count, 64) {
            if (try? archive.element(index, of: elements)) != nil { indexes.append(UInt32(index)) }
        }
        indexes.withUnsafeBufferPointer { indexes in
            withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: indexes.count) { texts in
                for slot in 0..<3 { _ = archive.findTexts(of: indexes, in: elements, at: slot, into: texts) }
            }
        }
    }

    /// Draws, checks, compares and rescues.
    private static func look(_ bytes: [UInt8]) throws(Broken) {
        let check = ArchiveCheck(bytes, limits: limits)
        if let rescue = check.rescue {
            let again = ArchiveCheck(rescue.bytes)
            if again.hasErrors { throw Broken("what was rescued is damaged: \(again.findings)") }
        }
        guard let tree = try? ArchiveTree(PropertyListStorage(bytes), limits: limits) else { return }
        var lines = 0
        struct Enough: Error {}
        var drawing = TreeDrawing(tree)
        _ = try? drawing.draw { _ in
            lines += 1
            // A list that stands a thousand times in a file is drawn as often.
            if lines > 10_000 { throw Enough() }
        }
        guard lines <= 10_000 else { return }
        var writer = TreeJSON(tree)
        var json: [UInt8] = []
        _ = try? writer.write { json += $0 }
        let isJSON = json.withUnsafeBytes { (try? BinaryPropertyListReader(json: $0)) != nil }
        if !isJSON { throw Broken("the JSON of a tree is none: \(String(decoding: json, as: UTF8.self))") }
        try survey(tree)
        guard !check.hasErrors else { return }
        var difference = TreeDifference(tree, tree)
        let isSameAsItself = difference.compare { _ in }
        if !isSameAsItself { throw Broken("a tree differs from itself") }
    }

    /// What is done with each of many archives: classes are counted, a text is looked for, and its paths lead to it.
    private static func survey(_ tree: ArchiveTree) throws(Broken) {
        _ = tree.classCounts
        var wrong: String?
        var search = TreeSearch("e")
        try? search.run(in: tree) { hit in
            guard let path = try? TreePath(hit.path.description), let place = try? tree.place(at: path),
                place.tree === hit.tree,
                place.tree.objectNumber(of: place.node) == hit.tree.objectNumber(of: hit.node)
            else {
                wrong = hit.path.description
                return
            }
            _ = try TreeJSON.brief(hit.node, of: hit.tree)
        }
        if let wrong { throw Broken("the path \(wrong) leads to something else") }
    }

    private static func json(_ bytes: [UInt8]) throws(Broken) {
        if let reader = try? bytes.withUnsafeBytes({ (bytes) throws(PropertyListError) in
            try BinaryPropertyListReader(json: bytes, limits: lists)
        }) {
            _ = try? reader.json()
        }
        guard let reader = try? BinaryPropertyListReader(detecting: PropertyListStorage(bytes), limits: lists),
            let value = try? reader.value(), let json = try? reader.json()
        else { return }
        let again = json.withUnsafeBytes { try? BinaryPropertyListReader(json: $0).value() }
        guard let again else { throw Broken("what was written as JSON is not read") }
        if !isSame(again, value) { throw Broken("what was written as JSON reads as something else") }
    }

    private static func reachable(_ dump: String) -> [Substring] {
        Array(dump.split(separator: "\n").prefix { $0 != "unreferenced:" })
    }

    /// Equality that takes not-a-number for itself.
    private static func isSame(_ a: PropertyListValue, _ b: PropertyListValue) -> Bool {
        switch (a, b) {
        case (.real(let a), .real(let b)): a.bitPattern == b.bitPattern || a.isNaN && b.isNaN
        case (.single(let a), .single(let b)): a.bitPattern == b.bitPattern || a.isNaN && b.isNaN
        case (.array(let a), .array(let b)), (.set(let a), .set(let b)):
            a.count == b.count && zip(a, b).allSatisfy(isSame)
        case (.dictionary(let a), .dictionary(let b)):
            a.count == b.count && a.entries.allSatisfy { key, value in b[key].map { isSame(value, $0) } ?? false }
        default: a == b
        }
    }
}
