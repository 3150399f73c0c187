import KeyedArchive
import Lua
import Wording

// `archiver.class` and class names in archives.
extension ArchiverModule {
    func declareClasses(_ module: LuaModule) {
        module.function(
            "class",
            [
                "name": "the name in archives: `Foo`, or `Module.Foo`",
                "options": "its superclass, security and other names",
            ],
            "Declares a class: a table for the methods encode(coder), init(coder) and copy(); calling it creates an instance "
                + "with the fields of a table.",
            example:
                "local Foo = archiver.class(\"Foo\", { secure = true }) "
                + "function Foo:encode(coder) coder:encodeObject(self.name, \"name\") end "
                + "function Foo:init(coder) self.name = coder:decodeObject(\"name\") end "
                + "return archiver.unarchivedObject({ Foo }, archiver.archivedData(Foo{ name = \"James\" })).name"
        ) { [bridge] (name: String, options: ClassOptions) in
            try Self.checkName(name, "name")
            for alias in options.aliases { try Self.checkName(alias, "options") }
            guard
                let table = bridge.classes.declare(
                    name, aliases: options.aliases, isSecure: options.isSecure, superclass: options.superclass)
            else {
                throw LuaMismatch("option 'super': a class declared by archiver.class expected", argument: "options")
            }
            return table
        }
        module.function(
            "setClass", ["class": "a declared class; nil undoes it", "name": "the name in archives"],
            "Decodes instances of a class name as a declared class, in every archive opened from now on.",
            example: "archiver.setClass(archiver.class(\"Foo\"), \"Homepwner.Foo\")"
        ) { [bridge] (table: LuaTable?, name: String) in
            guard table.map({ bridge.classes.scriptClass($0) != nil }) ?? true else {
                throw LuaMismatch("a class declared by archiver.class expected", argument: "class")
            }
            bridge.classes.setClass(table, forName: name)
        }
        module.function(
            "setClassName",
            ["name": "the name to write; nil undoes it", "class": "a declared class, or a class's name"],
            "Writes the instances of a class under another name, in every archive begun from now on.",
            example: "archiver.setClassName(\"Homepwner.Foo\", archiver.class(\"Foo\"))"
        ) { [bridge] (name: String?, given: ClassArgument) in
            bridge.classes.setName(name, forClass: try given.name(bridge, argument: "class"))
        }
        module.function(
            "className", ["value": "any value"],
            "The class name of a value in archives; nil if it cannot be archived.",
            example: "return archiver.className({ 1, 2 })"
        ) { [bridge] (value: LuaValue) in bridge.className(of: value) }
    }

    /// Options of a class, such as its superclass and its other names.
    private struct ClassOptions: LuaOptions {
        var superclass: LuaTable?
        var isSecure: Bool?
        var aliases: [String] = []

        static var luaOptions: [LuaOption<ClassOptions>] {
            LuaOption("super", \.superclass, doc: "the superclass")
            LuaOption("secure", \.isSecure, doc: "whether it supports secure decoding (default: as its superclass)")
            LuaOption("aliases", \.aliases, doc: "other names of the class in archives")
        }
    }

    private static func checkName(_ name: String, _ argument: String) throws(LuaMismatch) {
        guard !name.isEmpty, name.utf8.count <= ArchiveLimits.standard.maximumClassNameBytes else {
            throw LuaMismatch("a class's name of 1 to 1024 bytes expected", argument: argument)
        }
        guard name != "NSObject", !KeyedUnarchiver.decodesItself(className: name) else {
            throw LuaMismatch("\(name) is Foundation's, and comes as a value of Lua's", argument: argument)
        }
    }

    /// The allowed classes of a call.
    ///
    /// An undeclared class may be allowed; its instances are inspectable objects. A name similar to a known class's is
    /// refused: the objects would lack that class's methods, or not be decoded at all.
    static func allowed(
        _ names: [String], _ argument: String, _ bridge: ArchiveBridge
    ) throws(LuaMismatch) -> AllowedClasses {
        let longest = ArchiveLimits.standard.maximumClassNameBytes
        guard names.allSatisfy({ $0.utf8.count <= longest }) else {
            throw LuaMismatch("a class's name has at most \(longest) bytes", argument: argument)
        }
        let known = bridge.classes.knownNames
        for name in names where !known.contains(name) {
            let nearest = NearestNames.nearest(to: name, among: known, countsBeginnings: false)
            guard !nearest.isEmpty else { continue }
            throw LuaMismatch(
                "no class '\(name)' is declared\(NearestNames.hint(for: name, among: known)) A class of one's own is "
                    + "declared by archiver.class", argument: argument)
        }
        do throws(ArchiveError) {
            return try AllowedClasses(names)
        } catch {
            throw LuaMismatch(error.message, argument: argument)
        }
    }
}
