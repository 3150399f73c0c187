import Application
import KeyedArchive
import Lua
import PropertyList
import Stores

/// `archiver`: keyed archives, NSKeyedArchiver's and NSKeyedUnarchiver's.
final class ArchiverModule {
    unowned let host: ScriptHost
    let bridge: ArchiveBridge
    let encoders: LuaClass<ArchiveEncoder>
    let decoders: LuaClass<ArchiveDecoder>
    let graphs: LuaClass<GraphValue>
    /// The copying that goes on, while a script's copy method runs.
    private var copier: ArchiveCopier?

    private static let object = LuaParameter(
        "object", .any, "an instance of a declared class, a table, text, a number, a date, data, an item")
    private static let path = LuaParameter("path", .text, "a path that the sandbox grants")
    private static let bytes = LuaParameter("bytes", .union([.string, .object("data")]), "an archive in either form")
    private static let writing = LuaParameter(
        "options",
        .optional(
            .options([
                LuaParameter("requiringSecureCoding", .boolean, "refuse instances of classes not declared secure"),
                LuaParameter("format", .choice(["binary", "xml"]), "the form; binary if not given"),
            ])), "how it is written")

    private init(_ host: ScriptHost, _ itemClasses: ItemClasses) {
        self.host = host
        bridge = ArchiveBridge(host.values, items: itemClasses.item)
        encoders = EncoderBinding.makeClass(bridge)
        decoders = DecoderBinding.makeClass(bridge)
        graphs = GraphBinding.makeClass(bridge, host, itemClasses.predicate)
    }

    static func install(in host: ScriptHost, _ itemClasses: ItemClasses) -> LuaModule {
        let archiver = ArchiverModule(host, itemClasses)
        let module = LuaModule(
            "archiver",
            "Keyed archives, in the format of NSKeyedArchiver: objects of a script's own classes, any archive as a graph.",
            in: host.state)
        archiver.declareClasses(module)
        archiver.declareWriting(module)
        archiver.declareReading(module)
        archiver.declareOthers(module)
        ArchiveValues.declare(on: module, archiver.bridge)
        return module
    }

    // MARK: Classes

    private func declareClasses(_ module: LuaModule) {
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
                for index in 1..<(table.rawCount + 1) {
                    guard let alias = table.rawGet(.integer(Int64(index))).textValue else {
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

    /// The name of a class that is given by its table or its name.
    static func className(_ call: LuaCall, _ position: Int, _ bridge: ArchiveBridge) throws -> String {
        try className(call.value(position), bridge)
            ?? { throw call.refuse(position, "a class declared by archiver.class, or a class's name expected") }()
    }

    private static func className(_ value: LuaValue, _ bridge: ArchiveBridge) -> String? {
        if case .table(let table) = value { return bridge.classes.scriptClass(table)?.name }
        return value.textValue
    }

    /// The names of classes that are given in a table, or of one by itself.
    static func classNames(_ call: LuaCall, _ position: Int, _ bridge: ArchiveBridge) throws -> [String] {
        if let name = className(call.value(position), bridge) { return [name] }
        let table = try call.table(position)
        var names: [String] = []
        for index in 1..<(table.rawCount + 1) {
            guard let name = className(table.rawGet(.integer(Int64(index))), bridge) else {
                throw call.refuse(
                    position, "[\(index)]: a class declared by archiver.class, or a class's name expected")
            }
            names.append(name)
        }
        guard !names.isEmpty else { throw call.refuse(position, "at least one class expected") }
        return names
    }

    static func allowed(_ names: [String], _ call: LuaCall, _ position: Int) throws -> AllowedClasses {
        do throws(ArchiveError) {
            return try AllowedClasses(names)
        } catch {
            throw call.refuse(position, error.message)
        }
    }

    // MARK: Writing

    private func encoder(_ call: LuaCall, options position: Int) throws -> ArchiveEncoder {
        ArchiveEncoder(
            bridge, encoders, requiresSecureCoding: try call.option("requiringSecureCoding", of: position).isTruthy,
            format: PropertyListFormat(word: try call.option("format", of: position)) ?? .binary)
    }

    /// An archive of one object.
    private func archived(_ call: LuaCall, options position: Int) throws -> [UInt8] {
        let encoder = try encoder(call, options: position)
        defer { encoder.close() }
        let root: ArchiveValue?
        do {
            root = try encoder.output.value(call.value(0), ArchiveOutput.Path("root"))
        } catch let error as ArchiveOutput.Refusal {
            throw call.refuse(0, error.message)
        }
        try encoder.perform { try $0.encode(root, forKey: KeyedArchiver.rootKey) }
        return try encoder.finish()
    }

    private func declareWriting(_ module: LuaModule) {
        module.function(
            "archivedData", [Self.object, Self.writing], returns: LuaType.orError(.string),
            "An archive of an object and all that it refers to; nil and an error when the archive may not hold one.",
            example: "return #archiver.archivedData({ \"a\", 1 }, { format = \"xml\" })"
        ) { [self] call in
            do {
                return call.returns(LuaString(try archived(call, options: 1)))
            } catch let error as ArchiveError {
                return call.returns(failure: error)
            }
        }
        module.function(
            "archiveRootObject", [Self.object, Self.path, Self.writing], returns: LuaType.orError(.boolean),
            "Writes an archive of an object to a file, whole or not at all.",
            example: "return archiver.archiveRootObject({ 1, 2 }, app.container.tmp .. \"/a.archive\")"
        ) { [self] call in
            let path = try call.text(1)
            do {
                let bytes = try archived(call, options: 2)
                return try FileSystemModule.attempt(call, host, path, .readWrite) { layer in
                    try AtomicFile.write(bytes, to: path, using: layer, durable: true)
                    return call.returns(true)
                }
            } catch let error as ArchiveError {
                return call.returns(failure: error)
            }
        }
        module.function(
            "writer", [Self.writing], returns: [.object("KeyedArchiver")],
            "Begins an archive with several objects on top, each under its key.",
            example:
                "local w = archiver.writer() w:encodeObject(1, \"a\") w:encodeObject(2, \"b\") return #w:finishEncoding()"
        ) { [self] call in call.returns(try encoder(call, options: 0), encoders) }
    }

    // MARK: Reading

    private func declareReading(_ module: LuaModule) {
        module.function(
            "unarchiveObject", [Self.path], returns: LuaType.orError(.any),
            "The object under `root` of an archive's file; nil and an error when it can't be read.",
            example:
                "local path = app.container.tmp .. \"/a.archive\" "
                + "archiver.archiveRootObject({ name = \"Bear\" }, path) "
                + "return archiver.unarchiveObject(path).name"
        ) { [self] call in
            let path = try call.text(0)
            return try FileSystemModule.attempt(call, host, path, .read) { layer in
                let bytes = try layer.contents(of: path, limit: FileSystemModule.readLimit)
                do {
                    return try root(of: bytes, call) { (unarchiver) throws(ArchiveError) in
                        try unarchiver.decodeRootObject()
                    }
                } catch let error as ArchiveError {
                    return call.returns(failure: LocatedError(error, path))
                }
            }
        }
        module.function(
            "unarchivedObject",
            [LuaParameter("classes", .union([.table, .text]), "declared classes, or classes' names"), Self.bytes],
            returns: LuaType.orError(.any),
            "The object under `root` of an archive, when it and all that it holds are of these classes; declared ones must be "
                + "secure. nil and an error otherwise.",
            example: "return archiver.unarchivedObject({ \"NSArray\" }, archiver.archivedData({ 1, 2 }))[2]"
        ) { [self] call in
            let allowed = try Self.allowed(Self.classNames(call, 0, bridge), call, 0)
            let bytes = try bridge.values.bytes(call, 1)
            do {
                return try root(of: bytes, call, isSecure: true) { (unarchiver) throws(ArchiveError) in
                    try unarchiver.decodeRootObject(ofClasses: allowed)
                }
            } catch let error as ArchiveError {
                return call.returns(failure: error)
            }
        }
        let options = [
            LuaParameter(
                "requiresSecureCoding", .boolean, "decode only what a call allows, of classes declared secure"),
            LuaParameter(
                "failurePolicy", .choice(["raise", "setErrorAndReturn"]),
                "what a failed call does: fail (if not given), or note the first error and give nil or 0"),
        ]
        module.function(
            "reader", [Self.bytes, LuaParameter("options", .optional(.options(options)), "how it is read")],
            returns: LuaType.orError(.object("KeyedUnarchiver")),
            "Opens an archive whose objects are decoded by key; nil and an error when it is none.",
            example: "return archiver.reader(archiver.archivedData({ 1 })):decodeObject(\"root\")[1]"
        ) { [self] call in
            let isSecure = try call.option("requiresSecureCoding", of: 1).isTruthy
            let returns = try call.option("failurePolicy", of: 1).textValue == "setErrorAndReturn"
            let bytes = try bridge.values.bytes(call, 0)
            do throws(ArchiveError) {
                let decoder = try ArchiveDecoder(
                    bridge, decoders, bytes, requiresSecureCoding: isSecure,
                    failurePolicy: returns ? .setErrorAndReturn : .raise)
                return call.returns(decoder, decoders)
            } catch {
                return call.returns(failure: error)
            }
        }
    }

    private func root(
        of bytes: [UInt8], _ call: LuaCall, isSecure: Bool = false,
        _ decode: (KeyedUnarchiver) throws(ArchiveError) -> ArchiveValue?
    ) throws -> Int32 {
        let decoder = try ArchiveDecoder(bridge, decoders, bytes, requiresSecureCoding: isSecure)
        defer { try? decoder.finish() }
        return try decoder.perform(call) { call.returns(decoder.lua(try decode(decoder.unarchiver))) }
    }

    // MARK: Others

    private func declareOthers(_ module: LuaModule) {
        module.function(
            "open",
            [LuaParameter("archive", .union([.string, .object("data")]), "a path, or the bytes of an archive")],
            returns: LuaType.orError(.object("Graph")),
            "Opens any keyed archive as a graph, without its classes; nil and an error when it can't be read.",
            example: "return archiver.open(archiver.archivedData({ name = \"Bear\" })).root.name"
        ) { [self] call in
            let given = try bridge.values.bytes(call, 0)
            let isArchive =
                call.optionalObject(0, bridge.values.datas) != nil || given.starts(with: Array("bplist".utf8))
                || given.starts(with: [UInt8(ascii: "<")])
                || given.withUnsafeBytes { PropertyListFormat(detecting: $0) != nil }
            if isArchive {
                do throws(ArchiveError) {
                    return call.returns(GraphValue(try ArchiveGraph(given), bridge, encoders), graphs)
                } catch {
                    return call.returns(failure: error)
                }
            }
            let path = try call.text(0)
            return try FileSystemModule.attempt(call, host, path, .read) { layer in
                let bytes = try layer.contents(of: path, limit: FileSystemModule.readLimit)
                do throws(ArchiveError) {
                    return call.returns(GraphValue(try ArchiveGraph(bytes), bridge, encoders), graphs)
                } catch {
                    return call.returns(failure: LocatedError(error, path))
                }
            }
        }
        module.function(
            "copy", [LuaParameter("object", .any, "an instance, a table, an item, or any other value")],
            returns: [.any],
            "A deep copy: by the class's copy method where it has one, else with copies of all fields; what is shared stays "
                + "shared among the copies.",
            example: "local a = { { 1 } } local b = archiver.copy(a) b[1][1] = 2 return a[1][1]"
        ) { [self] call in
            if let copier { return call.returns(try copier.copy(call.value(0))) }
            let copier = ArchiveCopier(bridge)
            self.copier = copier
            defer { self.copier = nil }
            return call.returns(try copier.copy(call.value(0)))
        }
    }
}
