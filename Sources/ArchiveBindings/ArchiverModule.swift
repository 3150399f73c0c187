import Application
import Files
import Items
import KeyedArchive
import Logging
import Lua
import PropertyList
package import Scripting

/// `archiver`: keyed archives, NSKeyedArchiver and NSKeyedUnarchiver.
package final class ArchiverModule: ScriptModule {
    package static let name = "archiver"
    package static let needs = ["items"]

    unowned let host: ScriptHost
    let bridge: ArchiveBridge
    let encoders: LuaClass<ArchiveEncoder>
    let decoders: LuaClass<ArchiveDecoder>
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
        var requiresSecureCoding = false
        var failurePolicy = KeyedUnarchiver.FailurePolicy.raise

        static var luaOptions: [LuaOption<Reading>] {
            LuaOption(
                "requiresSecureCoding", \.requiresSecureCoding,
                doc: "decode only classes that the call allows and that are declared secure")
            LuaOption(
                "failurePolicy", \.failurePolicy,
                doc: "on a failure: fail the call (default), or record the first error and return nil or 0")
        }
    }

    private init(_ host: ScriptHost) throws {
        self.host = host
        bridge = ArchiveBridge(host.values, items: try host.declaredClass(of: Item.self))
        bridge.classes.warn = { [unowned host] in host.logger.warning("\($0)") }
        encoders = EncoderBinding.makeClass(bridge)
        decoders = DecoderBinding.makeClass(bridge)
        GraphBinding.declareClass(bridge, host)
    }

    package static func declare(in host: ScriptHost) throws -> [Global] {
        let archiver = try ArchiverModule(host)
        let module = LuaModule(
            "archiver",
            doc:
                "Keyed archives, in the format of NSKeyedArchiver: objects of script classes, and any archive as a graph.",
            in: host.state)
        archiver.declareClasses(module)
        archiver.declareWriting(module)
        archiver.declareReading(module)
        archiver.declareRest(module)
        ArchiveValues.declare(on: module, archiver.bridge)
        return [module.global]
    }

    // MARK: Writing

    private func encoder(_ options: Writing) -> ArchiveEncoder {
        ArchiveEncoder(bridge, encoders, requiresSecureCoding: options.requiringSecureCoding) { [unowned host] in
            try host.propertyList($0, as: options.format)
        }
    }

    /// Archives the argument `object`.
    private func archived(_ object: LuaValue, _ options: Writing) throws -> [UInt8] {
        let encoder = encoder(options)
        defer { encoder.close() }
        let root = try encoder.value(object, argument: "object")
        try encoder.perform { try $0.encode(root, forKey: KeyedArchiver.rootKey) }
        return try encoder.finish()
    }

    private func declareWriting(_ module: LuaModule) {
        module.function(
            "archivedData", ["object": Self.object, "options": Self.writing],
            doc: "An archive of an object and all that it refers to; nil and an error if the archive may not hold one.",
            example: "return #archiver.archivedData({ \"a\", 1 }, { format = \"xml\" })"
        ) { [self] (object: LuaValue, options: Writing) in
            try OrError(returning: ArchiveError.self) { LuaString(try archived(object, options)) }
        }
        module.function(
            "archiveRootObject", ["object": Self.object, "path": Self.path, "options": Self.writing],
            doc: "Writes an archive of an object to a file, atomically.",
            example: "return archiver.archiveRootObject({ 1, 2 }, app.container.tmp .. \"/a.archive\")"
        ) { [self] (object: LuaValue, path: String, options: Writing) in
            try OrError(returning: ArchiveError.self) { try archived(object, options) }
                .flatMap { [host] in try host.write($0, to: path) }
        }
        module.function(
            "writer", ["options": Self.writing],
            doc: "Begins an archive of several top-level objects, each under its key.",
            example:
                "local w = archiver.writer() w:encodeObject(1, \"a\") w:encodeObject(2, \"b\") return #w:finishEncoding()"
        ) { [self] (options: Writing) in encoder(options) }
    }

    // MARK: Reading

    private func declareReading(_ module: LuaModule) {
        module.function(
            "unarchiveObject", ["path": Self.path],
            doc: "Decodes the object under `root` of an archive file; nil and an error if it cannot be read.",
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
            doc:
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
            doc: "Opens an archive to decode its objects by key; nil and an error if it is not an archive.",
            example: "return archiver.reader(archiver.archivedData({ 1 })):decodeObject(\"root\")[1]"
        ) { [self] (bytes: BytesArgument, options: Reading) in
            try OrError(returning: ArchiveError.self) {
                try ArchiveDecoder(
                    bridge, decoders, bytes.bytes, requiresSecureCoding: options.requiresSecureCoding,
                    failurePolicy: options.failurePolicy)
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

    private func declareRest(_ module: LuaModule) {
        module.function(
            "open", ["archive": "a path, or the bytes of an archive"],
            doc: "Opens any keyed archive as a graph, without its classes; nil and an error if it cannot be read.",
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
            doc:
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
        GraphValue(try ArchiveGraph(bytes), bridge)
    }
}

extension KeyedUnarchiver.FailurePolicy: LuaRepresentable {}

// `archiver.class` and class names in archives.
extension ArchiverModule {
    func declareClasses(_ module: LuaModule) {
        module.function(
            "class",
            [
                "name": "the name in archives: `Foo`, or `Module.Foo`",
                "options": "its superclass, security and other names",
            ],
            doc:
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
            doc: "Decodes instances of a class name as a declared class, in every archive opened from now on.",
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
            doc: "Writes the instances of a class under another name, in every archive begun from now on.",
            example: "archiver.setClassName(\"Homepwner.Foo\", archiver.class(\"Foo\"))"
        ) { [bridge] (name: String?, given: ClassArgument) in
            bridge.classes.setName(name, forClass: try given.name(bridge, argument: "class"))
        }
        module.function(
            "className", ["value": "any value"],
            doc: "The class name of a value in archives; nil if it cannot be archived.",
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

/// A class as an argument: its table or its name; or several in an array.
typealias ClassArgument = LuaEither<LuaTable, String>

extension LuaEither<LuaTable, String> {
    /// The class's name.
    func name(_ bridge: ArchiveBridge, argument: String) throws(LuaMismatch) -> String {
        guard let name = name(bridge) else {
            throw LuaMismatch("a class declared by archiver.class, or a class's name expected", argument: argument)
        }
        return name
    }

    /// The names of one class, or of an array of classes; an argument `classes`.
    func names(_ bridge: ArchiveBridge) throws(LuaMismatch) -> [String] {
        if let name = name(bridge) { return [name] }
        guard case .first(let table) = self else { return [] }
        var names: [String] = []
        for index in 1..<(table.count + 1) {
            guard let name = (try? Self(lua: table[index]))?.name(bridge) else {
                throw LuaMismatch(
                    "[\(index)]: a class declared by archiver.class, or a class's name expected", argument: "classes")
            }
            names.append(name)
        }
        guard !names.isEmpty else { throw LuaMismatch("at least one class expected", argument: "classes") }
        return names
    }

    private func name(_ bridge: ArchiveBridge) -> String? {
        switch self {
        case .first(let table): bridge.classes.scriptClass(table)?.name
        case .second(let name): name
        }
    }
}

/// Copies objects deeply, each once, as NSCopying does.
///
/// An instance whose class has a `copy` method is copied by that method. Nested calls of `archiver.copy` belong to the
/// same operation, so that shared objects stay shared among the copies.
final class ArchiveCopier {
    private let bridge: ArchiveBridge
    private var copies: [UnsafeRawPointer: LuaTable] = [:]
    /// Objects whose `copy` method is running.
    private var open: Set<UnsafeRawPointer> = []
    private var unfilled: [(source: LuaTable, copy: LuaTable)] = []
    /// Retains the originals, so that their addresses are not reused.
    private var retained: [LuaTable] = []

    init(_ bridge: ArchiveBridge) { self.bridge = bridge }

    /// The copy of a value; a value without contents is its own copy.
    func copy(_ value: LuaValue) throws -> LuaValue {
        // A copy method requires its own tables to be filled.
        let outer = unfilled
        unfilled = []
        defer { unfilled = outer }
        let result = try make(value)
        while let (source, copy) = unfilled.popLast() { try fill(copy, from: source) }
        return result
    }

    private func make(_ value: LuaValue) throws -> LuaValue {
        if let item = bridge.items.object(of: value) { return bridge.items.value(try item.copy()) }
        guard case .table(let table) = value, let identity = table.identity else { return value }
        if let known = copies[identity] { return .table(known) }
        if case .instance(let scriptClass)? = bridge.kind(of: table)?.form,
            case .function(let method) = try bridge.state.field("copy", of: value)
        {
            guard open.insert(identity).inserted else {
                throw LuaError(
                    .runtime,
                    "\(scriptClass.name):copy copies something that refers back to the object before it has returned; "
                        + "without a copy method, archiver.copy copies cycles, too")
            }
            defer { open.remove(identity) }
            guard case .table(let copy)? = try method.call(value).first else {
                throw LuaError(.runtime, "\(scriptClass.name):copy has returned no object")
            }
            record(copy, of: table, identity)
            return .table(copy)
        }
        let copy = bridge.state.makeTable()
        copy.setMetatable(try metatable(of: table))
        record(copy, of: table, identity)
        unfilled.append((table, copy))
        return .table(copy)
    }

    private func record(_ copy: LuaTable, of table: LuaTable, _ identity: UnsafeRawPointer) {
        copies[identity] = copy
        retained.append(table)
    }

    private func metatable(of table: LuaTable) throws -> LuaTable? {
        guard let metatable = table.metatable else { return nil }
        guard metatable["__gc"].isNil else {
            throw LuaError(.argument, "a class cannot have a finalizer: remove its __gc")
        }
        return metatable
    }

    private func fill(_ copy: LuaTable, from source: LuaTable) throws {
        var entries: [(LuaValue, LuaValue)] = []
        try source.forEach { key, value in
            entries.append((key, value))
            return true
        }
        for (key, value) in entries { copy[try make(key)] = try make(value) }
        if let memory = bridge.memory(of: source) { bridge.setMemory(memory.copy(), of: copy) }
    }
}
