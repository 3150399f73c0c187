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

    private static let object: LuaArgument =
        "an instance of a declared class, a table, text, a number, a date, data, an item"
    private static let path: LuaArgument = "a path that the sandbox grants"
    private static let bytes: LuaArgument = "an archive in either format"
    private static let writing: LuaArgument = "how to write the archive"

    /// Options for writing an archive.
    private struct Writing: LuaOptions {
        var requiringSecureCoding = false
        var format = PropertyListFormat.binary

        static var luaOptions: [LuaOption<Writing>] {
            LuaOption(
                "requiringSecureCoding", \.requiringSecureCoding,
                doc: "refuse instances of classes not declared secure")
            LuaOption("format", \.format, doc: "the format (default: binary)")
        }
    }

    /// Options for reading an archive.
    private struct Reading: LuaOptions {
        enum FailurePolicy: String, CaseIterable, LuaRepresentable { case raise, setErrorAndReturn }

        var requiresSecureCoding = false
        var failurePolicy = FailurePolicy.raise

        static var luaOptions: [LuaOption<Reading>] {
            LuaOption(
                "requiresSecureCoding", \.requiresSecureCoding,
                doc: "decode only classes that the call allows and that are declared secure")
            LuaOption(
                "failurePolicy", \.failurePolicy,
                doc: "on a failure: fail the call (default), or record the first error and return nil or 0")
        }
    }

    private init(_ host: ScriptHost, _ itemClasses: ItemClasses) {
        self.host = host
        bridge = ArchiveBridge(host.values, items: itemClasses.item)
        encoders = EncoderBinding.makeClass(bridge)
        decoders = DecoderBinding.makeClass(bridge)
        graphs = GraphBinding.makeClass(bridge, host)
    }

    static func install(in host: ScriptHost, _ itemClasses: ItemClasses) -> LuaModule {
        let archiver = ArchiverModule(host, itemClasses)
        let module = LuaModule(
            "archiver",
            "Keyed archives, in the format of NSKeyedArchiver: objects of script classes, and any archive as a graph.",
            in: host.state)
        archiver.declareClasses(module)
        archiver.declareWriting(module)
        archiver.declareReading(module)
        archiver.declareOthers(module)
        ArchiveValues.declare(on: module, archiver.bridge)
        return module
    }

    // MARK: Writing

    private func encoder(_ options: Writing) -> ArchiveEncoder {
        ArchiveEncoder(
            bridge, encoders, requiresSecureCoding: options.requiringSecureCoding, format: options.format)
    }

    /// Archives the argument `object`.
    private func archived(_ object: LuaValue, _ options: Writing) throws -> [UInt8] {
        let encoder = encoder(options)
        defer { encoder.close() }
        let root: ArchiveValue?
        do {
            root = try encoder.output.value(object, ArchiveValueBuilder.Path("root"))
        } catch let error as ArchiveValueBuilder.Refusal {
            throw LuaMismatch(error.message, argument: "object")
        }
        try encoder.perform { try $0.encode(root, forKey: KeyedArchiver.rootKey) }
        return try encoder.finish()
    }

    private func declareWriting(_ module: LuaModule) {
        module.function(
            "archivedData", ["object": Self.object, "options": Self.writing],
            "An archive of an object and all that it refers to; nil and an error if the archive may not hold one.",
            example: "return #archiver.archivedData({ \"a\", 1 }, { format = \"xml\" })"
        ) { [self] (object: LuaValue, options: Writing) in
            try OrError(returning: ArchiveError.self) { LuaString(try archived(object, options)) }
        }
        module.function(
            "archiveRootObject", ["object": Self.object, "path": Self.path, "options": Self.writing],
            "Writes an archive of an object to a file, atomically.",
            example: "return archiver.archiveRootObject({ 1, 2 }, app.container.tmp .. \"/a.archive\")"
        ) { [self] (object: LuaValue, path: String, options: Writing) in
            try OrError(returning: ArchiveError.self) { try archived(object, options) }
                .flatMap { [host] in try host.write($0, to: path) }
        }
        module.function(
            "writer", ["options": Self.writing],
            "Begins an archive of several top-level objects, each under its key.",
            example:
                "local w = archiver.writer() w:encodeObject(1, \"a\") w:encodeObject(2, \"b\") return #w:finishEncoding()"
        ) { [self] (options: Writing) in encoder(options) }
    }

    // MARK: Reading

    private func declareReading(_ module: LuaModule) {
        module.function(
            "unarchiveObject", ["path": Self.path],
            "Decodes the object under `root` of an archive file; nil and an error if it cannot be read.",
            example:
                "local path = app.container.tmp .. \"/a.archive\" "
                + "archiver.archiveRootObject({ name = \"Bear\" }, path) "
                + "return archiver.unarchiveObject(path).name"
        ) { [self] (path: String) in
            try host.read(path, refusing: ArchiveError.self) { bytes in
                try root(of: bytes) { try $0.decodeRootObject() }
            }.flatMap(\.self)
        }
        module.function(
            "unarchivedObject", ["classes": "declared classes, or classes' names", "bytes": Self.bytes],
            "Decodes the object under `root` of an archive, if it and all its contents are of these classes; declared classes "
                + "must be secure. nil and an error otherwise.",
            example: "return archiver.unarchivedObject({ \"NSArray\" }, archiver.archivedData({ 1, 2 }))[2]"
        ) { [self] (classes: ClassArgument, bytes: BytesArgument) in
            let allowed = try Self.allowed(classes.names(bridge), "classes", bridge)
            return try OrError(returning: ArchiveError.self) {
                try root(of: bytes.bytes, isSecure: true) { try $0.decodeRootObject(ofClasses: allowed) }
            }.flatMap(\.self)
        }
        module.function(
            "reader", ["bytes": Self.bytes, "options": "how to read the archive"],
            "Opens an archive to decode its objects by key; nil and an error if it is not an archive.",
            example: "return archiver.reader(archiver.archivedData({ 1 })):decodeObject(\"root\")[1]"
        ) { [self] (bytes: BytesArgument, options: Reading) in
            try OrError(returning: ArchiveError.self) {
                try ArchiveDecoder(
                    bridge, decoders, bytes.bytes, requiresSecureCoding: options.requiresSecureCoding,
                    failurePolicy: options.failurePolicy == .raise ? .raise : .setErrorAndReturn)
            }
        }
    }

    private func root(
        of bytes: [UInt8], isSecure: Bool = false, _ decode: (KeyedUnarchiver) throws -> ArchiveValue?
    ) throws -> OrError<LuaValue> {
        let decoder = try ArchiveDecoder(bridge, decoders, bytes, requiresSecureCoding: isSecure)
        defer { try? decoder.finish() }
        return try decoder.perform { try decoder.lua(decode($0)) }
    }

    // MARK: Others

    private func declareOthers(_ module: LuaModule) {
        module.function(
            "open", ["archive": "a path, or the bytes of an archive"],
            "Opens any keyed archive as a graph, without its classes; nil and an error if it cannot be read.",
            example: "return archiver.open(archiver.archivedData({ name = \"Bear\" })).root.name"
        ) { [self] (archive: BytesArgument) in
            guard case .first(let given) = archive, !Self.isArchive(given.bytes) else {
                return try OrError(returning: ArchiveError.self) { try graph(archive.bytes) }
            }
            guard let path = given.text else {
                throw LuaMismatch("UTF-8 text expected, got other bytes (data(…) holds those)", argument: "archive")
            }
            return try host.read(path, refusing: ArchiveError.self, graph)
        }
        module.function(
            "copy", ["object": "an instance, a table, an item, or any other value"],
            "A deep copy: by the class's copy method if it has one, otherwise with copies of all fields; shared objects stay "
                + "shared among the copies.",
            example: "local a = { { 1 } } local b = archiver.copy(a) b[1][1] = 2 return a[1][1]"
        ) { [self] (object: LuaValue) in
            if let copier { return try copier.copy(object) }
            let copier = ArchiveCopier(bridge)
            self.copier = copier
            defer { self.copier = nil }
            return try copier.copy(object)
        }
    }

    /// Whether bytes have the start of an archive, rather than of a path.
    private static func isArchive(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: Array("bplist".utf8)) || bytes.first == UInt8(ascii: "<")
            || bytes.withUnsafeBytes { PropertyListFormat(detecting: $0) != nil }
    }

    private func graph(_ bytes: [UInt8]) throws(ArchiveError) -> GraphValue {
        GraphValue(try ArchiveGraph(bytes), bridge, encoders)
    }
}
