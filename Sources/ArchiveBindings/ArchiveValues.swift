import FoundationEssentials
import KeyedArchive
import Lua
import Scripting

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
