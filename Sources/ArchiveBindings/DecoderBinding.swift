import KeyedArchive
import Lua
import PropertyList
import Scripting

/// NSCoder's decoding methods, with a key or without.
enum DecoderBinding {
    private static let key: LuaArguments = ["key": "the key used for encoding"]
    private static let optionalKey: LuaArgument =
        "the key used for encoding; without one, the next value encoded without a key"
    private static let archive =
        "local w = archiver.writer() w:encodeObject(\"x\", \"a\") w:encodeInt(40, \"age\") w:encodeObject(\"next\") "
        + "local r = archiver.reader(w:finishEncoding()) "

    static func makeClass(_ bridge: ArchiveBridge) -> LuaClass<ArchiveDecoder> {
        let cls = LuaClass<ArchiveDecoder>(
            ArchiveDecoder.luaName,
            doc:
                "A decoder of an archive: the argument of `init(coder)`, and the result of `archiver.reader(bytes)`. Faults of "
                + "the archive are raised within init; elsewhere they are nil and an error.",
            in: bridge.state)
        cls.property("allowsKeyedCoding", doc: "Whether values may have keys: always true.", get: { _ in true })
        cls.property(
            "requiresSecureCoding", doc: "Whether only allowed classes may be decoded.",
            get: { $0.unarchiver.requiresSecureCoding })
        cls.property(
            "error", .optional(.object("Error")), doc: "The first failure; nil if there is none.",
            get: { $0.unarchiver.error.map(bridge.state.errorValue) ?? .nil })
        cls.property(
            "keys", doc: "The keys of the current object, or of the archive's top level.", get: { $0.unarchiver.keys })
        objects(cls)
        scalars(cls)
        unkeyed(cls)
        whole(cls)
        cls.metamethod("__tostring") { _, call in call.returns("KeyedUnarchiver") }
        return cls
    }

    // MARK: Objects

    private static func objects(_ cls: LuaClass<ArchiveDecoder>) {
        cls.method(
            "decodeObject", ["key": optionalKey],
            doc: "Decodes an object; nil if it is nil or absent. An object encoded in several places is decoded once.",
            example: archive + "return r:decodeObject(\"a\"), r:decodeObject()"
        ) { (decoder, key: String?) in
            try decoder.perform { try decoder.lua(key.map($0.decodeObject(forKey:)) ?? $0.decodeObject()) }
        }
        cls.method(
            "decodeObjectOfClass", ["class": "a declared class, or a class's name", "key": optionalKey],
            doc: "Decodes an object of a class or a subclass; any other object is a failure.",
            example: archive + "return r:decodeObjectOfClass(\"NSString\", \"a\")"
        ) { (decoder, name: ClassArgument, key: String?) in
            try decode(decoder, [name.name(decoder.bridge, argument: "class")], "class", key)
        }
        cls.method(
            "decodeObjectOfClasses", ["classes": "declared classes, or classes' names", "key": optionalKey],
            doc: "Decodes an object that is, like all its contents, of one of these classes or a subclass.",
            example: archive + "return r:decodeObjectOfClasses({ \"NSString\", \"NSNumber\" }, \"a\")"
        ) { (decoder, classes: LuaTable, key: String?) in
            try decode(decoder, ClassArgument.first(classes).names(decoder.bridge), "classes", key)
        }
        cls.method(
            "decodePropertyList", ["key": optionalKey], doc: "Decodes a property-list value.",
            example: archive + "return r:decodePropertyList(\"a\")"
        ) { (decoder, key: String?) in
            try decoder.perform {
                try (key.map($0.decodePropertyList(forKey:)) ?? $0.decodePropertyList())
                    .map { try decoder.bridge.values.lua($0) } ?? LuaValue.nil
            }
        }
    }

    private static func decode(
        _ decoder: ArchiveDecoder, _ names: [String], _ argument: String, _ key: String?
    ) throws -> OrError<LuaValue> {
        let classes = try ArchiverModule.allowed(names, argument, decoder.bridge)
        return try decoder.perform {
            try decoder.lua(
                key.map { [unarchiver = $0] in try unarchiver.decodeObject(ofClasses: classes, forKey: $0) }
                    ?? $0.decodeObject(ofClasses: classes))
        }
    }

    // MARK: Scalars

    private static func scalars(_ cls: LuaClass<ArchiveDecoder>) {
        func method<Value: LuaRepresentable>(
            _ name: String, _ documentation: String, _ decode: @escaping (KeyedUnarchiver, String) throws -> Value
        ) {
            cls.method(name, key, doc: documentation, example: archive + "return r:\(name)(\"age\")") {
                (decoder, key: String) in try decoder.perform { try decode($0, key) }
            }
        }
        cls.method(
            "decodeBool", key, doc: "Decodes a boolean; false if it is absent.",
            example: archive + "return r:decodeBool(\"absent\")"
        ) { (decoder, key: String) in try decoder.perform { try $0.decodeBool(forKey: key) } }
        method("decodeInt", "Decodes an integer of 32 bits, C's int; 0 if it is absent.") {
            try $0.decodeInt32(forKey: $1)
        }
        method("decodeInt32", "Decodes an integer of 32 bits; 0 if it is absent.") { try $0.decodeInt32(forKey: $1) }
        method("decodeInteger", "Decodes an integer; 0 if it is absent.") { try $0.decodeInt64(forKey: $1) }
        method("decodeInt64", "Decodes an integer of 64 bits; 0 if it is absent.") { try $0.decodeInt64(forKey: $1) }
        method("decodeFloat", "Decodes a single-precision number; 0 if it is absent.") {
            Double(try $0.decodeFloat(forKey: $1))
        }
        method("decodeDouble", "Decodes a number; 0 if it is absent.") { try $0.decodeDouble(forKey: $1) }
        cls.method(
            "decodeBytes", ["key": optionalKey], doc: "Decodes bytes, as a Lua string; nil if they are absent.",
            example: "local w = archiver.writer() w:encodeBytes(\"ab\", \"raw\") "
                + "return archiver.reader(w:finishEncoding()):decodeBytes(\"raw\")"
        ) { (decoder, key: String?) in
            try decoder.perform {
                try (key.map($0.decodeBytes(forKey:)) ?? $0.decodeBytes()).map { LuaString($0) }
            }
        }
        cls.method(
            "containsValue", key, doc: "Whether there is a value for a key, even if it is nil.",
            example: archive + "return r:containsValue(\"c\")"
        ) { (decoder, key: String) in decoder.unarchiver.containsValue(forKey: key) }
    }

    // MARK: Without keys

    private static func unkeyed(_ cls: LuaClass<ArchiveDecoder>) {
        cls.method(
            "decodeDataObject", doc: "Decodes the next object, as data.",
            example: "local w = archiver.writer() w:encodeDataObject(\"ab\") "
                + "return #archiver.reader(w:finishEncoding()):decodeDataObject()"
        ) { decoder in try decoder.perform { try $0.decodeDataObject().map { DataValue($0) } } }
        let values =
            "local w = archiver.writer() w:encodeValuesOfTypes(\"id\", 40, 0.5) w:encodeArrayOfType(\"s\", { 1, 2 }) "
            + "local r = archiver.reader(w:finishEncoding()) "
        for name in ["decodeValueOfType", "decodeValueOfObjCType"] {
            cls.method(
                name, ["type": TypeLetter.argument], doc: "Decodes the next value, of a C type.",
                example: values + "return r:\(name)(\"i\")"
            ) { (decoder, type: TypeLetter) in
                try decoder.perform { try lua($0.decodeValue(ofObjCType: type.letter), decoder) }
            }
        }
        for name in ["decodeValuesOfTypes", "decodeValuesOfObjCTypes"] {
            cls.method(
                name, ["types": "a letter for each value"], returns: [.variadic(.any)],
                doc: "Decodes the next values, of C types.", example: values + "return r:\(name)(\"id\")"
            ) { (decoder, letters: String) in
                try decoder.perform {
                    LuaVariadic(try $0.decodeValues(ofObjCTypes: letters).map { try lua($0, decoder) })
                }
            }
        }
        for name in ["decodeArrayOfType", "decodeArrayOfObjCType"] {
            cls.method(
                name, ["type": TypeLetter.argument, "count": "the number of values"],
                returns: LuaType.orError(.table), doc: "Decodes the next value, a C array.",
                example: values + "r:decodeValuesOfTypes(\"id\") return #r:\(name)(\"s\", 2)"
            ) { (decoder, type: TypeLetter, count: Int) in
                guard count >= 0 else {
                    throw LuaMismatch("a number of values expected, got \(count)", argument: "count")
                }
                return try decoder.perform {
                    try $0.decodeArray(ofObjCType: type.letter, count: count).map { try lua($0, decoder) }
                }
            }
        }
    }

    private static func lua(_ scalar: ArchiveScalar, _ decoder: ArchiveDecoder) throws -> LuaValue {
        switch scalar {
        case .boolean(let value): .boolean(value)
        case .integer(let value): .integer(value)
        case .unsigned(let value): decoder.bridge.values.wideIntegers.value(WideIntegerValue(Int128(value)))
        case .real(let value): .number(value)
        case .single(let value): .number(Double(value))
        case .object(let value): try decoder.lua(value)
        }
    }

    // MARK: The archive

    private static func whole(_ cls: LuaClass<ArchiveDecoder>) {
        cls.method(
            "setClass", ["class": "a declared class", "name": "the name in the archive"],
            doc: "Decodes instances of a class name as a declared class, in this archive.",
            example: archive + "r:setClass(archiver.class(\"Foo\"), \"OldFoo\")"
        ) { (decoder, table: LuaTable, name: String) in
            guard let scriptClass = decoder.bridge.classes.scriptClass(table) else {
                throw LuaMismatch("a class declared by archiver.class expected", argument: "class")
            }
            decoder.setClass(scriptClass, table, forClassName: name)
        }
        cls.method(
            "finishDecoding",
            doc: "Ends the decoding; decoded objects stay valid. nil and the first error if there was one.",
            example: archive + "return r:finishDecoding()"
        ) { decoder in
            try OrError(returning: ArchiveError.self) {
                try decoder.finish()
                return true
            }
        }
    }
}

/// An archive being read by a script: the argument of `init`, and the result of `archiver.reader(bytes)`.
final class ArchiveDecoder {
    let bridge: ArchiveBridge
    let unarchiver: KeyedUnarchiver
    private let input: LuaValueBuilder
    private let cls: LuaClass<ArchiveDecoder>
    /// The error of a script's `init`, to be rethrown after the unarchiver.
    private var pending: LuaError?
    /// The keys of the archive's top that were found absent.
    private var hinted: NameSet = []
    /// The classes of the instances whose `init` runs, the innermost last.
    private var decoding: [ScriptClass] = []

    /// The nesting limit of `init`, which uses Lua's C stack. Deeper objects are initialised afterwards.
    private static let depthLimit = 100

    init(
        _ bridge: ArchiveBridge, _ cls: LuaClass<ArchiveDecoder>, _ bytes: [UInt8], requiresSecureCoding: Bool = false,
        failurePolicy: KeyedUnarchiver.FailurePolicy = .raise
    ) throws(ArchiveError) {
        self.bridge = bridge
        self.cls = cls
        var limits = ArchiveLimits.standard
        limits.maximumDepth = Self.depthLimit
        let reader = try KeyedArchiveReader(bytes, limits: limits)
        unarchiver = KeyedUnarchiver(
            reader: reader, requiresSecureCoding: requiresSecureCoding, failurePolicy: failurePolicy)
        unarchiver.allowsNamedUnknownClasses = true
        input = LuaValueBuilder(bridge)
        for (name, scriptClass, table) in bridge.classes.all { setClass(scriptClass, table, forClassName: name) }
        unarchiver.onAbsentKey = { [unowned self] key in
            if let cls = decoding.last, let hint = cls.keys.hint(forAbsent: key, of: cls.name) {
                self.bridge.classes.warn(hint)
            } else if !unarchiver.isDecodingObject, hinted.count < 256, hinted.insert(key).inserted {
                // Any other key may be one that not every archive has.
                let hint = NearestNames.hint(for: key, among: unarchiver.keys)
                if !hint.isEmpty { self.bridge.classes.warn("the archive has no key '\(key)' at its top\(hint)") }
            }
        }
    }

    deinit { input.finish() }

    /// Decodes instances of a class name as a script's class.
    func setClass(_ scriptClass: ScriptClass, _ table: LuaTable, forClassName name: String) {
        let classes = bridge.classes
        unarchiver.setClass(
            ArchiveClassBinding(
                scriptClass.archivedClass, supportsSecureCoding: scriptClass.isSecure,
                allocate: { () throws(ArchiveError) -> ScriptObject in
                    do throws(LuaError) {
                        return ScriptObject(try classes.makeInstance(of: table), scriptClass)
                    } catch {
                        throw ArchiveError(code: .readCorrupt, message: error.message)
                    }
                },
                initialize: { [unowned self] (object: ScriptObject, _) throws(ArchiveError) in try initialize(object) }),
            forClassName: name)
    }

    /// Calls the `init` of an instance of a script's class.
    private func initialize(_ object: ScriptObject) throws(ArchiveError) {
        let name = object.scriptClass.name
        do {
            guard case .function(let initialize) = try bridge.state.field("init", of: .table(object.table)) else {
                throw LuaError(
                    .runtime, "\(name) has no init method: function \(name):init(coder) … end reads its fields")
            }
            decoding.append(object.scriptClass)
            defer { decoding.removeLast() }
            try initialize.call(.table(object.table), cls.value(self))
        } catch {
            // An error caused by the archive stays the archive's error; others are the script's.
            let lua = error as? LuaError ?? LuaError(.runtime, "\(error)")
            if let archive = lua.underlying as? ArchiveError { throw archive }
            if pending == nil { pending = lua }
            throw ArchiveError(code: .readCorrupt, message: "\(name).init failed: \(lua.message)")
        }
    }

    /// Calls the unarchiver. Within `init` an error of the archive is raised; outside, it is the result. An error of a
    /// script's `init` is rethrown.
    func perform<Value>(_ body: (KeyedUnarchiver) throws -> Value) throws -> OrError<Value> {
        do {
            let value = try body(unarchiver)
            if let pending, unarchiver.decodingFailurePolicy == .setErrorAndReturn, !unarchiver.isDecodingObject {
                self.pending = nil
                throw pending
            }
            return .success(value)
        } catch let error as ArchiveError {
            if let pending {
                if !unarchiver.isDecodingObject { self.pending = nil }
                throw pending
            }
            if unarchiver.isDecodingObject { throw error }
            return .failure(error)
        }
    }

    /// A decoded object in Lua.
    func lua(_ value: ArchiveValue?) throws(LuaError) -> LuaValue {
        input.isComplete = !unarchiver.isDecodingObject
        if input.isComplete { input.completeShort() }
        return try input.lua(value)
    }

    /// Finishes decoding.
    func finish() throws(ArchiveError) {
        input.finish()
        try unarchiver.finishDecoding()
    }
}

extension ArchiveDecoder: LuaInstance { static let luaName = "KeyedUnarchiver" }
