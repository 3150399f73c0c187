import KeyedArchive
import Lua
import PropertyList
import Scripting

/// NSCoder's encoding methods, with a key or without.
enum EncoderBinding {
    private static let key: LuaArgument = "unique within one object"
    private static let optionalKey: LuaArgument =
        "unique within one object; values without a key are decoded in the same order"
    private static let object: LuaArgument =
        "an instance of a declared class, a table, text, a number, a boolean, a date, data, an item, or nil"

    static func makeClass(_ bridge: ArchiveBridge) -> LuaClass<ArchiveEncoder> {
        let cls = LuaClass<ArchiveEncoder>(
            ArchiveEncoder.luaName,
            doc: "An encoder of an archive: the argument of `encode(coder)`, and the result of `archiver.writer()`.",
            in: bridge.state)
        cls.property("allowsKeyedCoding", doc: "Whether values may have keys: always true.", get: { _ in true })
        cls.property(
            "requiresSecureCoding", doc: "Whether only classes declared secure may be written.",
            get: { $0.requiresSecureCoding })
        objects(cls)
        scalars(cls)
        unkeyed(cls)
        whole(cls)
        cls.metamethod("__tostring") { _, call in call.returns("KeyedArchiver") }
        return cls
    }

    // MARK: Objects

    private static func objects(_ cls: LuaClass<ArchiveEncoder>) {
        cls.method(
            "encodeObject", ["object": object, "key": optionalKey],
            doc: "Encodes an object; an object encoded in several places is written once.",
            example: "local w = archiver.writer() w:encodeObject({ 1, 2 }, \"list\") return #w:finishEncoding()"
        ) { (encoder, value: LuaValue, key: String?) in
            try encode(value, key, with: encoder) { archiver, value in
                guard let key else { return try archiver.encode(value) }
                try archiver.encode(value, forKey: key)
            }
        }
        cls.method(
            "encodeConditionalObject", ["object": object, "key": optionalKey],
            doc:
                "Encodes a reference that is kept only if the object is also encoded unconditionally; otherwise it decodes as "
                + "nil. For a parent or an owner.",
            example: "local w = archiver.writer() w:encodeConditionalObject({}, \"owner\") w:finishEncoding()"
        ) { (encoder, value: LuaValue, key: String?) in
            try encode(value, key, with: encoder) { archiver, value in
                guard let key else { return try archiver.encodeConditionalObject(value) }
                try archiver.encodeConditionalObject(value, forKey: key)
            }
        }
        let same: [(String, String)] = [
            ("encodeRootObject", "Encodes the root object of a graph, without a key."),
            ("encodeBycopyObject", "Encodes an object without a key; archives always hold copies."),
            ("encodeByrefObject", "Encodes an object without a key; archives hold its contents nonetheless."),
        ]
        for (name, documentation) in same {
            cls.method(
                name, ["object": object], doc: documentation,
                example: "local w = archiver.writer() w:\(name)({ 1 }) w:finishEncoding()"
            ) { (encoder, value: LuaValue) in
                try encode(value, nil, with: encoder) { archiver, value in try archiver.encode(value) }
            }
        }
        cls.method(
            "encodePropertyList", ["value": "a property-list value", "key": optionalKey],
            doc: "Encodes a property-list value; any other value raises an error with its path.",
            example: "local w = archiver.writer() w:encodePropertyList({ tags = { 1 } }, \"info\") w:finishEncoding()"
        ) { (encoder, given: LuaValue, key: String?) in
            encoder.record(key)
            let value: PropertyListValue
            do throws(ValueBridge.BridgeError) {
                value = try encoder.bridge.values.propertyList(given, path: "root")
            } catch {
                throw LuaMismatch(error.message, argument: "value")
            }
            try perform(encoder) { archiver in
                guard let key else { return try archiver.encodePropertyList(value) }
                try archiver.encode(value, forKey: key)
            }
        }
    }

    /// Converts the argument `object` and encodes it.
    private static func encode(
        _ value: LuaValue, _ key: String?, with encoder: ArchiveEncoder,
        _ body: (KeyedArchiver, ArchiveValue?) throws -> Void
    ) throws {
        encoder.record(key)
        let object = try encoder.value(value, under: key ?? "root", argument: "object")
        try perform(encoder) { try body($0, object) }
    }

    /// Raises errors of the script, and violations of the archive's rules, at the call.
    private static func perform(
        _ encoder: ArchiveEncoder, recording key: String? = nil, _ body: (KeyedArchiver) throws -> Void
    ) throws {
        encoder.record(key)
        do {
            try encoder.perform(body)
        } catch let error as ArchiveError {
            throw LuaError(.argument, error.description)
        }
    }

    // MARK: Scalars

    private static func scalars(_ cls: LuaClass<ArchiveEncoder>) {
        cls.method(
            "encodeBool", ["value": "true or false", "key": key], doc: "Encodes a boolean.",
            example: "local w = archiver.writer() w:encodeBool(true, \"on\") w:finishEncoding()"
        ) { (encoder, value: Bool, key: String) in
            try perform(encoder, recording: key) { try $0.encode(value, forKey: key) }
        }
        let integers: [(name: String, bits: Int, documentation: String)] = [
            ("encodeInt", 32, "Encodes an integer of 32 bits, C's int; encodeInteger takes 64."),
            ("encodeInt32", 32, "Encodes an integer of 32 bits."),
            ("encodeInteger", 64, "Encodes an integer."), ("encodeInt64", 64, "Encodes an integer of 64 bits."),
        ]
        for (name, bits, documentation) in integers {
            cls.method(
                name, ["value": "an integer of \(bits) bits", "key": key], doc: documentation,
                example: "local w = archiver.writer() w:\(name)(40, \"age\") w:finishEncoding()"
            ) { (encoder, value: Int64, key: String) in
                if bits == 32, Int32(exactly: value) == nil {
                    throw LuaMismatch("\(value) does not fit 32 bits; encodeInteger takes 64", argument: "value")
                }
                try perform(encoder, recording: key) { try $0.encode(value, forKey: key) }
            }
        }
        cls.method(
            "encodeFloat", ["value": "stored in four bytes, rounded", "key": key],
            doc: "Encodes a single-precision number. One that would become infinity or 0 is refused.",
            example: "local w = archiver.writer() w:encodeFloat(0.5, \"ratio\") w:finishEncoding()"
        ) { (encoder, value: Float, key: String) in
            try perform(encoder, recording: key) { try $0.encode(value, forKey: key) }
        }
        cls.method(
            "encodeDouble", ["value": "stored in eight bytes", "key": key], doc: "Encodes a number.",
            example: "local w = archiver.writer() w:encodeDouble(0.1, \"ratio\") w:finishEncoding()"
        ) { (encoder, value: Double, key: String) in
            try perform(encoder, recording: key) { try $0.encode(value, forKey: key) }
        }
        cls.method(
            "encodeBytes", ["bytes": "any bytes", "key": optionalKey], doc: "Encodes bytes in place.",
            example: "local w = archiver.writer() w:encodeBytes(\"\\0\\1\", \"raw\") w:finishEncoding()"
        ) { (encoder, bytes: BytesArgument, key: String?) in
            try perform(encoder, recording: key) { archiver in
                guard let key else { return try archiver.encodeBytes(bytes.bytes) }
                try archiver.encodeBytes(bytes.bytes, forKey: key)
            }
        }
    }

    // MARK: Without keys

    private static func unkeyed(_ cls: LuaClass<ArchiveEncoder>) {
        cls.method(
            "encodeDataObject", ["bytes": "any bytes"], doc: "Encodes bytes as an NSData object, without a key.",
            example: "local w = archiver.writer() w:encodeDataObject(\"ab\") w:finishEncoding()"
        ) { (encoder, bytes: BytesArgument) in try perform(encoder) { try $0.encodeDataObject(bytes.bytes) } }
        for name in ["encodeValueOfType", "encodeValueOfObjCType"] {
            cls.method(
                name, ["type": TypeLetter.argument, "value": "a value of that type"],
                doc: "Encodes a value of a C type, without a key.",
                example: "local w = archiver.writer() w:\(name)(\"i\", 40) w:finishEncoding()"
            ) { (encoder, type: TypeLetter, value: LuaValue) in
                let scalar = try scalar(value, type.letter, "value", encoder)
                try perform(encoder) { try $0.encodeValue(scalar, ofObjCType: type.letter) }
            }
        }
        for name in ["encodeValuesOfTypes", "encodeValuesOfObjCTypes"] {
            cls.method(
                name, ["types": "a letter for each value", "…": "the values"],
                doc: "Encodes values of C types, without keys.",
                example: "local w = archiver.writer() w:\(name)(\"id\", 40, 0.5) w:finishEncoding()"
            ) { (encoder, letters: String, values: LuaVariadic<LuaValue>) in
                guard letters.count == values.values.count else {
                    throw LuaMismatch(
                        "\(letters.count) types are given for \(values.values.count) values", argument: "types")
                }
                let scalars = try zip(values, letters).map { try scalar($0, $1, "…", encoder) }
                try perform(encoder) { try $0.encodeValues(scalars, ofObjCTypes: letters) }
            }
        }
        for name in ["encodeArrayOfType", "encodeArrayOfObjCType"] {
            cls.method(
                name, ["type": TypeLetter.argument, "values": "values of that type, from 1 on"],
                doc: "Encodes a C array, without a key.",
                example: "local w = archiver.writer() w:\(name)(\"s\", { 1, 2, 3 }) w:finishEncoding()"
            ) { (encoder, type: TypeLetter, values: LuaTable) in
                let scalars = try (1..<(values.count + 1)).map {
                    try scalar(values[$0], type.letter, "values", encoder)
                }
                try perform(encoder) { try $0.encodeArray(scalars, ofObjCType: type.letter) }
            }
        }
    }

    /// Converts a value to a C type; the archiver checks its range.
    private static func scalar(
        _ value: LuaValue, _ letter: Character, _ argument: String, _ encoder: ArchiveEncoder
    ) throws -> ArchiveScalar {
        if letter.is("@") || letter.is("*") { return .object(try encoder.value(value, argument: argument)) }
        switch value {
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .number(let value):
            if !letter.is("f"), !letter.is("d"), let whole = Int64(exactly: value) { return .integer(whole) }
            return letter.is("f") ? .single(Float(value)) : .real(value)
        default:
            if let wide = encoder.bridge.values.wideIntegers.object(of: value),
                let unsigned = UInt64(exactly: wide.value)
            {
                return .unsigned(unsigned)
            }
            throw LuaMismatch(
                "a value of the C type \"\(letter)\" expected, got \(value.typeName)", argument: argument)
        }
    }

    // MARK: The archive

    private static func whole(_ cls: LuaClass<ArchiveEncoder>) {
        cls.method(
            "setClassName",
            ["name": "the name to write; nil undoes it", "class": "a declared class, or a class's name"],
            doc: "Writes the instances of a class under another name, in this archive.",
            example:
                "local w = archiver.writer() w:setClassName(\"Homepwner.Foo\", archiver.class(\"Foo\")) w:finishEncoding()"
        ) { (encoder, name: String?, given: ClassArgument) in
            try encoder.archiver.setClassName(name, forClass: given.name(encoder.bridge, argument: "class"))
        }
        cls.method(
            "finishEncoding", doc: "Ends the archive and returns its bytes; nothing more can be encoded.",
            example: "local w = archiver.writer() w:encodeObject(\"x\", \"a\") return #w:finishEncoding()"
        ) { encoder in
            guard try !encoder.archiver.isEncodingObject else {
                throw LuaError(.runtime, "the archive cannot be finished while an object is being encoded")
            }
            return try OrError(returning: ArchiveError.self) { LuaString(try encoder.finish()) }
        }
    }
}

/// An archive being written by a script: the argument of `encode`, and the result of `archiver.writer()`.
final class ArchiveEncoder {
    let bridge: ArchiveBridge
    let output: ArchiveValueBuilder
    let requiresSecureCoding: Bool
    private let cls: LuaClass<ArchiveEncoder>
    /// Gives the finished archive its form.
    private let form: ([UInt8]) throws -> [UInt8]
    private var writer: KeyedArchiver?
    /// The error of a script's `encode`, to be rethrown after the archiver.
    private var pending: LuaError?
    /// The classes of the instances whose `encode` runs, the innermost last.
    private var encoding: [ScriptClass] = []
    /// The message of a failed `encode`: the archive cannot be finished.
    private var failure: String?

    init(
        _ bridge: ArchiveBridge, _ cls: LuaClass<ArchiveEncoder>, requiresSecureCoding: Bool = false,
        form: @escaping ([UInt8]) throws -> [UInt8] = { $0 }
    ) {
        self.bridge = bridge
        self.cls = cls
        self.requiresSecureCoding = requiresSecureCoding
        self.form = form
        let writer = KeyedArchiver(requiresSecureCoding: requiresSecureCoding)
        for (className, name) in bridge.classes.archivedNames { writer.setClassName(name, forClass: className) }
        self.writer = writer
        output = ArchiveValueBuilder(bridge)
        output.encoder = self
    }

    deinit { output.finish() }

    /// The archiver.
    ///
    /// - Throws: `LuaError` when the archive is finished.
    var archiver: KeyedArchiver {
        get throws {
            if let writer { return writer }
            if let failure { throw LuaError(.runtime, "the archive cannot be finished: \(failure)") }
            throw LuaError(.runtime, "the archive is finished; nothing more can be encoded")
        }
    }

    /// Calls the archiver. A script's error is rethrown with its traceback.
    func perform<Result>(_ body: (KeyedArchiver) throws -> Result) throws -> Result {
        let archiver = try archiver
        do {
            return try body(archiver)
        } catch let error as ArchiveError {
            guard let pending else { throw error }
            self.pending = nil
            failure = pending.message
            close()
            throw pending
        }
    }

    /// An argument as a value of the archive.
    ///
    /// - Throws: `LuaMismatch` with the place in it that cannot be archived.
    func value(_ value: LuaValue, under key: String = "root", argument: String) throws -> ArchiveValue? {
        do {
            return try output.value(value, ArchiveValueBuilder.Path(.text(key)))
        } catch let error as ArchiveValueBuilder.BuildError {
            throw LuaMismatch(error.message, argument: argument)
        }
    }

    /// Records that a class's `encode` writes a key.
    func record(_ key: String?) {
        if let key, let last = encoding.last { last.keys.record(key) }
    }

    /// Finishes the archive and returns its bytes.
    func finish() throws -> [UInt8] {
        let binary = try perform { try $0.finishEncoding() }
        close()
        do { return try form(binary) } catch let error as PropertyListError { throw ArchiveError(error) }
    }

    /// Releases all objects, which references to the archive would otherwise retain.
    func close() {
        writer = nil
        output.finish()
    }

    /// Calls the `encode` of an instance of a script's class.
    func encode(_ object: ScriptObject) throws(ArchiveError) {
        let name = object.scriptClass.name
        do {
            guard case .function(let encode) = try bridge.state.field("encode", of: .table(object.table)) else {
                throw LuaError(
                    .runtime, "\(name) has no encode method: function \(name):encode(coder) … end writes its fields")
            }
            encoding.append(object.scriptClass)
            defer { encoding.removeLast() }
            try encode.call(.table(object.table), cls.value(self))
        } catch {
            if pending == nil { pending = error as? LuaError ?? LuaError(.runtime, "\(error)") }
            throw ArchiveError(code: .invalidValue, message: "\(name).encode failed: \(error)")
        }
    }
}

extension ArchiveEncoder: LuaInstance { static let luaName = "KeyedArchiver" }

/// A C type as an argument: one of Objective-C's letters.
struct TypeLetter: LuaRepresentable {
    static let argument: LuaArgument = "an Objective-C type letter: i for a 32-bit integer, d a double, @ an object"

    let letter: Character

    static var luaType: LuaType { .text }

    init(lua value: LuaValue) throws(LuaMismatch) {
        let text = try String(lua: value)
        guard text.count == 1, let letter = text.first else {
            throw LuaMismatch("one letter expected, got \"\(text)\"")
        }
        self.letter = letter
    }

    func luaValue(in state: LuaState) -> LuaValue { .text(String(letter)) }
}
