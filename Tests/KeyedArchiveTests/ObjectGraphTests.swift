import Foundation
import KeyedArchive
import PropertyList
import TestSupport
import Testing

/// A node that points anywhere.
final class Node: KeyedCoding, KeyedCopying {
    static let archivedClass = ArchivedClass("Node")

    var label: String
    var next: Node?
    var others: [Node] = []

    init(_ label: String, next: Node? = nil) {
        self.label = label
        self.next = next
    }

    func encode(with archiver: KeyedArchiver) throws(ArchiveError) {
        try archiver.encode(label, forKey: "label")
        try archiver.encode(next, forKey: "next")
        try archiver.encode(others, forKey: "others")
    }

    init(coder: KeyedUnarchiver) throws(ArchiveError) {
        label = ""
        coder.adopt(self)
        label = try coder.decodeString(forKey: "label") ?? ""
        next = try coder.decodeObject(of: Node.self, forKey: "next")
        others = (try coder.decodeArray(forKey: "others") ?? []).compactMap {
            if case .object(let object) = $0 { object as? Node } else { nil }
        }
    }

    func copy(with copier: KeyedCopier) throws(ArchiveError) -> Self {
        let copy = Self(label)
        copier.adopt(copy, for: self)
        copy.next = try next.map { (node) throws(ArchiveError) in try copier.copy(node) }
        for other in others { copy.others.append(try copier.copy(other)) }
        return copy
    }

    private init(_ label: String) {
        self.label = label
    }

    /// Breaks the rings that go through this node: nobody else would.
    func cut() {
        next = nil
        others = []
    }
}

/// What holds a list of its kind.
private final class Nest: KeyedCoding {
    static let archivedClass = ArchivedClass("Nest")
    static let supportsSecureCoding = true
    let parts: [Nest]

    init(_ parts: [Nest]) { self.parts = parts }

    func encode(with archiver: KeyedArchiver) throws(ArchiveError) { try archiver.encode(parts, forKey: "parts") }

    init(coder: KeyedUnarchiver) throws(ArchiveError) {
        parts = try coder.decodeArrayOfObjects(of: Nest.self, forKey: "parts") ?? []
    }
}

@Suite("Object graphs")
struct ObjectGraphTests {
    @Test("objects that nest deeper than a thread's stack allows are an error", arguments: [512, 2048])
    func stack(kilobytes: Int) {
        OwnThread.run(stackSize: 64 << 20) {
            var nest = Nest([])
            for _ in 0..<510 { nest = Nest([nest]) }
            let whole = nest
            let bytes = try? KeyedArchiver.archivedData(withRootObject: whole, requiringSecureCoding: true)
            #expect(bytes != nil)
            OwnThread.run(stackSize: kilobytes << 10) {
                #expect(throws: ArchiveError.self) {
                    _ = try KeyedUnarchiver.unarchivedObject(of: Nest.self, from: bytes ?? [])
                }
            }
        }
    }

    func roundTrip(_ node: Node, format: PropertyListFormat = .binary) throws -> Node {
        let bytes = try KeyedArchiver.archivedData(withRootObject: node, format: format)
        let unarchiver = try KeyedUnarchiver(bytes)
        return try #require(try unarchiver.decodeObject(of: Node.self, forKey: "root"))
    }

    @Test("a shared object is written once and comes back shared", arguments: [PropertyListFormat.binary, .xml])
    func shared(_ format: PropertyListFormat) throws {
        let shared = Node("shared")
        let root = Node("root", next: shared)
        root.others = [shared, Node("other"), shared]
        let back = try roundTrip(root, format: format)
        #expect(back.next === back.others[0])
        #expect(back.others[0] === back.others[2])
        #expect(back.others[1] !== back.others[0])
        #expect(back.next?.label == "shared")
    }

    @Test("distinct equal objects stay distinct")
    func distinct() throws {
        let root = Node("root")
        root.others = [Node("same"), Node("same")]
        let back = try roundTrip(root)
        #expect(back.others[0] !== back.others[1])
    }

    @Test("cycles")
    func cycles() throws {
        let root = Node("a")
        root.next = Node("b", next: root)
        root.others = [root]
        let back = try roundTrip(root)
        #expect(back.next?.next === back)
        #expect(back.others[0] === back)
        for node in [root, back] { node.cut() }
    }

    @Test("a cycle through collections alone")
    func collectionCycle() throws {
        let array = ArchivedCollection(.array, isMutable: true)
        array.elements = [.collection(array), .string("x"), nil]
        let bytes = try KeyedArchiver.archivedData(withRootObject: .collection(array))
        guard case .collection(let back)? = try KeyedUnarchiver(bytes).decodeRootObject() else {
            Issue.record("no array")
            return
        }
        #expect(back.isMutable)
        #expect(back.elements.count == 3)
        #expect(back.elements[0]?.identity === back)
        #expect(back.elements[2] == nil)
        array.elements = []
        back.elements = []
    }

    @Test("graphs deeper than any stack are written; reading them into nested inits is a clean error")
    func deep() throws {
        var list = Node("last")
        for index in 0..<20_000 { list = Node("\(index)", next: list) }
        let bytes = try KeyedArchiver.archivedData(withRootObject: list)
        #expect(throws: ArchiveError.self) { try KeyedUnarchiver(bytes).decodeObject(of: Node.self, forKey: "root") }
        let graph = try ArchiveGraph(bytes)
        #expect(graph.objects().count == 40_002)
        // A long chain is taken apart link by link, or its end would need a deep stack.
        while let next = list.next {
            list.next = nil
            list = next
        }
    }

    @Test("conditional references", arguments: [true, false], [true, false])
    func conditional(isFirst: Bool, isOwned: Bool) throws {
        let owner = Item("owner")
        let item = Item("item")
        item.owner = owner
        let archiver = KeyedArchiver()
        if isFirst { try archiver.encode(item, forKey: "item") }
        if isOwned { try archiver.encode(owner, forKey: "owner") }
        if !isFirst { try archiver.encode(item, forKey: "item") }
        let unarchiver = try KeyedUnarchiver(try archiver.finishEncoding())
        let back = try #require(try unarchiver.decodeObject(of: Item.self, forKey: "item"))
        let backOwner = try unarchiver.decodeObject(of: Item.self, forKey: "owner")
        #expect((backOwner != nil) == isOwned)
        #expect(back.owner === backOwner)
    }

    @Test("the archive for a conditional reference has $null in its slot")
    func placeholder() throws {
        let item = Item("item")
        let owner = Item("owner")
        item.owner = owner
        let bytes = try KeyedArchiver.archivedData(withRootObject: item)
        guard case .dictionary(let root) = try PropertyListValue(decoding: bytes),
            case .array(let objects) = root["$objects"]
        else {
            Issue.record("no archive")
            return
        }
        #expect(objects.filter { $0 == .string("$null") }.count == 2)
        #expect(try KeyedUnarchiver(bytes).decodeObject(of: Item.self, forKey: "root")?.owner == nil)
    }

    @Test("keys with $, and the string $null")
    func escapes() throws {
        let archiver = KeyedArchiver()
        try archiver.encode("one", forKey: "$esc")
        try archiver.encode("$null", forKey: "plain")
        try archiver.encode("unkeyed".isEmpty ? nil : ArchiveValue.string("unkeyed"))
        try archiver.encode("user", forKey: "$0")
        let bytes = try archiver.finishEncoding()
        let unarchiver = try KeyedUnarchiver(bytes)
        #expect(try unarchiver.decodeString(forKey: "$esc") == "one")
        #expect(try unarchiver.decodeString(forKey: "plain") == "$null")
        #expect(try unarchiver.decodeString(forKey: "$0") == "user")
        #expect(try unarchiver.decodeObject()?.stringValue == "unkeyed")
        let again = try ArchiveGraph.saved(bytes)
        #expect(try ArchiveGraph(again).dump() == ArchiveGraph(bytes).dump())
        #expect(try KeyedUnarchiver(again).decodeString(forKey: "$0") == "user")
    }

    @Test("a key cannot be used twice in one object, and may be in two")
    func duplicateKeys() throws {
        let archiver = KeyedArchiver()
        try archiver.encode(1, forKey: "a")
        #expect(throws: ArchiveError.self) { try archiver.encode(2, forKey: "a") }
        _ = try roundTrip(Node("x", next: Node("y")))
    }

    @Test("scalars keep their type and value")
    func scalars() throws {
        let archiver = KeyedArchiver()
        try archiver.encode(true, forKey: "bool")
        try archiver.encode(Int64.min, forKey: "int64")
        try archiver.encode(Int64(Int32.max), forKey: "int32")
        try archiver.encode(Float(1.5), forKey: "float")
        try archiver.encode(0.1, forKey: "double")
        try archiver.encodeBytes([1, 2, 3], forKey: "bytes")
        try archiver.encode(ArchiveValue.real(5), forKey: "real object")
        try archiver.encode(ArchiveValue.integer(5), forKey: "integer object")
        let unarchiver = try KeyedUnarchiver(try archiver.finishEncoding())
        #expect(try unarchiver.decodeBool(forKey: "bool"))
        #expect(try unarchiver.decodeInt64(forKey: "int64") == .min)
        #expect(try unarchiver.decodeInt32(forKey: "int32") == .max)
        #expect(try unarchiver.decodeFloat(forKey: "float") == 1.5)
        #expect(try unarchiver.decodeDouble(forKey: "double") == 0.1)
        #expect(try unarchiver.decodeBytes(forKey: "bytes") == [1, 2, 3])
        #expect(try unarchiver.decodeInteger(forKey: "integer object") == 5)
        guard case .real(5) = try unarchiver.decodeObject(forKey: "real object") else {
            Issue.record("5.0 became something else")
            return
        }
        #expect(try unarchiver.decodeInteger(forKey: "absent") == 0)
        #expect(!unarchiver.containsValue(forKey: "absent"))
        #expect(throws: ArchiveError.self) { try unarchiver.decodeInt32(forKey: "int64") }
    }

    @Test("with the policy to return, the first error stays and everything after it is nil")
    func policy() throws {
        let archiver = KeyedArchiver()
        try archiver.encode("text", forKey: "text")
        try archiver.encode(7, forKey: "number")
        let bytes = try archiver.finishEncoding()
        let unarchiver = try KeyedUnarchiver(bytes, failurePolicy: .setErrorAndReturn)
        #expect(try unarchiver.decodeInteger(forKey: "text") == 0)
        #expect(unarchiver.error?.code == .readCorrupt)
        #expect(try unarchiver.decodeInteger(forKey: "number") == 0)
        #expect(throws: ArchiveError.self) { try unarchiver.finishDecoding() }
    }

    @Test("class names are mapped both ways")
    func classNames() throws {
        let archiver = KeyedArchiver()
        archiver.setClassName("Homepwner.Item", forClass: "Item")
        try archiver.encode(Item("mapped"), forKey: "root")
        let bytes = try archiver.finishEncoding()
        guard case .unknown(let object)? = try KeyedUnarchiver(bytes).decodeRootObject() else {
            Issue.record("the class is known")
            return
        }
        #expect(object.archivedClass.name == "Homepwner.Item")
        #expect(!object.archivedClass.listsSuperclasses)
        let unarchiver = try KeyedUnarchiver(bytes)
        unarchiver.setClass(Item.self, forClassName: "Homepwner.Item")
        #expect(try unarchiver.decodeObject(of: Item.self, forKey: "root")?.name == "mapped")
    }

    @Test("only allowed classes are decoded")
    func secure() throws {
        let array = ArchivedCollection(elements: [.object(Item("a")), .string("b")])
        let bytes = try KeyedArchiver.archivedData(withRootObject: .collection(array))
        let both = try AllowedClasses(["NSArray", "Item"])
        let value = try KeyedUnarchiver.unarchivedObject(ofClasses: both, classes: [Item.self], from: bytes)
        #expect(value?.elements?.count == 2)
        let arrayOnly = try AllowedClasses(["NSArray"])
        let error = #expect(throws: ArchiveError.self) {
            try KeyedUnarchiver.unarchivedObject(ofClasses: arrayOnly, classes: [Item.self], from: bytes)
        }
        #expect(error?.code == .readCorrupt)
        #expect(error?.message.contains("Item") == true)
        // Unknown classes, classes without secure coding, and the class of all classes are refused.
        #expect(throws: ArchiveError.self) { try KeyedUnarchiver.unarchivedObject(ofClasses: both, from: bytes) }
        let nodes = try KeyedArchiver.archivedData(withRootObject: Node("n"))
        #expect(throws: ArchiveError.self) { try KeyedUnarchiver.unarchivedObject(of: Node.self, from: nodes) }
        #expect(throws: ArchiveError.self) { try AllowedClasses(["NSObject"]) }
        #expect(throws: ArchiveError.self) {
            try KeyedArchiver.archivedData(withRootObject: Node("n"), requiringSecureCoding: true)
        }
        let mutable = ArchivedCollection(.array, isMutable: true, elements: [])
        let mutableBytes = try KeyedArchiver.archivedData(withRootObject: .collection(mutable))
        #expect(try KeyedUnarchiver.unarchivedObject(ofClasses: arrayOnly, from: mutableBytes) != nil)
        let text = try KeyedArchiver.archivedData(withRootObject: .string("x"))
        #expect(throws: ArchiveError.self) { try KeyedUnarchiver.unarchivedObject(ofClasses: arrayOnly, from: text) }
    }

    @Test("values without a key come back in order")
    func unkeyed() throws {
        let archiver = KeyedArchiver()
        try archiver.encode(.object(Item("root")))
        try archiver.encodeDataObject([1, 2])
        try archiver.encodeBytes([3])
        try archiver.encodeValues([.integer(-5), .single(1.5), .object(.string("text"))], ofObjCTypes: "if*")
        try archiver.encodeArray([.integer(1), .integer(2), .integer(3)], ofObjCType: "s")
        try archiver.encodePropertyList(.array([.integer(1)]))
        #expect(throws: ArchiveError.self) { try archiver.encodeValue(.integer(300), ofObjCType: "c") }
        let unarchiver = try KeyedUnarchiver(try archiver.finishEncoding(), classes: [Item.self])
        guard case .object(let object)? = try unarchiver.decodeObject() else {
            Issue.record("no item")
            return
        }
        #expect((object as? Item)?.name == "root")
        #expect(try unarchiver.decodeDataObject() == [1, 2])
        #expect(try unarchiver.decodeBytes() == [3])
        let values = try unarchiver.decodeValues(ofObjCTypes: "if*")
        guard case .integer(-5) = values[0], case .single(1.5) = values[1], case .object(.string("text")?) = values[2]
        else {
            Issue.record("\(values)")
            return
        }
        let array = try unarchiver.decodeArray(ofObjCType: "s", count: 3)
        #expect(array.count == 3)
        #expect(try unarchiver.decodePropertyList() == .array([.integer(1)]))
    }

    @Test("a deep copy shares nothing, and keeps what was shared among the copies")
    func copying() throws {
        let shared = Node("shared")
        let root = Node("root", next: shared)
        shared.next = root
        root.others = [shared]
        let copy = try root.copy()
        copy.next?.label = "changed"
        #expect(shared.label == "shared")
        #expect(copy.next === copy.others[0])
        #expect(copy.next?.next === copy)
        for node in [root, copy] { node.cut() }
    }

    @Test("property list values come back as they were")
    func propertyList() throws {
        let value = PropertyListValue.dictionary([
            "array": .array([.integer(1), .real(1), .boolean(true), .string("é"), .null]),
            "data": .data([0, 255]), "date": .date(PropertyListDate(secondsSinceReferenceDate: 0.1)),
            "wide": .wideInteger(Int128(UInt64.max)), "single": .single(0.5), "empty": .dictionary([:]),
        ])
        let archiver = KeyedArchiver()
        try archiver.encode(value, forKey: "root")
        let bytes = try archiver.finishEncoding()
        #expect(try KeyedUnarchiver(bytes).decodePropertyList(forKey: "root") == value)
        let reader = try KeyedArchiveReader(bytes)
        let root = try #require(try reader.rootUID())
        #expect(try reader.propertyListValue(at: root) == value)
    }

    static let values: [FoundationValue] = [
        .uuid(Array(0..<16)), .url("b", base: .url("http://a/", base: nil)), .point(x: 1, y: -2.5),
        .size(width: 3, height: 4), .rect(x: 1, y: 2, width: 3, height: 4.5), .range(location: 5, length: 6),
        .edgeInsets(top: 1, left: 2, bottom: 3, right: 4), .indexSet([], isMutable: false),
        .indexSet([3..<5], isMutable: true), .indexSet([3..<5, 300..<70000], isMutable: false), .indexPath([]),
        .indexPath([300]), .indexPath([1, 300, 2]), .timeZone(name: "UTC", data: [1]), .locale("en_US"),
        .regularExpression(pattern: "a+", options: 1), .affineTransform([1, 0, 0, 1, 5, 6]),
        .decimal(ArchivedDecimal(mantissa: 12345, exponent: -2, isNegative: true)), .decimal(.nan),
    ]

    @Test("Foundation's values come back as they were", arguments: values)
    func foundationValues(_ value: FoundationValue) throws {
        let bytes = try KeyedArchiver.archivedData(withRootObject: .value(value))
        guard case .value(let back)? = try KeyedUnarchiver(bytes).decodeRootObject() else {
            Issue.record("no value")
            return
        }
        #expect(back == value)
    }

    @Test("a zero with a sign is a zero, and not what is not a number: that is a sign without digits in an archive")
    func signedZero() throws {
        var zero = ArchivedDecimal(mantissa: 1, exponent: -2, isNegative: true)
        zero.mantissa = 0
        for decimal in [zero, try #require(ArchivedDecimal(text: "-0.00"))] {
            let bytes = try KeyedArchiver.archivedData(withRootObject: .value(.decimal(decimal)))
            guard case .value(let back)? = try KeyedUnarchiver(bytes).decodeRootObject() else {
                Issue.record("no value")
                continue
            }
            #expect(back == .decimal(ArchivedDecimal(mantissa: 0, exponent: -2)))
        }
    }
}
