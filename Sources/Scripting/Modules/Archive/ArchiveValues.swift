import FoundationEssentials
import KeyedArchive
import Lua

/// Constructors of Foundation's values in Lua: collections of a class, URLs, ranges, rectangles.
enum ArchiveValues {
    static func declare(on module: LuaModule, _ bridge: ArchiveBridge) {
        collections(module, bridge)
        geometry(module, bridge)
        func box(_ value: FoundationValue, _ call: LuaCall) -> LuaResults {
            call.returns(FoundationBox(.value(value)), bridge.foundation)
        }
        module.function(
            "uuid", [LuaParameter("text", .optional(.text), "as a UUID is written; a new one if not given")],
            returns: [.object("FoundationValue")], "An NSUUID.", example: "return tostring(archiver.uuid(uuid()))"
        ) { call in
            let text = try call.optional(0, call.text) ?? UUIDModule.make()
            guard let uuid = UUID(uuidString: text) else { throw call.refuse(0, "a UUID expected, got \"\(text)\"") }
            return box(.uuid(withUnsafeBytes(of: uuid.uuid) { Array($0) }), call)
        }
        module.function(
            "url",
            [
                LuaParameter("text", .text, "the URL, or its part below the base"),
                LuaParameter("base", .optional(.object("FoundationValue")), "the URL that it is based on"),
            ], returns: [.object("FoundationValue")], "An NSURL.",
            example: "return tostring(archiver.url(\"b\", archiver.url(\"http://a.org/\")))"
        ) { call in
            let base = try call.optional(1) { try call.object($0, bridge.foundation).foundation }
            if let base = base ?? nil, case .url(_, nil) = base { return box(.url(try call.text(0), base: base), call) }
            guard call.isNil(1) else { throw call.refuse(1, "an NSURL without a base of its own expected") }
            return box(.url(try call.text(0), base: nil), call)
        }
        module.function(
            "decimal", [LuaParameter("digits", .text, "decimal digits, with a point or without")],
            returns: [.object("FoundationValue")], "An NSDecimalNumber, exact to 38 digits.",
            example: "return tostring(archiver.decimal(\"12.50\"))"
        ) { call in
            guard let decimal = ArchivedDecimal(text: try call.text(0)) else {
                throw call.refuse(0, "a decimal number of up to 38 digits expected")
            }
            return box(.decimal(decimal), call)
        }
    }

    private static func collections(_ module: LuaModule, _ bridge: ArchiveBridge) {
        module.function(
            "collection",
            [
                LuaParameter("className", .choice(ArchiveBridge.collectionNames), "the class that an archive names"),
                LuaParameter(
                    "table", .optional(.table), "elements from 1 on, or entries; a counted set's counts by element"),
            ], returns: [.table], "Makes a table be one of Foundation's collections for archives; gives the table.",
            example: "return archiver.className(archiver.collection(\"NSMutableArray\", { 1, 2 }))"
        ) { call in
            let table = try call.optional(1, call.table) ?? call.state.makeTable()
            let known = table.metatable
            guard known == nil || bridge.kind(of: table) != nil || ReadOnlyTable.shape(of: table) != nil,
                bridge.classes.scriptClass(known ?? table) == nil, try ReadOnlyTable.contents(of: .table(table)) == nil
            else { throw call.refuse(1, "a table without a metatable of its own expected") }
            table.setMetatable(bridge.metatable(forCollection: try call.text(0)))
            return call.returns(LuaValue.table(table))
        }
        module.function(
            "object",
            [
                LuaParameter("className", .text, "as the archive names it"),
                LuaParameter("fields", .optional(.table), "its fields by key"),
                LuaParameter(
                    "superclasses", .optional(.array(.text)),
                    "the classes above it, nearest first; NSObject if not given"),
            ], returns: [.table], "An object of a class that nobody declared, as graphs have them.",
            example: "return archiver.object(\"Homepwner.Item\", { name = \"Bear\" }).className"
        ) { call in
            let name = try call.text(0)
            guard !name.isEmpty, name != "NSObject" else { throw call.refuse(0, "a class's name expected") }
            var above: [String] = []
            if let table = try call.optional(2, call.table) {
                for index in 1..<(table.count + 1) {
                    guard let text = table[index].textValue else {
                        throw call.refuse(2, "[\(index)]: a class's name expected")
                    }
                    above.append(text)
                }
            }
            let object = call.state.makeTable()
            object.setMetatable(
                bridge.makeMetatable(
                    forForeign: ArchivedClass(name, superclasses: above.isEmpty ? ["NSObject"] : above)))
            if let fields = try call.optional(1, call.table) {
                try fields.forEach { key, value in
                    object[key] = value
                    return true
                }
            }
            return call.returns(LuaValue.table(object))
        }
    }

    private static func geometry(_ module: LuaModule, _ bridge: ArchiveBridge) {
        func real(_ name: String, _ documentation: String) -> LuaParameter {
            LuaParameter(name, .number, documentation)
        }
        let made: [(String, [LuaParameter], String, String, ([Double]) -> FoundationValue)] = [
            (
                "point", [real("x", "to the right"), real("y", "down or up")], "An NSValue of a point.", "(1, 2).x",
                { .point(x: $0[0], y: $0[1]) }
            ),
            (
                "size", [real("width", "of it"), real("height", "of it")], "An NSValue of a size.", "(3, 4).height",
                { .size(width: $0[0], height: $0[1]) }
            ),
            (
                "rect",
                [
                    real("x", "of its corner"), real("y", "of its corner"), real("width", "of it"),
                    real("height", "of it"),
                ],
                "An NSValue of a rectangle.", "(1, 2, 3, 4).width",
                { .rect(x: $0[0], y: $0[1], width: $0[2], height: $0[3]) }
            ),
        ]
        for (name, parameters, documentation, use, make) in made {
            module.function(
                name, parameters, returns: [.object("FoundationValue")], documentation,
                example: "return archiver.\(name)\(use)"
            ) { call in
                let numbers = try parameters.indices.map { try call.number($0) }
                return call.returns(FoundationBox(.value(make(numbers))), bridge.foundation)
            }
        }
        module.function(
            "range",
            [
                LuaParameter("location", .integer, "where it begins"),
                LuaParameter("length", .integer, "how long it is"),
            ],
            returns: [.object("FoundationValue")], "An NSValue of a range.",
            example: "return archiver.range(5, 2).length"
        ) { call in
            let value = FoundationValue.range(location: try call.integer(0), length: try call.integer(1))
            return call.returns(FoundationBox(.value(value)), bridge.foundation)
        }
    }
}
