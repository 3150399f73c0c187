import Items
import KeyedArchive
import Lua
import PropertyList
import Scripting

/// The classes declared by `archiver.class`, and their names in archives.
///
/// A class is a table: methods are its fields, and it is the metatable of its instances. A subclass inherits from its
/// superclass's table.
final class ScriptClasses {
    private let state: LuaState
    weak var bridge: ArchiveBridge?
    /// Says a hint in the log.
    var warn: (String) -> Void = { _ in }
    /// The class's table, by name in archives.
    private let named: LuaTable
    /// The names for writing instances, by class.
    private(set) var archivedNames: NameTable<String> = [:]
    /// Formats an instance; a class may have its own `__tostring`.
    private(set) lazy var tostring = state.makeFunction(
        LuaFunctionDeclaration("tostring", [LuaParameter("object", .variadic(.any))])
    ) { [unowned self] call in
        guard case .table(let table) = call.value(0), let bridge else { return call.returnsNothing() }
        var text = ObjectText(bridge)
        return call.returns(text.describe(table))
    }

    init(_ state: LuaState) {
        self.state = state
        named = state.makeTable()
    }

    // MARK: Declaring

    /// Declares a class.
    ///
    /// - Returns: its table.
    func declare(_ name: String, aliases: [String], isSecure: Bool?, superclass: LuaTable?) -> LuaTable? {
        var above: ScriptClass?
        if let superclass {
            guard let found = scriptClass(superclass) else { return nil }
            above = found
        }
        let table = state.makeTable(fields: 8)
        if let superclass { inherit(from: superclass, table) }
        table.setMetatable(
            state.makeTable([
                "__index": superclass, "__call": construct, "__name": "class", "__tostring": classToString,
                "__metatable": false,
            ]))
        table["__index"] = .table(table)
        table["__name"] = .text(name)
        if table["__tostring"].isNil { table["__tostring"] = .function(tostring) }
        table["className"] = .text(name)
        table["super"] = superclass.map(LuaValue.table) ?? .nil
        let made = ScriptClass(name, isSecure: isSecure ?? above?.isSecure ?? false, superclass: above)
        bridge?.setKind(.instance(made), ofMetatable: table)
        for each in [name] + aliases { setClass(table, forName: each) }
        return table
    }

    /// Lua looks up the operators of instances in their own class only.
    private func inherit(from superclass: LuaTable, _ table: LuaTable) {
        try? superclass.forEach { key, value in
            if let name = key.textValue, name.hasPrefix("__"), name != "__index", name != "__name" {
                table[key] = value
            }
            return true
        }
    }

    /// Decodes instances with a name in archives as a class; nil to undo.
    func setClass(_ table: LuaTable?, forName name: String) {
        named[name] = table.map(LuaValue.table) ?? .nil
    }

    /// Encodes instances of a class with another name; nil to undo.
    func setName(_ name: String?, forClass className: String) { archivedNames[className] = name }

    // MARK: Finding

    /// The class of a class's table; nil for another table.
    func scriptClass(_ table: LuaTable) -> ScriptClass? {
        guard case .instance(let found)? = bridge?.kind(ofMetatable: table)?.form else { return nil }
        return found
    }

    /// The classes by their names in archives.
    var all: [(String, ScriptClass, LuaTable)] {
        var found: [(String, ScriptClass, LuaTable)] = []
        try? named.forEach { key, value in
            if let name = key.textValue, case .table(let table) = value, let cls = scriptClass(table) {
                found.append((name, cls, table))
            }
            return true
        }
        return found
    }

    /// All known class names: Foundation's, declared ones, and names for writing.
    var knownNames: Set<String> {
        Set(KeyedUnarchiver.foundationClassNames + ["Item", "NSObject"]).union(all.map(\.0)).union(archivedNames.values)
    }

    // MARK: Instances

    /// An empty instance of a class.
    ///
    /// - Throws: `LuaError` when the class has a finalizer, which scripts cannot have.
    func makeInstance(of table: LuaTable) throws(LuaError) -> LuaTable {
        guard table["__gc"].isNil else {
            throw LuaError(.argument, "a class cannot have a finalizer: remove its __gc")
        }
        let instance = state.makeTable(fields: 4)
        instance.setMetatable(table)
        return instance
    }

    private lazy var construct = state.makeFunction(
        LuaFunctionDeclaration("class", [LuaParameter("fields", .optional(.table), "its fields")]), base: 2
    ) { [unowned self] call in
        guard case .table(let cls)? = call.allValues.first else { return call.returnsNothing() }
        let instance = try makeInstance(of: cls)
        if let given = try call.optional(0, call.table) {
            try given.forEach { key, value in
                instance[key] = value
                return true
            }
        }
        return call.returns(LuaValue.table(instance))
    }

    private lazy var classToString = state.makeFunction(
        LuaFunctionDeclaration("tostring", [LuaParameter("class", .variadic(.any))])
    ) { [unowned self] call in
        guard case .table(let table) = call.value(0) else { return call.returnsNothing() }
        return call.returns("class \(scriptClass(table)?.name ?? "?")")
    }
}

/// A class declared by `archiver.class`, without its Lua part: methods and instances.
final class ScriptClass {
    let name: String
    let isSecure: Bool
    let superclass: ScriptClass?
    /// The keys that its `encode` was seen to write.
    var keys = EncodedKeys()

    init(_ name: String, isSecure: Bool, superclass: ScriptClass?) {
        self.name = name
        self.isSecure = isSecure
        self.superclass = superclass
    }

    /// The class's description in archives.
    private(set) lazy var archivedClass: ArchivedClass = {
        var names: [String] = []
        var above = superclass
        while let next = above {
            names.append(next.name)
            above = next.superclass
        }
        return ArchivedClass(name, superclasses: names + ["NSObject"])
    }()
}

/// The keys that a class's `encode` was seen to write, for a hint at a misspelt one in its `init`.
struct EncodedKeys {
    private static let limit = 256

    private var encoded: NameSet = []
    private var hinted: NameSet = []

    mutating func record(_ key: String) { if encoded.count < Self.limit { encoded.insert(key) } }

    /// The hint at a key that an object does not have, once for each key: `encode` does not write it, and writes one like
    /// it, or only others, which are listed.
    mutating func hint(forAbsent key: String, of name: String) -> String? {
        guard !encoded.isEmpty, encoded.count < Self.limit, !encoded.contains(key), hinted.count < Self.limit
        else { return nil }
        guard hinted.insert(key).inserted else { return nil }
        var hint = NearestNames.hint(for: key, among: encoded)
        if hint.isEmpty {
            let known = encoded.sorted().prefix(8).map { "'\($0)'" }.joined(separator: ", ")
            hint = ": it writes \(known)\(encoded.count > 8 ? ", …" : "")"
        }
        return
            "\(name):init decodes '\(key)', which is not in the archive, and which \(name):encode does not write\(hint)"
    }
}

/// An instance of a script's class, during encoding or decoding.
final class ScriptObject: KeyedEncodable {
    let table: LuaTable
    let scriptClass: ScriptClass
    /// Calls the instance's `encode`; nil while decoding.
    private weak var encoder: ArchiveEncoder?

    init(_ table: LuaTable, _ scriptClass: ScriptClass, _ encoder: ArchiveEncoder? = nil) {
        self.table = table
        self.scriptClass = scriptClass
        self.encoder = encoder
    }

    var classForKeyedArchiver: ArchivedClass { scriptClass.archivedClass }
    var allowsSecureCoding: Bool { scriptClass.isSecure }

    func encode(with archiver: KeyedArchiver) throws(ArchiveError) {
        try encoder?.encode(self)
    }
}

/// An item of the store as an archived object, in the form of a new store's archive.
final class ItemObject: KeyedEncodable {
    static let archivedClass = ArchivedClass("Item")

    private let item: Item

    init(_ item: Item) { self.item = item }

    var classForKeyedArchiver: ArchivedClass { Self.archivedClass }
    var allowsSecureCoding: Bool { true }

    func encode(with archiver: KeyedArchiver) throws(ArchiveError) {
        let fields: ItemFields
        do {
            fields = try item.allFields
        } catch {
            throw ArchiveError(code: .invalidValue, message: error.message)
        }
        if item.store.schema.isHousehold { try encodeHousehold(fields, archiver) }
        try archiver.encode(fields.itemKey, forKey: "itemKey")
        for (name, value) in fields.carried.sorted(by: { $0.key < $1.key }) where value != .null {
            try archiver.encode(value, forKey: name)
        }
        for (name, value) in fields.custom.sorted(by: { $0.key < $1.key }) {
            try archiver.encode(value, forKey: name)
        }
    }

    private func encodeHousehold(_ fields: ItemFields, _ archiver: KeyedArchiver) throws(ArchiveError) {
        if fields.carried["name"] == nil { try archiver.encode(fields.name, forKey: "name") }
        if fields.carried["serialNumber"] == nil { try archiver.encode(fields.serialNumber, forKey: "serialNumber") }
        if fields.carried["valueInDollars"] == nil {
            try archiver.encode(fields.valueInDollars, forKey: "valueInDollars")
        }
        if fields.carried["dateCreated"] == nil { try archiver.encode(fields.dateCreated, forKey: "dateCreated") }
    }
}

/// An archived object in one line: `Foo { age = 40, name = "James" }`.
struct ObjectText {
    private let bridge: ArchiveBridge
    private var seen: Set<UnsafeRawPointer> = []

    private static let fieldLimit = 20
    private static let innerLimit = 6
    private static let depthLimit = 2
    private static let textLimit = 60

    init(_ bridge: ArchiveBridge) { self.bridge = bridge }

    /// The text of a table.
    mutating func describe(_ table: LuaTable) -> String { describe(table, depth: 0) }

    private mutating func describe(_ table: LuaTable, depth: Int) -> String {
        let kind = bridge.kind(of: table)
        let name = kind.map { "\($0.archivedClass.name) " } ?? ""
        guard let identity = table.identity, !seen.contains(identity), depth < Self.depthLimit else {
            return name + "{ … }"
        }
        seen.insert(identity)
        defer { seen.remove(identity) }
        let children = TableChildren(table, bridge).all
        var parts: [String] = []
        let limit = depth == 0 ? Self.fieldLimit : Self.innerLimit
        for child in children.prefix(limit) {
            let text = describe(child.value, depth: depth + 1)
            switch child.key {
            case .integer: parts.append(text)
            case .string(let key): parts.append("\(key) = \(text)")
            default: parts.append("[\(bridge.state.describe(child.key))] = \(text)")
            }
        }
        if children.count > limit { parts.append("…") }
        return parts.isEmpty ? name + "{}" : "\(name){ \(parts.joined(separator: ", ")) }"
    }

    private mutating func describe(_ value: LuaValue, depth: Int) -> String {
        switch value {
        case .table(let table):
            if let metatable = table.metatable, bridge.kind(ofMetatable: metatable) == nil,
                !metatable["__tostring"].isNil
            {
                return bridge.state.describe(value).description
            }
            return describe(table, depth: depth)
        case .string(let text):
            let shown = text.description
            return shown.count > Self.textLimit ? "\"\(shown.prefix(Self.textLimit))…\"" : "\"\(shown)\""
        case .number(let number): return LuaValueText.text(number)
        default: return bridge.state.describe(value).description
        }
    }
}
