import KeyedArchive
import PropertyList
import Testing

/// Every method of NSCoder's that the books name exists, and what goes in comes out.
@Suite("The coder's calls")
struct CoderTests {
    /// A call by its name in Objective-C, and what it is to give back.
    struct Call: Sendable, CustomTestStringConvertible {
        let name: String
        let encode: @Sendable (KeyedArchiver) throws -> Void
        let isRight: @Sendable (KeyedUnarchiver) throws -> Bool
        var testDescription: String { name }
    }

    private static var text: ArchiveValue { .string("text") }
    private static var list: ArchiveValue { .collection(ArchivedCollection(elements: [.integer(1)])) }
    private static let plist = PropertyListValue.array([.integer(1), .string("x")])

    static let calls: [Call] = [
        Call(name: "encodeObject:forKey:", encode: { try $0.encode(text, forKey: "k") }) {
            try $0.decodeObject(forKey: "k")?.stringValue == "text"
        },
        Call(name: "encodeConditionalObject:forKey:", encode: { try $0.encodeConditionalObject(list, forKey: "k") }) {
            try $0.containsValue(forKey: "k") && $0.decodeObject(forKey: "k") == nil
        },
        Call(name: "encodeBool:forKey:", encode: { try $0.encode(true, forKey: "k") }) {
            try $0.decodeBool(forKey: "k")
        },
        Call(name: "encodeInteger:forKey:", encode: { try $0.encode(Int.max, forKey: "k") }) {
            try $0.decodeInteger(forKey: "k") == .max
        },
        Call(name: "encodeInt32:forKey:", encode: { try $0.encode(Int64(Int32.min), forKey: "k") }) {
            try $0.decodeInt32(forKey: "k") == .min
        },
        Call(name: "encodeInt64:forKey:", encode: { try $0.encode(Int64.min, forKey: "k") }) {
            try $0.decodeInt64(forKey: "k") == .min
        },
        Call(name: "encodeFloat:forKey:", encode: { try $0.encode(Float(0.1), forKey: "k") }) {
            try $0.decodeFloat(forKey: "k") == 0.1
        },
        Call(name: "encodeDouble:forKey:", encode: { try $0.encode(0.1, forKey: "k") }) {
            try $0.decodeDouble(forKey: "k") == 0.1
        },
        Call(name: "encodeBytes:length:forKey:", encode: { try $0.encodeBytes([1, 2], forKey: "k") }) {
            try $0.decodeBytes(forKey: "k") == [1, 2]
        },
        Call(name: "encodePropertyList:forKey:", encode: { try $0.encode(plist, forKey: "k") }) {
            try $0.decodePropertyList(forKey: "k") == plist
        },
        Call(name: "decodeObjectOfClass:forKey:", encode: { try $0.encode(text, forKey: "k") }) {
            try $0.decodeObject(ofClasses: AllowedClasses(["NSString"]), forKey: "k")?.stringValue == "text"
        },
        Call(name: "decodeObjectOfClasses:forKey:", encode: { try $0.encode(list, forKey: "k") }) {
            try $0.decodeObject(ofClasses: AllowedClasses(["NSArray", "NSSet"]), forKey: "k")?.elements?.count == 1
        },
        Call(name: "encodeObject:", encode: { try $0.encode(text) }) { try $0.decodeObject()?.stringValue == "text" },
        Call(name: "encodeConditionalObject:", encode: { try $0.encodeConditionalObject(list) }) {
            try $0.decodeObject() == nil
        },
        Call(name: "encodeDataObject:", encode: { try $0.encodeDataObject([3]) }) { try $0.decodeDataObject() == [3] },
        Call(name: "encodeBytes:length:", encode: { try $0.encodeBytes([4]) }) { try $0.decodeBytes() == [4] },
        Call(name: "encodeValueOfObjCType:at:", encode: { try $0.encodeValue(.integer(-5), ofObjCType: "i") }) {
            if case .integer(-5) = try $0.decodeValue(ofObjCType: "i") { true } else { false }
        },
        Call(
            name: "encodeValuesOfObjCTypes:",
            encode: { try $0.encodeValues([.boolean(true), .real(2)], ofObjCTypes: "Bd") }
        ) {
            let values = try $0.decodeValues(ofObjCTypes: "Bd")
            if case .boolean(true) = values[0], case .real(2) = values[1] { return true }
            return false
        },
        Call(
            name: "encodeArrayOfObjCType:count:at:",
            encode: { try $0.encodeArray([.integer(1), .integer(2)], ofObjCType: "s") }
        ) {
            try $0.decodeArray(ofObjCType: "s", count: 2).count == 2
        },
        Call(name: "encodePropertyList:", encode: { try $0.encodePropertyList(plist) }) {
            try $0.decodePropertyList() == plist
        },
    ]

    @Test("gives back what it was given, binary and XML", arguments: calls, [PropertyListFormat.binary, .xml])
    func roundTrip(_ call: Call, _ format: PropertyListFormat) throws {
        let archiver = KeyedArchiver()
        archiver.outputFormat = format
        try call.encode(archiver)
        let unarchiver = try KeyedUnarchiver(try archiver.finishEncoding())
        #expect(try call.isRight(unarchiver))
        try unarchiver.finishDecoding()
        #expect(throws: ArchiveError.self) { try unarchiver.decodeObject(forKey: "k") }
    }

    @Test("an object that a call takes over from another has to pass its own list, with all it holds")
    func takenOver() throws {
        let shared = ArchivedCollection(elements: [.collection(ArchivedCollection(elements: [.object(Item("a"))]))])
        let archiver = KeyedArchiver()
        try archiver.encode(.collection(shared), forKey: "first")
        try archiver.encode(.collection(shared), forKey: "second")
        let bytes = try archiver.finishEncoding()
        let wide = try AllowedClasses(["NSArray", "Item"])
        let narrow = try AllowedClasses(["NSArray"])
        for (list, passes) in [(wide, true), (narrow, false)] {
            let unarchiver = try KeyedUnarchiver(bytes, classes: [Item.self], requiresSecureCoding: true)
            #expect(try unarchiver.decodeObject(ofClasses: wide, forKey: "first")?.elements?.count == 1)
            let second = Result { try unarchiver.decodeObject(ofClasses: list, forKey: "second") }
            #expect(((try? second.get()) != nil) == passes)
            if case .failure(let error as ArchiveError) = second { #expect(error.message.contains("Item")) }
        }
    }

    @Test("within an object's init, what was allowed for the object is allowed")
    func inherited() throws {
        let root = SecureFolder([.object(Item("inner"))])
        let bytes = try KeyedArchiver.archivedData(withRootObject: root, requiringSecureCoding: true)
        let classes: [any KeyedCoding.Type] = [SecureFolder.self, Item.self]
        let both = try AllowedClasses(["SecureFolder", "Item"])
        let back = try KeyedUnarchiver.unarchivedObject(ofClasses: both, classes: classes, from: bytes)
        guard case .object(let object)? = back, let folder = object as? SecureFolder else {
            Issue.record("no folder")
            return
        }
        #expect(folder.elements.count == 1)
        let one = try AllowedClasses(["SecureFolder"])
        #expect(throws: ArchiveError.self) {
            try KeyedUnarchiver.unarchivedObject(ofClasses: one, classes: classes, from: bytes)
        }
    }

    @Test("names are mapped for all archives, and for one before all")
    func globalNames() throws {
        KeyedArchiver.setClassName("Module.Renamed", forClass: "SecureFolder")
        KeyedUnarchiver.setClass(SecureFolder.self, forClassName: "Module.Renamed")
        defer {
            KeyedArchiver.setClassName(nil, forClass: "SecureFolder")
            KeyedUnarchiver.setClass(nil, forClassName: "Module.Renamed")
        }
        let bytes = try KeyedArchiver.archivedData(withRootObject: SecureFolder([]))
        #expect(try ArchiveGraph(bytes).root?.className == "Module.Renamed")
        guard case .object(let object)? = try KeyedUnarchiver(bytes).decodeRootObject() else {
            Issue.record("the class is unknown")
            return
        }
        #expect(object is SecureFolder)
        let archiver = KeyedArchiver()
        archiver.setClassName("Own", forClass: "SecureFolder")
        try archiver.encode(SecureFolder([]), forKey: "root")
        #expect(try ArchiveGraph(try archiver.finishEncoding()).root?.className == "Own")
    }

    @Test(
        "a decimal is read from its digits",
        arguments: ["0", "12.50", "-0.001", "+7", ".5", "99999999999999999999999999999999999999"])
    func decimals(_ text: String) throws {
        let decimal = try #require(ArchivedDecimal(text: text))
        let shown = text == "+7" ? "7" : text == ".5" ? "0.5" : text
        #expect(decimal.description == shown)
        let wrongs = ["", "-", ".", "1e5", "1.2.3", "x" + text, "1\u{301}", text + "٣", "--1"]
        for wrong in wrongs + [String(repeating: "9", count: 40)] {
            #expect(ArchivedDecimal(text: wrong) == nil, "\(wrong)")
        }
        // Of a text that is one character of any length only the beginning is looked at.
        #expect(ArchivedDecimal(text: "e" + String(repeating: "\u{301}\u{316}", count: 100_000)) == nil)
    }
}

/// A class that promises secure coding and decodes its elements without naming their classes.
final class SecureFolder: KeyedCoding {
    static let archivedClass = ArchivedClass("SecureFolder")
    static let supportsSecureCoding = true
    let elements: [ArchiveValue?]

    init(_ elements: [ArchiveValue?]) { self.elements = elements }

    func encode(with archiver: KeyedArchiver) throws(ArchiveError) {
        try archiver.encode(.collection(ArchivedCollection(elements: elements)), forKey: "elements")
    }

    init(coder: KeyedUnarchiver) throws(ArchiveError) {
        elements = try coder.decodeObject(forKey: "elements")?.elements ?? []
    }
}
