import Application
import Files
import Items
import KeyedArchive
import Lua
import PropertyList

/// `archiver`: keyed archives, NSKeyedArchiver and NSKeyedUnarchiver.
final class ArchiverModule {
    unowned let host: ScriptHost
    let bridge: ArchiveBridge
    let encoders: LuaClass<ArchiveEncoder>
    let decoders: LuaClass<ArchiveDecoder>
    let graphs: LuaClass<GraphValue>
    /// The copier in progress, while a script's copy method runs.
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

    // MARK: Writing

    private func encoder(_ call: LuaCall, options position: Int) throws -> ArchiveEncoder {
        ArchiveEncoder(
            bridge, encoders, requiresSecureCoding: try call.option("requiringSecureCoding", of: position).isTruthy,
            format: PropertyListFormat(word: try call.option("format", of: position)) ?? .binary)
    }

    /// Archives one object.
    private func archived(_ call: LuaCall, options position: Int) throws -> [UInt8] {
        let encoder = try encoder(call, options: position)
        defer { encoder.close() }
        let root: ArchiveValue?
        do {
            root = try encoder.output.value(call.value(0), ArchiveValueBuilder.Path("root"))
        } catch let error as ArchiveValueBuilder.Refusal {
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
                return try FileSystemModule.write(call, host, path) { write in
                    try write(bytes)
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
            let allowed = try Self.allowed(Self.classNames(call, 0, bridge), call, 0, bridge)
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
    ) throws -> LuaResults {
        let decoder = try ArchiveDecoder(bridge, decoders, bytes, requiresSecureCoding: isSecure)
        defer { try? decoder.finish() }
        return try decoder.perform(call) { call.returns(try decoder.lua(decode(decoder.unarchiver))) }
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
