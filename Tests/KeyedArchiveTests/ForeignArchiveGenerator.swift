import KeyedArchive
import PropertyList
import TestSupport

/// A keyed archive as another program writes it: counted sets, fields that Foundation's classes do not read, keys that are
/// not texts, archives in data, objects that nothing leads to.
struct ForeignArchive {
    enum Value {
        case inline(PropertyListValue)
        /// An object by its number; nil for nil.
        case object(Int?)
        case objects([Int])
        /// A list in place, and a dictionary.
        case list([Value])
        case dictionary([(key: String, value: Value)])
    }

    struct Field {
        var key: String
        var value: Value
    }

    struct Object {
        /// The leaf, if it is not an instance.
        var leaf: PropertyListValue?
        var className = ""
        var fields: [Field] = []
    }

    var objects: [Object] = []
    /// The superclasses of the classes, by name.
    var classes: [String: [String]] = [:]
    var top: [Field] = []
    var archiver = "NSKeyedArchiver"
    /// Texts that stand at one place each, and have to be seen in every view.
    var marks: [String] = []

    /// The bytes; each seed gives another order of objects, keys, entries and members.
    func encoded(seed: UInt64) throws -> [UInt8] {
        var random = TestGenerator(seed: seed)
        let writer = BinaryPropertyListWriter()
        let names = (classes.keys.sorted()).shuffled(using: &random)
        // The places of objects and class descriptions after nil.
        let places = (Array(1...(objects.count + names.count))).shuffled(using: &random)
        func uid(_ object: Int) -> UInt32 { UInt32(places[object]) }
        func uid(ofClass name: String) -> UInt32 { UInt32(places[objects.count + (names.firstIndex(of: name) ?? 0)]) }
        func dictionary(_ entries: [(key: String, value: UInt32)]) -> UInt32 {
            writer.dictionary(of: entries.map { (writer.string($0.key), $0.value) })
        }
        func value(_ part: Value) throws -> UInt32 {
            switch part {
            case .inline(let leaf): return try writer.add(leaf)
            case .object(let object): return writer.uid(object.map(uid) ?? 0)
            case .objects(let elements):
                let (list, references) = writer.array(count: elements.count)
                for (index, element) in elements.enumerated() {
                    writer.setReference(index, in: references, to: writer.uid(uid(element)))
                }
                return list
            case .list(let elements):
                return try elements.map { try value($0) }.withUnsafeBufferPointer { writer.array(of: $0) }
            case .dictionary(let entries):
                return dictionary(try entries.map { ($0.key, try value($0.value)) }.shuffled(using: &random))
            }
        }
        var entries: [Int: UInt32] = [0: writer.string("$null")]
        for (index, object) in objects.enumerated() {
            if let leaf = object.leaf {
                entries[places[index]] = try writer.add(leaf)
                continue
            }
            let fields = try reordered(object, &random).map { ($0.key, try value($0.value)) }
            entries[places[index]] = dictionary(
                (fields + [("$class", writer.uid(uid(ofClass: object.className)))]).shuffled(using: &random))
        }
        for name in names {
            entries[Int(uid(ofClass: name))] = dictionary([
                ("$classname", writer.string(name)),
                ("$classes", try writer.add(.array(([name] + (classes[name] ?? [])).map { .string($0) }))),
            ])
        }
        let (list, references) = writer.array(count: entries.count)
        for (place, number) in entries { writer.setReference(place, in: references, to: number) }
        let root = dictionary(
            ([
                ("$version", writer.integer(Int64(100_000))), ("$archiver", writer.string(archiver)),
                ("$top", dictionary((try top.map { ($0.key, try value($0.value)) }).shuffled(using: &random))),
                ("$objects", list),
            ]).shuffled(using: &random))
        return try writer.finish(topObject: root)
    }

    /// The fields of an instance with the members of a set, or the entries of a dictionary, in another order.
    private func reordered(_ object: Object, _ random: inout TestGenerator) -> [Field] {
        func list(_ key: String) -> [Int]? {
            for field in object.fields where field.key == key {
                if case .objects(let elements) = field.value { return elements }
            }
            return nil
        }
        var fields = object.fields
        func replace(_ key: String, _ elements: [Int]) {
            for index in fields.indices where fields[index].key == key { fields[index].value = .objects(elements) }
        }
        switch object.className {
        case "NSSet": replace("NS.objects", (list("NS.objects") ?? []).shuffled(using: &random))
        case "NSDictionary":
            let entries = (Array(zip(list("NS.keys") ?? [], list("NS.objects") ?? []))).shuffled(using: &random)
            replace("NS.keys", entries.map(\.0))
            replace("NS.objects", entries.map(\.1))
        case "NSCountedSet":
            let count = fields.count { $0.key.hasPrefix("NS.object") }
            let order = (Array(0..<count)).shuffled(using: &random)
            for index in fields.indices {
                for prefix in ["NS.object", "NS.count"] {
                    guard let place = Int(fields[index].key.dropFirst(prefix.count)),
                        fields[index].key.hasPrefix(prefix)
                    else { continue }
                    fields[index].key = "\(prefix)\(order[place])"
                    break
                }
            }
        default: break
        }
        return fields
    }
}

/// Makes archives, the same for each seed.
struct ForeignArchiveGenerator {
    private var values: ForeignValues
    private var archive = ForeignArchive()
    private let seed: UInt64

    init(seed: UInt64) {
        self.seed = seed
        values = ForeignValues(seed: seed)
    }

    private static let classes: [String: [String]] = [
        "NSArray": ["NSObject"], "NSSet": ["NSObject"], "NSCountedSet": ["NSMutableSet", "NSSet", "NSObject"],
        "NSDictionary": ["NSObject"], "NSDate": ["NSObject"], "NSUUID": ["NSObject"], "NSURL": ["NSObject"],
        "NSDecimalNumber": ["NSNumber", "NSValue", "NSObject"], "NSMutableString": ["NSString", "NSObject"],
        "NSData": ["NSObject"], "NSNull": ["NSObject"], "Foo": ["Base", "NSObject"], "Module.Bar": ["NSObject"],
    ]

    mutating func archive(objects count: Int, isInner: Bool = false) throws -> ForeignArchive {
        for _ in 0..<count { _ = try instance(isInner: isInner) }
        // Some stay without a reference; the others are at the top.
        let instances = archive.objects.indices.filter { archive.objects[$0].leaf == nil }
        let reached = instances.filter { _ in values.random.number(6) > 0 }
        archive.top = [
            .init(key: "root", value: .object(add("NSArray", [.init(key: "NS.objects", value: .objects(reached))]))),
            .init(key: mark("key"), value: .inline(.string(mark("top")))),
        ]
        for object in archive.objects where object.leaf == nil {
            archive.classes[object.className] = Self.classes[object.className]
        }
        return archive
    }

    private mutating func mark(_ kind: String) -> String {
        let mark = "\(kind) \(seed)x\(archive.marks.count)x"
        archive.marks.append(mark)
        return mark
    }

    private mutating func add(_ className: String, _ fields: [ForeignArchive.Field]) -> Int {
        archive.objects.append(.init(className: className, fields: fields))
        return archive.objects.count - 1
    }

    private mutating func leaf(_ value: PropertyListValue) -> Int {
        archive.objects.append(.init(leaf: value))
        return archive.objects.count - 1
    }

    private mutating func text() -> Int { leaf(.string(mark("text"))) }

    /// A scalar as a field has it.
    private mutating func scalar() -> PropertyListValue {
        while true {
            switch values.value(depth: 0) {
            case .date(let date): return .date(date)
            case .array, .set, .dictionary: continue
            case .string("$null"): continue
            case let value: return value
            }
        }
    }

    /// An object that is there, or a new leaf.
    private mutating func any() -> Int {
        archive.objects.isEmpty || values.random.number(2) == 0
            ? (values.random.number(2) == 0 ? text() : leaf(scalar())) : values.random.number(archive.objects.count)
    }

    /// A container within a field, with objects and other values.
    private mutating func inPlace(depth: Int) -> ForeignArchive.Value {
        let parts: [ForeignArchive.Value] = (0..<3).map { index in
            if index == 0, depth < 3 { return inPlace(depth: depth + 1) }
            return values.random.number(2) == 0 ? .object(any()) : .inline(scalar())
        }
        return values.random.number(2) == 0
            ? .list(parts) : .dictionary(parts.map { (mark("part"), $0) })
    }

    private mutating func instance(isInner: Bool) throws -> Int {
        func list(_ key: String, _ elements: [Int]) -> ForeignArchive.Field {
            .init(key: key, value: .objects(elements))
        }
        func inline(_ key: String, _ value: PropertyListValue) -> ForeignArchive.Field {
            .init(key: key, value: .inline(value))
        }
        var fields: [ForeignArchive.Field]
        let name: String
        switch values.random.number(12) {
        case 0: (name, fields) = ("NSArray", [list("NS.objects", (0..<3).map { _ in any() })])
        case 1: (name, fields) = ("NSSet", [list("NS.objects", (0..<3).map { _ in text() })])
        case 2:
            (name, fields) = ("NSCountedSet", [inline("NS.count", .integer(3))])
            for index in 0..<3 {
                fields.append(.init(key: "NS.object\(index)", value: .object(index == 0 ? text() : leaf(scalar()))))
                fields.append(inline("NS.count\(index)", .integer(Int64(1 + values.random.number(9)))))
            }
        case 3:
            let keys = [
                text(), leaf(.integer(Int64(values.random.number(1_000)))), leaf(.real(0.5)),
                leaf(.date(PropertyListDate(secondsSinceReferenceDate: values.seconds()))),
            ]
            (name, fields) = ("NSDictionary", [list("NS.keys", keys), list("NS.objects", keys.map { _ in any() })])
        case 4: (name, fields) = ("NSDate", [inline("NS.time", .real(values.seconds()))])
        case 5: (name, fields) = ("NSUUID", [inline("NS.uuidbytes", .data(bytes(16)))])
        case 6:
            (name, fields) = (
                "NSURL",
                [.init(key: "NS.base", value: .object(nil)), .init(key: "NS.relative", value: .object(text()))]
            )
        case 7:
            (name, fields) = (
                "NSDecimalNumber",
                [
                    inline("NS.exponent", .integer(Int64(values.random.number(9) - 6))),
                    inline("NS.length", .integer(2)),
                    inline("NS.negative", .boolean(values.random.number(2) == 0)), inline("NS.compact", .boolean(true)),
                    inline("NS.mantissa.bo", .integer(1)),
                    inline("NS.mantissa", .data([7] + bytes(3) + Array(repeating: 0, count: 12))),
                ]
            )
        case 8: (name, fields) = ("NSMutableString", [inline("NS.string", .string(mark("mutable")))])
        case 9 where !isInner:
            var generator = ForeignArchiveGenerator(seed: seed &* 31 &+ UInt64(archive.objects.count))
            let inner = try generator.archive(objects: 2, isInner: true)
            archive.marks += inner.marks.map { "embedded " + $0 }
            (name, fields) = ("NSData", [inline("NS.data", .data(try inner.encoded(seed: seed)))])
        default:
            name = values.pick(["Foo", "Module.Bar"])
            fields = [
                .init(key: mark("field"), value: .object(any())), inline("n", scalar()),
                .init(key: "$$odd", value: .object(any())),
                inline("bytes", .data(bytes(4))), .init(key: "parts", value: inPlace(depth: 0)),
            ]
        }
        // A field that the class does not read, as newer versions and other programs write them.
        if name.hasPrefix("NS"), values.random.number(2) == 0 {
            fields.append(
                .init(key: mark("extra"), value: values.random.number(2) == 0 ? .object(any()) : .inline(scalar())))
        }
        return add(name, fields)
    }

    private mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: values.random.next()) }
    }
}
