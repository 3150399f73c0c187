import KeyedArchive
import Lua

/// The classes declared by `archiver.class`, and their names in archives.
///
/// A class is a table: methods are its fields, and it is the metatable of its instances. A subclass inherits from its
/// superclass's table.
final class ScriptClasses {
    private let state: LuaState
    weak var bridge: ArchiveBridge?
    /// The class's table, by name in archives.
    private let named: LuaTable
    /// The names for writing instances, by class.
    private(set) var archivedNames: NameTable<String> = [:]
    /// Formats an instance; a class may have its own `__tostring`.
    private(set) lazy var tostring = makeToString()

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
        let metatable = state.makeTable(fields: 6)
        if let superclass {
            metatable["__index"] = .table(superclass)
            inherit(from: superclass, table)
        }
        metatable["__call"] = .function(construct)
        metatable["__name"] = "class"
        metatable["__tostring"] = .function(classToString)
        metatable["__metatable"] = false
        table.setMetatable(metatable)
        table["__index"] = .table(table)
        table["__name"] = .text(name)
        if table["__tostring"].isNil { table["__tostring"] = .function(tostring) }
        table["className"] = .text(name)
        table["super"] = superclass.map(LuaValue.table) ?? .nil
        let made = ScriptClass(
            name, aliases: aliases, isSecure: isSecure ?? above?.isSecure ?? false, superclass: above)
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

    /// The class with a name, and its table.
    func find(_ name: String) -> (ScriptClass, LuaTable)? {
        guard case .table(let table) = named[name], let found = scriptClass(table) else { return nil }
        return (found, table)
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
        Set(KeyedUnarchiver.ownClassNames + ["Item", "NSObject"]).union(all.map(\.0)).union(archivedNames.values)
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

    private var construct: LuaFunction {
        if let made = constructor { return made }
        let fields = LuaParameter("fields", .optional(.table), "its fields")
        let function = state.makeFunction(LuaFunctionDeclaration("class", [fields]), base: 2) { [unowned self] call in
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
        constructor = function
        return function
    }
    private var constructor: LuaFunction?

    private lazy var classToString = state.makeFunction(
        LuaFunctionDeclaration("tostring", [LuaParameter("class", .variadic(.any))])
    ) { [unowned self] call in
        guard case .table(let table) = call.value(0) else { return call.returnsNothing() }
        return call.returns("class \(scriptClass(table)?.name ?? "?")")
    }

    private func makeToString() -> LuaFunction {
        state.makeFunction(LuaFunctionDeclaration("tostring", [LuaParameter("object", .variadic(.any))])) {
            [unowned self] call in
            guard case .table(let table) = call.value(0), let bridge else { return call.returnsNothing() }
            var text = ObjectText(bridge)
            return call.returns(text.describe(table))
        }
    }
}
