import KeyedArchive
import Lua
import Wording

// `archiver.class` and class names in archives.
extension ArchiverModule {
    func declareClasses(_ module: LuaModule) {
        let options = [
            LuaParameter("super", .table, "the class above it"),
            LuaParameter("secure", .boolean, "it checks what it decodes; as the class above it if not given"),
            LuaParameter("aliases", .array(.text), "other names that archives know it by"),
        ]
        module.function(
            "class",
            [
                LuaParameter("name", .text, "as archives name it: `Foo`, or `Module.Foo`"),
                LuaParameter("options", .optional(.options(options)), "what it stands below, and its other names"),
            ], returns: [.table],
            "Declares a class: a table to which encode(coder), init(coder) and copy() are added; calling it makes an instance "
                + "with the fields of a table.",
            example:
                "local Foo = archiver.class(\"Foo\", { secure = true }) "
                + "function Foo:encode(coder) coder:encodeObject(self.name, \"name\") end "
                + "function Foo:init(coder) self.name = coder:decodeObject(\"name\") end "
                + "return archiver.unarchivedObject({ Foo }, archiver.archivedData(Foo{ name = \"James\" })).name"
        ) { [bridge] call in
            let name = try Self.checkedName(call.text(0), call, 0)
            var aliases: [String] = []
            if case .table(let table) = try call.option("aliases", of: 1) {
                for index in 1..<(table.count + 1) {
                    guard let alias = table[index].textValue else {
                        throw call.refuse(1, "option 'aliases': names expected")
                    }
                    aliases.append(try Self.checkedName(alias, call, 1))
                }
            }
            var isSecure: Bool?
            if case .boolean(let value) = try call.option("secure", of: 1) { isSecure = value }
            var superclass: LuaTable?
            if case .table(let table) = try call.option("super", of: 1) { superclass = table }
            guard
                let table = bridge.classes.declare(
                    name, aliases: aliases, isSecure: isSecure, superclass: superclass)
            else { throw call.refuse(1, "option 'super': a class declared by archiver.class expected") }
            return call.returns(LuaValue.table(table))
        }
        module.function(
            "setClass",
            [
                LuaParameter("class", .optional(.table), "a declared class; nil undoes it"),
                LuaParameter("name", .text, "the name that archives have"),
            ], "Decodes instances of a name as a class, in every archive that is opened from now on.",
            example: "archiver.setClass(archiver.class(\"Foo\"), \"Homepwner.Foo\")"
        ) { [bridge] call in
            let table = try call.optional(0, call.table)
            guard table.map({ bridge.classes.scriptClass($0) != nil }) ?? true else {
                throw call.refuse(0, "a class declared by archiver.class expected")
            }
            bridge.classes.setClass(table, forName: try call.text(1))
            return call.returnsNothing()
        }
        module.function(
            "setClassName",
            [
                LuaParameter("name", .optional(.text), "the name to write; nil undoes it"),
                LuaParameter("class", .union([.table, .text]), "a declared class, or a class's name"),
            ], "Writes the instances of a class under another name, in every archive that is begun from now on.",
            example: "archiver.setClassName(\"Homepwner.Foo\", archiver.class(\"Foo\"))"
        ) { [bridge] call in
            bridge.classes.setName(
                try call.optional(0, call.text), forClass: try Self.className(call, 1, bridge))
            return call.returnsNothing()
        }
        module.function(
            "className", [LuaParameter("value", .any, "any value")], returns: [.optional(.string)],
            "The class that an archive names for a value; nil for what cannot be archived.",
            example: "return archiver.className({ 1, 2 })"
        ) { [bridge] call in call.returns(bridge.className(of: call.value(0)).map(LuaValue.text) ?? .nil) }
    }

    private static func checkedName(_ name: String, _ call: LuaCall, _ position: Int) throws -> String {
        guard !name.isEmpty, name.utf8.count <= ArchiveLimits.standard.maximumClassNameBytes else {
            throw call.refuse(position, "a class's name of 1 to 1024 bytes expected")
        }
        guard name != "NSObject", !KeyedUnarchiver.decodesItself(className: name) else {
            throw call.refuse(position, "\(name) is Foundation's, and comes as a value of Lua's")
        }
        return name
    }

    /// The class name of an argument: a class's table or its name.
    static func className(_ call: LuaCall, _ position: Int, _ bridge: ArchiveBridge) throws -> String {
        try className(call.value(position), bridge)
            ?? { throw call.refuse(position, "a class declared by archiver.class, or a class's name expected") }()
    }

    private static func className(_ value: LuaValue, _ bridge: ArchiveBridge) -> String? {
        if case .table(let table) = value { return bridge.classes.scriptClass(table)?.name }
        return value.textValue
    }

    /// The class names of an argument: an array, or a single class.
    static func classNames(_ call: LuaCall, _ position: Int, _ bridge: ArchiveBridge) throws -> [String] {
        if let name = className(call.value(position), bridge) { return [name] }
        let table = try call.table(position)
        var names: [String] = []
        for index in 1..<(table.count + 1) {
            guard let name = className(table[index], bridge) else {
                throw call.refuse(
                    position, "[\(index)]: a class declared by archiver.class, or a class's name expected")
            }
            names.append(name)
        }
        guard !names.isEmpty else { throw call.refuse(position, "at least one class expected") }
        return names
    }

    /// The allowed classes of a call.
    ///
    /// An undeclared class may be allowed; its instances are inspectable objects. A name that is nearly a known class's
    /// is refused: the objects would lack that class's methods, or not be decoded at all.
    static func allowed(
        _ names: [String], _ call: LuaCall, _ position: Int, _ bridge: ArchiveBridge
    ) throws -> AllowedClasses {
        let known = bridge.classes.knownNames
        for name in names where !known.contains(name) {
            let nearest = NearestNames.nearest(to: name, among: known, countsBeginnings: false)
            guard !nearest.isEmpty else { continue }
            throw call.refuse(
                position,
                "no class '\(name)' is declared\(NearestNames.hint(for: name, among: known)) A class of one's own is "
                    + "declared by archiver.class")
        }
        do throws(ArchiveError) {
            return try AllowedClasses(names)
        } catch {
            throw call.refuse(position, error.message)
        }
    }
}
