import KeyedArchive
import Lua
import PropertyList

/// NSCoder's encoding methods, with a key or without.
enum EncoderBinding {
    private static let key = LuaParameter("key", .text, "unique within one object")
    private static let optionalKey = LuaParameter(
        "key", .optional(.text), "unique within one object; without one, values are decoded in the same order")
    private static let object = LuaParameter(
        "object", .any,
        "an instance of a declared class, a table, text, a number, a boolean, a date, data, an item, or nil")

    static func makeClass(_ bridge: ArchiveBridge) -> LuaClass<ArchiveEncoder> {
        let cls = LuaClass<ArchiveEncoder>(
            "KeyedArchiver",
            "An archive being written: what `encode(coder)` is given, and what `archiver.writer()` gives.",
            in: bridge.state)
        cls.property("allowsKeyedCoding", .boolean, "Whether values may have keys; they may.") { _, call in
            call.returns(true)
        }
        cls.property("requiresSecureCoding", .boolean, "Whether only classes declared secure may be written.") {
            encoder, call in call.returns(encoder.requiresSecureCoding)
        }
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
            "encodeObject", [object, optionalKey],
            "Encodes an object; an object that is encoded in several places is written once.",
            example: "local w = archiver.writer() w:encodeObject({ 1, 2 }, \"list\") return #w:finishEncoding()"
        ) { encoder, call in
            try encode(encoder, call, call.value(0)) { archiver, value in
                guard let key = try call.optional(1, call.text) else { return try archiver.encode(value) }
                try archiver.encode(value, forKey: key)
            }
        }
        cls.method(
            "encodeConditionalObject", [object, optionalKey],
            "Encodes a reference that holds only if the object is encoded otherwise too; else it reads back as nil. For a "
                + "parent or an owner.",
            example: "local w = archiver.writer() w:encodeConditionalObject({}, \"owner\") w:finishEncoding()"
        ) { encoder, call in
            try encode(encoder, call, call.value(0)) { archiver, value in
                guard let key = try call.optional(1, call.text) else {
                    return try archiver.encodeConditionalObject(value)
                }
                try archiver.encodeConditionalObject(value, forKey: key)
            }
        }
        let same: [(String, String)] = [
            ("encodeRootObject", "Encodes an object from which a graph hangs, without a key."),
            ("encodeBycopyObject", "Encodes an object without a key: in an archive always by copy."),
            ("encodeByrefObject", "Encodes an object without a key: in an archive its contents all the same."),
        ]
        for (name, documentation) in same {
            cls.method(
                name, [object], documentation,
                example: "local w = archiver.writer() w:\(name)({ 1 }) w:finishEncoding()"
            ) { encoder, call in
                try encode(encoder, call, call.value(0)) { archiver, value in try archiver.encode(value) }
            }
        }
        cls.method(
            "encodePropertyList", [LuaParameter("value", .any, "a property-list value"), optionalKey],
            "Encodes a property-list value; raises when it is none, and says where.",
            example: "local w = archiver.writer() w:encodePropertyList({ tags = { 1 } }, \"info\") w:finishEncoding()"
        ) { encoder, call in
            let value: PropertyListValue
            do throws(ValueBridge.Refusal) {
                value = try encoder.bridge.values.propertyList(call.value(0), path: "root")
            } catch {
                throw call.refuse(0, error.message)
            }
            return try perform(encoder, call) { archiver in
                guard let key = try call.optional(1, call.text) else { return try archiver.encodePropertyList(value) }
                try archiver.encode(value, forKey: key)
            }
        }
    }

    /// Converts a value into an object and encodes it.
    private static func encode(
        _ encoder: ArchiveEncoder, _ call: LuaCall, _ value: LuaValue,
        _ body: (KeyedArchiver, ArchiveValue?) throws -> Void
    ) throws -> LuaResults {
        let name = try call.optional(1, call.text) ?? "root"
        let object: ArchiveValue?
        do {
            object = try encoder.output.value(value, ArchiveValueBuilder.Path(.text(name)))
        } catch let error as ArchiveValueBuilder.Refusal {
            throw call.refuse(0, error.message)
        }
        return try perform(encoder, call) { try body($0, object) }
    }

    /// Raises errors of the script, and violations of the archive's rules, at the call.
    private static func perform(
        _ encoder: ArchiveEncoder, _ call: LuaCall, _ body: (KeyedArchiver) throws -> Void
    ) throws -> LuaResults {
        do {
            try encoder.perform(body)
        } catch let error as ArchiveError {
            throw LuaError(.argument, error.description)
        }
        return call.returnsNothing()
    }

    // MARK: Scalars

    private static func scalars(_ cls: LuaClass<ArchiveEncoder>) {
        cls.method(
            "encodeBool", [LuaParameter("value", .boolean, "true or false"), key], "Encodes a boolean.",
            example: "local w = archiver.writer() w:encodeBool(true, \"on\") w:finishEncoding()"
        ) { encoder, call in
            let key = try call.text(1)
            return try perform(encoder, call) { try $0.encode(call.boolean(0), forKey: key) }
        }
        let integers: [(name: String, bits: Int, documentation: String)] = [
            ("encodeInt", 32, "Encodes an integer of 32 bits, C's int; encodeInteger takes 64."),
            ("encodeInt32", 32, "Encodes an integer of 32 bits."),
            ("encodeInteger", 64, "Encodes an integer."), ("encodeInt64", 64, "Encodes an integer of 64 bits."),
        ]
        for (name, bits, documentation) in integers {
            cls.method(
                name, [LuaParameter("value", .integer, "a whole number of \(bits) bits"), key], documentation,
                example: "local w = archiver.writer() w:\(name)(40, \"age\") w:finishEncoding()"
            ) { encoder, call in
                let (value, key) = (try call.integer(0), try call.text(1))
                if bits == 32, Int32(exactly: value) == nil {
                    throw call.refuse(0, "\(value) does not fit 32 bits; encodeInteger takes 64")
                }
                return try perform(encoder, call) { try $0.encode(value, forKey: key) }
            }
        }
        cls.method(
            "encodeFloat", [LuaParameter("value", .number, "stored in four bytes, rounded"), key],
            "Encodes a number of single precision.",
            example: "local w = archiver.writer() w:encodeFloat(0.5, \"ratio\") w:finishEncoding()"
        ) { encoder, call in
            let (value, key) = (Float(try call.number(0)), try call.text(1))
            return try perform(encoder, call) { try $0.encode(value, forKey: key) }
        }
        cls.method(
            "encodeDouble", [LuaParameter("value", .number, "stored in eight bytes"), key], "Encodes a number.",
            example: "local w = archiver.writer() w:encodeDouble(0.1, \"ratio\") w:finishEncoding()"
        ) { encoder, call in
            let (value, key) = (try call.number(0), try call.text(1))
            return try perform(encoder, call) { try $0.encode(value, forKey: key) }
        }
        cls.method(
            "encodeBytes", [LuaParameter("bytes", .union([.string, .object("data")]), "any bytes"), optionalKey],
            "Encodes bytes in place.",
            example: "local w = archiver.writer() w:encodeBytes(\"\\0\\1\", \"raw\") w:finishEncoding()"
        ) { encoder, call in
            let bytes = try encoder.bridge.values.bytes(call, 0)
            return try perform(encoder, call) { archiver in
                guard let key = try call.optional(1, call.text) else { return try archiver.encodeBytes(bytes) }
                try archiver.encodeBytes(bytes, forKey: key)
            }
        }
    }

    // MARK: Without keys

    private static func unkeyed(_ cls: LuaClass<ArchiveEncoder>) {
        cls.method(
            "encodeDataObject", [LuaParameter("bytes", .union([.string, .object("data")]), "any bytes")],
            "Encodes bytes as an NSData object, without a key.",
            example: "local w = archiver.writer() w:encodeDataObject(\"ab\") w:finishEncoding()"
        ) { encoder, call in
            let bytes = try encoder.bridge.values.bytes(call, 0)
            return try perform(encoder, call) { try $0.encodeDataObject(bytes) }
        }
        let type = LuaParameter("type", .text, "Objective-C's letter: i for a 32-bit integer, d a double, @ an object")
        for name in ["encodeValueOfType", "encodeValueOfObjCType"] {
            cls.method(
                name, [type, LuaParameter("value", .any, "a value of that type")],
                "Encodes a value of a C type, without a key.",
                example: "local w = archiver.writer() w:\(name)(\"i\", 40) w:finishEncoding()"
            ) { encoder, call in
                let letter = try self.letter(call)
                let scalar = try self.scalar(call.value(1), letter, 1, encoder, call)
                return try perform(encoder, call) { try $0.encodeValue(scalar, ofObjCType: letter) }
            }
        }
        for name in ["encodeValuesOfTypes", "encodeValuesOfObjCTypes"] {
            cls.method(
                name,
                [
                    LuaParameter("types", .text, "a letter for each value"),
                    LuaParameter("…", .variadic(.any), "the values"),
                ], "Encodes values of C types, without keys.",
                example: "local w = archiver.writer() w:\(name)(\"id\", 40, 0.5) w:finishEncoding()"
            ) { encoder, call in
                let letters = Array(try call.text(0))
                guard letters.count == call.count - 1 else {
                    throw call.refuse(0, "\(letters.count) types are given for \(call.count - 1) values")
                }
                var scalars: [ArchiveScalar] = []
                for (index, letter) in letters.enumerated() {
                    scalars.append(try scalar(call.value(index + 1), letter, index + 1, encoder, call))
                }
                return try perform(encoder, call) { try $0.encodeValues(scalars, ofObjCTypes: String(letters)) }
            }
        }
        for name in ["encodeArrayOfType", "encodeArrayOfObjCType"] {
            cls.method(
                name, [type, LuaParameter("values", .table, "values of that type, from 1 on")],
                "Encodes a C array, without a key.",
                example: "local w = archiver.writer() w:\(name)(\"s\", { 1, 2, 3 }) w:finishEncoding()"
            ) { encoder, call in
                let letter = try self.letter(call)
                let table = try call.table(1)
                var scalars: [ArchiveScalar] = []
                for index in 1..<(table.count + 1) {
                    scalars.append(try scalar(table[index], letter, 1, encoder, call))
                }
                return try perform(encoder, call) { try $0.encodeArray(scalars, ofObjCType: letter) }
            }
        }
    }

    private static func letter(_ call: LuaCall) throws -> Character {
        let text = try call.text(0)
        guard text.count == 1, let letter = text.first else {
            throw call.refuse(0, "one letter expected, got \"\(text)\"")
        }
        return letter
    }

    /// Converts a value to a C type; the archiver checks its range.
    private static func scalar(
        _ value: LuaValue, _ letter: Character, _ position: Int, _ encoder: ArchiveEncoder, _ call: LuaCall
    ) throws -> ArchiveScalar {
        if letter == "@" || letter == "*" {
            do {
                return .object(try encoder.output.value(value, ArchiveValueBuilder.Path("root")))
            } catch let error as ArchiveValueBuilder.Refusal {
                throw call.refuse(position, error.message)
            }
        }
        switch value {
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .number(let value):
            if letter != "f", letter != "d", let whole = Int64(exactly: value) { return .integer(whole) }
            return letter == "f" ? .single(Float(value)) : .real(value)
        default:
            if let wide = encoder.bridge.values.wideIntegers.object(of: value),
                let unsigned = UInt64(exactly: wide.value)
            {
                return .unsigned(unsigned)
            }
            throw call.refuse(position, "a value of the C type \"\(letter)\" expected, got \(value.typeName)")
        }
    }

    // MARK: The archive

    private static func whole(_ cls: LuaClass<ArchiveEncoder>) {
        cls.method(
            "setClassName",
            [
                LuaParameter("name", .optional(.text), "the name to write; nil undoes it"),
                LuaParameter("class", .union([.table, .text]), "a declared class, or a class's name"),
            ], "Writes the instances of a class under another name, in this archive.",
            example:
                "local w = archiver.writer() w:setClassName(\"Homepwner.Foo\", archiver.class(\"Foo\")) w:finishEncoding()"
        ) { encoder, call in
            let className = try ArchiverModule.className(call, 1, encoder.bridge)
            let name = try call.optional(0, call.text)
            try encoder.archiver.setClassName(name, forClass: className)
            return call.returnsNothing()
        }
        cls.method(
            "finishEncoding", returns: LuaType.orError(.string),
            "Ends the archive and gives its bytes; nothing more can be encoded.",
            example: "local w = archiver.writer() w:encodeObject(\"x\", \"a\") return #w:finishEncoding()"
        ) { encoder, call in
            guard try !encoder.archiver.isEncodingObject else {
                throw LuaError(.runtime, "the archive cannot be finished while an object is being encoded")
            }
            do {
                return call.returns(LuaString(try encoder.finish()))
            } catch let error as ArchiveError {
                return call.returns(failure: error)
            }
        }
    }
}
