import FoundationEssentials
import Items
import KeyedArchive
import Lua
import PropertyList
import Scripting

/// The relation between archives and Lua: the Foundation collection of each table, the classes of scripts, and the
/// archive memory of tables.
final class ArchiveBridge {
    let values: ValueBridge
    let items: LuaClass<Item>
    let foundation: LuaClass<FoundationBox>
    let classes: ScriptClasses
    var state: LuaState { values.state }

    private let kinds: LuaClass<TableKind>
    private let memories: LuaClass<ArchiveMemory>
    /// The kind of tables, by metatable, weakly.
    private let kindTable: LuaTable
    /// The archive memory, by table, weakly.
    private let memoryTable: LuaTable
    /// The keys with identity in order, by table, weakly. Lua's collector handles their references to the table.
    private let keyTable: LuaTable
    private var collections: NameTable<LuaTable> = [:]
    private let contains: LuaFunction
    /// `object.className`, `object.superclasses`, and `object.fields`, which is the object itself.
    private lazy var foreignIndex = state.makeFunction(
        LuaFunctionDeclaration("index", [LuaParameter("…", .variadic(.any))])
    ) { [unowned self] call in
        guard case .table(let table) = call.value(0), let kind = kind(of: table) else { return call.returnsNothing() }
        switch call.value(1).textValue {
        case "className": return call.returns(kind.archivedClass.name)
        case "fields": return call.returns(LuaValue.table(table))
        case "superclasses": return call.returns(array: kind.archivedClass.superclasses)
        default: return call.returns(LuaValue.nil)
        }
    }

    init(_ values: ValueBridge, items: LuaClass<Item>) {
        self.values = values
        self.items = items
        let state = values.state
        foundation = FoundationBinding.makeClass(values)
        kinds = LuaClass(hidden: "kind of table", in: state)
        memories = LuaClass(hidden: "memory of a table", in: state)
        kindTable = ValueBridge.weakTable(in: state)
        memoryTable = ValueBridge.weakTable(in: state)
        keyTable = ValueBridge.weakTable(in: state)
        contains = state.makeFunction(
            LuaFunctionDeclaration("contains", [LuaParameter("element", .any)]), owner: "set:", base: 2
        ) { call in
            guard case .table(let set)? = call.allValues.first else { return call.returns(false) }
            let element = call.value(0)
            var isFound = false
            try set.forEach { _, value in
                isFound = call.state.areEqual(value, element)
                return !isFound
            }
            return call.returns(isFound)
        }
        classes = ScriptClasses(state)
        classes.bridge = self
        values.objectClass = { [weak self] metatable in
            switch self?.kind(ofMetatable: metatable)?.form {
            case .instance(let found): found.name
            case .foreign(let found): found.name
            default: nil
            }
        }
    }

    // MARK: Kinds

    /// Sets the kind of the tables with a metatable.
    func setKind(_ form: TableKind.Form, ofMetatable metatable: LuaTable) {
        kindTable[.table(metatable)] = kinds.value(TableKind(form))
    }

    /// The kind of the tables with a metatable; nil for a foreign one.
    func kind(ofMetatable metatable: LuaTable) -> TableKind? { kinds.object(of: kindTable[.table(metatable)]) }

    /// The kind of a table; nil without one.
    func kind(of table: LuaTable) -> TableKind? { table.metatable.flatMap(kind(ofMetatable:)) }

    /// The metatable of a Foundation collection class, or of a "list" of references in a field; nil for other classes.
    func metatable(forCollection className: String) -> LuaTable? {
        if let known = collections[className] { return known }
        guard let form = Self.form(className) else { return nil }
        let metatable = makeMetatable(form, className)
        collections[className] = metatable
        return metatable
    }

    private func makeMetatable(_ form: TableKind.Form, _ name: String) -> LuaTable {
        let metatable = state.makeTable(["__name": name, "__metatable": false])
        let shape: ReadOnlyTable.Shape
        switch form {
        case .collection(.array, _), .list: shape = .array
        case .collection:
            shape = .set
            metatable["__index"] = .table(state.makeTable(["contains": contains]))
        default: shape = .dictionary
        }
        metatable[ReadOnlyTable.shapeKey] = .text(shape.rawValue)
        setKind(form, ofMetatable: metatable)
        return metatable
    }

    private static func form(_ className: String) -> TableKind.Form? {
        switch className {
        case "NSArray": .collection(.array, isMutable: false)
        case "NSMutableArray": .collection(.array, isMutable: true)
        case "NSSet": .collection(.set, isMutable: false)
        case "NSMutableSet": .collection(.set, isMutable: true)
        case "NSOrderedSet": .collection(.orderedSet, isMutable: false)
        case "NSMutableOrderedSet": .collection(.orderedSet, isMutable: true)
        case "NSCountedSet": .countedSet
        case "NSDictionary": .dictionary(isMutable: false)
        case "NSMutableDictionary": .dictionary(isMutable: true)
        case "list": .list
        default: nil
        }
    }

    /// The class names that `metatable(forCollection:)` supports.
    static let collectionNames = [
        "NSArray", "NSMutableArray", "NSDictionary", "NSMutableDictionary", "NSSet", "NSMutableSet", "NSCountedSet",
        "NSOrderedSet", "NSMutableOrderedSet",
    ]

    /// A metatable for the instances of an undeclared class.
    func makeMetatable(forForeign archivedClass: ArchivedClass) -> LuaTable {
        let metatable = state.makeTable([
            "__index": foreignIndex, "__name": archivedClass.name, "__metatable": false,
            "__tostring": classes.tostring,
        ])
        setKind(.foreign(archivedClass), ofMetatable: metatable)
        return metatable
    }

    // MARK: Memory

    func memory(of table: LuaTable) -> ArchiveMemory? { memories.object(of: memoryTable[.table(table)]) }

    func setMemory(_ memory: ArchiveMemory?, of table: LuaTable) {
        memoryTable[.table(table)] = memory.map { memories.value($0) } ?? .nil
    }

    /// The keys with identity that a table had in its archive.
    func referenceKeys(of table: LuaTable) -> LuaTable? {
        if case .table(let keys) = keyTable[.table(table)] { keys } else { nil }
    }

    /// Records a key with identity.
    func record(_ key: LuaValue, of table: LuaTable) -> ArchiveMemory.Place {
        let keys = referenceKeys(of: table) ?? state.makeTable()
        let position = Int64(keys.count + 1)
        keys[.integer(position)] = key
        if position == 1 { keyTable[.table(table)] = .table(keys) }
        return .reference(position)
    }

    // MARK: Names

    /// The class name of a value in archives; nil for a value that cannot be archived.
    func className(of value: LuaValue) -> String? {
        switch value {
        case .nil, .function, .thread: return nil
        case .boolean, .integer, .number: return "NSNumber"
        case .string: return "NSString"
        case .userdata:
            if values.dates.object(of: value) != nil { return "NSDate" }
            if let data = values.datas.object(of: value) { return data.mutable == nil ? "NSData" : "NSMutableData" }
            if values.nulls.object(of: value) != nil { return "NSNull" }
            if values.wideIntegers.object(of: value) != nil { return "NSNumber" }
            if let box = foundation.object(of: value) { return box.className }
            return items.object(of: value) == nil ? nil : ItemObject.archivedClass.name
        case .table(let table):
            if let kind = kind(of: table) { return kind.archivedClass.name }
            switch ReadOnlyTable.shape(of: table) {
            case .array: return "NSArray"
            case .set: return "NSSet"
            case .dictionary: return "NSDictionary"
            case nil: return table.count > 0 || table.isEmpty ? "NSArray" : "NSDictionary"
            }
        }
    }
}

extension LuaTable {
    /// Whether the table has no fields.
    var isEmpty: Bool {
        var isEmpty = true
        try? forEach { _, _ in
            isEmpty = false
            return false
        }
        return isEmpty
    }
}

/// The details of a table's archived form that Lua values cannot show: the order of keys, whether a number was an
/// object or inline, that a float had four bytes, that a string was mutable. Unchanged values are written back in this
/// form.
///
/// It is stored beside the table, under a weak key, and refers to no table.
final class ArchiveMemory {
    typealias Place = ValueBridge.Place

    /// The keys in the archive's order.
    var order: [Place] = []
    /// The original keys where the Lua value differs.
    var keys: [Place: ArchiveValue] = [:]
    /// The original values where the Lua value differs.
    var values: [Place: ArchivedObject.FieldValue] = [:]

    /// The memory for a copy of the table.
    func copy() -> ArchiveMemory {
        let copy = ArchiveMemory()
        copy.order = order
        copy.keys = keys
        copy.values = values.mapValues { value in
            guard case .object(.mutableString(let string)?) = value else { return value }
            return .object(.mutableString(ArchivedMutableString(string.text)))
        }
        return copy
    }
}

/// The archived kind of a table, determined by its metatable.
final class TableKind {
    enum Form {
        /// An array or a set with elements from 1.
        case collection(ArchivedCollection.Kind, isMutable: Bool)
        case dictionary(isMutable: Bool)
        /// The elements are keys, their counts are values.
        case countedSet
        /// A list of references stored inline in an object's field.
        case list
        /// An instance of an undeclared class.
        case foreign(ArchivedClass)
        /// An instance of a script's class.
        case instance(ScriptClass)
    }

    let form: Form

    init(_ form: Form) { self.form = form }

    /// The class in the archive.
    var archivedClass: ArchivedClass {
        switch form {
        case .collection(let kind, let isMutable): ArchivedCollection(kind, isMutable: isMutable).archivedClass
        case .dictionary(let isMutable): ArchivedDictionary(isMutable: isMutable).archivedClass
        case .countedSet: ArchivedCollection(.countedSet).archivedClass
        case .list: ArchivedCollection().archivedClass
        case .foreign(let archivedClass): archivedClass
        case .instance(let scriptClass): scriptClass.archivedClass
        }
    }
}

/// The contents of an archived table in a stable order: remembered keys first, then elements by position, names in byte
/// order, and the rest.
struct TableChildren {
    /// A key, its value, and its place in the table's memory.
    struct Child {
        let key: LuaValue
        let value: LuaValue
        let place: ArchiveMemory.Place?
    }

    private(set) var all: [Child] = []

    init(_ table: LuaTable, _ bridge: ArchiveBridge) {
        let order = bridge.memory(of: table)?.order ?? []
        let keys = bridge.referenceKeys(of: table)
        var seen: Set<ArchiveMemory.Place> = []
        let seenReferences = bridge.state.makeTable()
        for place in order where seen.insert(place).inserted {
            var key = place.lua
            if case .reference(let position) = place, let keys {
                key = keys[.integer(position)]
                seenReferences[key] = true
            }
            let value = key.isNil ? .nil : table[key]
            if !value.isNil { all.append(Child(key: key, value: value, place: place)) }
        }
        let count = table.count
        var rest: [(Rank, Child)] = []
        try? table.forEach { key, value in
            let place = ArchiveMemory.Place(key)
            let isKnown = place.map(seen.contains) ?? (keys != nil && !seenReferences[key].isNil)
            if !isKnown {
                rest.append((Rank(key, count: count, rest.count), Child(key: key, value: value, place: place)))
            }
            return true
        }
        all += rest.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// The sort position of a key.
    private struct Rank: Comparable {
        let group: Int
        let number: Double
        let text: [UInt8]

        init(_ key: LuaValue, count: Int, _ index: Int) {
            var bytes: [UInt8] = []
            switch key {
            case .integer(let position) where position >= 1 && position <= Int64(count):
                (group, number) = (0, Double(position))
            case .integer(let value): (group, number) = (1, Double(value))
            case .number(let value): (group, number) = (1, value)
            case .string(let string):
                (group, number) = (2, 0)
                bytes = string.bytes
            case .boolean(let value): (group, number) = (3, value ? 1 : 0)
            default: (group, number) = (4, Double(index))
            }
            text = bytes
        }

        static func < (a: Rank, b: Rank) -> Bool {
            if a.group != b.group { return a.group < b.group }
            if a.number != b.number { return a.number < b.number }
            return a.text.lexicographicallyPrecedes(b.text)
        }
    }
}

/// Constructors of Foundation's values in Lua: collections of a class, URLs, ranges, rectangles.
enum ArchiveValues {
    static func declare(on module: LuaModule, _ bridge: ArchiveBridge) {
        collections(module, bridge)
        geometry(module)
        module.function(
            "uuid", ["text": "the UUID's text (default: a new UUID)"], doc: "An NSUUID.",
            example: "return tostring(archiver.uuid(uuid()))"
        ) { (text: String?) in
            let text = text ?? UUIDModule.make()
            guard let uuid = UUID(uuidString: text) else {
                throw LuaMismatch("a UUID expected, got \"\(text)\"", argument: "text")
            }
            return FoundationBox(.value(.uuid(withUnsafeBytes(of: uuid.uuid) { Array($0) })))
        }
        module.function(
            "url", ["text": "the URL, or a URL relative to the base", "base": "the base URL"], doc: "An NSURL.",
            example: "return tostring(archiver.url(\"b\", archiver.url(\"http://a.org/\")))"
        ) { (text: String, base: FoundationBox?) in
            if let base {
                guard case .url(_, nil)? = base.foundation else {
                    throw LuaMismatch("an NSURL without a base of its own expected", argument: "base")
                }
            }
            return FoundationBox(.value(.url(text, base: base?.foundation)))
        }
        module.function(
            "decimal", ["digits": "decimal digits, with an optional point"],
            doc: "An NSDecimalNumber, exact to 38 digits.", example: "return tostring(archiver.decimal(\"12.50\"))"
        ) { (digits: String) in
            guard let decimal = ArchivedDecimal(text: digits) else {
                throw LuaMismatch("a decimal number of up to 38 digits expected", argument: "digits")
            }
            return FoundationBox(.value(.decimal(decimal)))
        }
    }

    private static func collections(_ module: LuaModule, _ bridge: ArchiveBridge) {
        module.function(
            "collection",
            [
                "className": .choice(ArchiveBridge.collectionNames, "the class name in archives"),
                "table": "elements from 1 on, or entries; a counted set's counts by element",
            ], doc: "Marks a table as a Foundation collection for archives. Returns the table.",
            example: "return archiver.className(archiver.collection(\"NSMutableArray\", { 1, 2 }))"
        ) { (className: String, table: LuaTable?) in
            let table = table ?? bridge.state.makeTable()
            let known = table.metatable
            guard known == nil || bridge.kind(of: table) != nil || ReadOnlyTable.shape(of: table) != nil,
                bridge.classes.scriptClass(known ?? table) == nil, try ReadOnlyTable.contents(of: .table(table)) == nil
            else { throw LuaMismatch("a table without a metatable of its own expected", argument: "table") }
            table.setMetatable(bridge.metatable(forCollection: className))
            return table
        }
        module.function(
            "object",
            [
                "className": "the class name in archives", "fields": "its fields by key",
                "superclasses": "its superclasses, nearest first (default: NSObject)",
            ], doc: "An object of an undeclared class, as in graphs.",
            example: "return archiver.object(\"Homepwner.Item\", { name = \"Bear\" }).className"
        ) { (name: String, fields: LuaTable?, superclasses: [String]?) in
            guard !name.isEmpty, name != "NSObject" else {
                throw LuaMismatch("a class's name expected", argument: "className")
            }
            let above = superclasses ?? []
            let object = bridge.state.makeTable()
            object.setMetatable(
                bridge.makeMetatable(
                    forForeign: ArchivedClass(name, superclasses: above.isEmpty ? ["NSObject"] : above)))
            try fields?.forEach { key, value in
                object[key] = value
                return true
            }
            return object
        }
    }

    private static func geometry(_ module: LuaModule) {
        module.function(
            "point", ["x": "the x coordinate", "y": "the y coordinate"], doc: "An NSValue of a point.",
            example: "return archiver.point(1, 2).x"
        ) { (x: Double, y: Double) in FoundationBox(.value(.point(x: x, y: y))) }
        module.function(
            "size", ["width": "the width", "height": "the height"], doc: "An NSValue of a size.",
            example: "return archiver.size(3, 4).height"
        ) { (width: Double, height: Double) in FoundationBox(.value(.size(width: width, height: height))) }
        module.function(
            "rect", ["x": "the origin's x", "y": "the origin's y", "width": "the width", "height": "the height"],
            doc: "An NSValue of a rectangle.", example: "return archiver.rect(1, 2, 3, 4).width"
        ) { (x: Double, y: Double, width: Double, height: Double) in
            FoundationBox(.value(.rect(x: x, y: y, width: width, height: height)))
        }
        module.function(
            "range", ["location": "the start", "length": "the length"], doc: "An NSValue of a range.",
            example: "return archiver.range(5, 2).length"
        ) { (location: Int64, length: Int64) in FoundationBox(.value(.range(location: location, length: length))) }
    }
}
