import KeyedArchive
import Lua
import PropertyList

/// NSCoder's decoding methods, with a key or without.
enum DecoderBinding {
    private static let key = LuaParameter("key", .text, "as it was encoded")
    private static let optionalKey = LuaParameter(
        "key", .optional(.text), "as it was encoded; without one, the next value that had none")
    private static let archive =
        "local w = archiver.writer() w:encodeObject(\"x\", \"a\") w:encodeInt(40, \"age\") w:encodeObject(\"next\") "
        + "local r = archiver.reader(w:finishEncoding()) "

    static func makeClass(_ bridge: ArchiveBridge) -> LuaClass<ArchiveDecoder> {
        let cls = LuaClass<ArchiveDecoder>(
            "KeyedUnarchiver",
            "An archive being read: what `init(coder)` is given, and what `archiver.reader(bytes)` gives. Within init, what "
                + "the archive is to blame for is raised; elsewhere it is nil and an error.",
            in: bridge.state)
        cls.property("allowsKeyedCoding", .boolean, "Whether values may have keys; they may.") { _, call in
            call.returns(true)
        }
        cls.property("requiresSecureCoding", .boolean, "Whether only allowed classes may be decoded.") {
            decoder, call in call.returns(decoder.unarchiver.requiresSecureCoding)
        }
        cls.property("error", .optional(.object("Error")), "The first failure; nil as long as there is none.") {
            decoder, call in
            call.returns(decoder.unarchiver.error.map(call.state.errorValue) ?? .nil)
        }
        cls.property("keys", .array(.string), "The keys of the current object, or of the archive's top.") {
            decoder, call in call.returns(array: decoder.unarchiver.keys)
        }
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
            "decodeObject", [optionalKey], returns: LuaType.orError(.any),
            "Decodes an object; nil when it is nil or absent. An object that was encoded in several places comes back as "
                + "one.",
            example: archive + "return r:decodeObject(\"a\"), r:decodeObject()"
        ) { decoder, call in
            try decoder.perform(call) {
                guard let key = try call.optional(0, call.text) else {
                    return call.returns(try decoder.lua(decoder.unarchiver.decodeObject()))
                }
                return call.returns(try decoder.lua(decoder.unarchiver.decodeObject(forKey: key)))
            }
        }
        let one = LuaParameter("class", .union([.table, .text]), "a declared class, or a class's name")
        cls.method(
            "decodeObjectOfClass", [one, optionalKey], returns: LuaType.orError(.any),
            "Decodes an object that is of a class or of one below it; another is a failure.",
            example: archive + "return r:decodeObjectOfClass(\"NSString\", \"a\")"
        ) { decoder, call in
            try decode(decoder, call, [try ArchiverModule.className(call, 0, decoder.bridge)])
        }
        let several = LuaParameter("classes", .table, "declared classes, or classes' names")
        cls.method(
            "decodeObjectOfClasses", [several, optionalKey], returns: LuaType.orError(.any),
            "Decodes an object that is, with all it holds, of one of these classes or below one.",
            example: archive + "return r:decodeObjectOfClasses({ \"NSString\", \"NSNumber\" }, \"a\")"
        ) { decoder, call in
            try decode(decoder, call, try ArchiverModule.classNames(call, 0, decoder.bridge))
        }
        cls.method(
            "decodePropertyList", [optionalKey], returns: LuaType.orError(.any), "Decodes a property-list value.",
            example: archive + "return r:decodePropertyList(\"a\")"
        ) { decoder, call in
            try decoder.perform(call) {
                let value =
                    if let key = try call.optional(0, call.text) {
                        try decoder.unarchiver.decodePropertyList(forKey: key)
                    } else { try decoder.unarchiver.decodePropertyList() }
                return call.returns(try value.map { try decoder.bridge.values.lua($0) } ?? .nil)
            }
        }
    }

    private static func decode(_ decoder: ArchiveDecoder, _ call: LuaCall, _ names: [String]) throws -> LuaResults {
        let classes = try ArchiverModule.allowed(names, call, 0, decoder.bridge)
        return try decoder.perform(call) {
            guard let key = try call.optional(1, call.text) else {
                return call.returns(try decoder.lua(decoder.unarchiver.decodeObject(ofClasses: classes)))
            }
            return call.returns(try decoder.lua(decoder.unarchiver.decodeObject(ofClasses: classes, forKey: key)))
        }
    }

    // MARK: Scalars

    private static func scalars(_ cls: LuaClass<ArchiveDecoder>) {
        cls.method(
            "decodeBool", [key], returns: LuaType.orError(.boolean), "Decodes a boolean; false when it is absent.",
            example: archive + "return r:decodeBool(\"absent\")"
        ) { decoder, call in
            let key = try call.text(0)
            return try decoder.perform(call) { call.returns(try decoder.unarchiver.decodeBool(forKey: key)) }
        }
        let integers: [(name: String, isNarrow: Bool, documentation: String)] = [
            ("decodeInt", true, "Decodes an integer of 32 bits, C's int; 0 when it is absent."),
            ("decodeInt32", true, "Decodes an integer of 32 bits; 0 when it is absent."),
            ("decodeInteger", false, "Decodes an integer; 0 when it is absent."),
            ("decodeInt64", false, "Decodes an integer of 64 bits; 0 when it is absent."),
        ]
        for (name, isNarrow, documentation) in integers {
            cls.method(
                name, [key], returns: LuaType.orError(.integer), documentation,
                example: archive + "return r:\(name)(\"age\")"
            ) { decoder, call in
                let key = try call.text(0)
                return try decoder.perform(call) {
                    let unarchiver = decoder.unarchiver
                    return call.returns(
                        isNarrow
                            ? Int64(try unarchiver.decodeInt32(forKey: key)) : try unarchiver.decodeInt64(forKey: key))
                }
            }
        }
        for (name, documentation) in [
            ("decodeFloat", "Decodes a number of single precision; 0 when it is absent."),
            ("decodeDouble", "Decodes a number; 0 when it is absent."),
        ] {
            cls.method(
                name, [key], returns: LuaType.orError(.number), documentation,
                example: archive + "return r:\(name)(\"age\")"
            ) { decoder, call in
                let key = try call.text(0)
                return try decoder.perform(call) {
                    let unarchiver = decoder.unarchiver
                    return call.returns(
                        name == "decodeFloat"
                            ? Double(try unarchiver.decodeFloat(forKey: key)) : try unarchiver.decodeDouble(forKey: key)
                    )
                }
            }
        }
        cls.method(
            "decodeBytes", [optionalKey], returns: LuaType.orError(.string),
            "Decodes bytes, as a Lua string; nil when they are absent.",
            example: "local w = archiver.writer() w:encodeBytes(\"ab\", \"raw\") "
                + "return archiver.reader(w:finishEncoding()):decodeBytes(\"raw\")"
        ) { decoder, call in
            try decoder.perform(call) {
                let bytes =
                    if let key = try call.optional(0, call.text) {
                        try decoder.unarchiver.decodeBytes(forKey: key)
                    } else {
                        try decoder.unarchiver.decodeBytes()
                    }
                return call.returns(bytes.map { LuaValue.string(LuaString($0)) } ?? .nil)
            }
        }
        cls.method(
            "containsValue", [key], returns: [.boolean], "Whether there is a value for a key; one that is nil counts.",
            example: archive + "return r:containsValue(\"c\")"
        ) { decoder, call in call.returns(decoder.unarchiver.containsValue(forKey: try call.text(0))) }
    }

    // MARK: Without keys

    private static func unkeyed(_ cls: LuaClass<ArchiveDecoder>) {
        cls.method(
            "decodeDataObject", returns: LuaType.orError(.object("data")), "Decodes the next object, which is data.",
            example: "local w = archiver.writer() w:encodeDataObject(\"ab\") "
                + "return #archiver.reader(w:finishEncoding()):decodeDataObject()"
        ) { decoder, call in
            try decoder.perform(call) {
                let bytes = try decoder.unarchiver.decodeDataObject()
                return call.returns(bytes.map { DataValue($0) }, decoder.bridge.values.datas)
            }
        }
        let type = LuaParameter("type", .text, "Objective-C's letter: i for a 32-bit integer, d a double, @ an object")
        let values =
            "local w = archiver.writer() w:encodeValuesOfTypes(\"id\", 40, 0.5) w:encodeArrayOfType(\"s\", { 1, 2 }) "
            + "local r = archiver.reader(w:finishEncoding()) "
        for name in ["decodeValueOfType", "decodeValueOfObjCType"] {
            cls.method(
                name, [type], returns: LuaType.orError(.any), "Decodes the next value, of a C type.",
                example: values + "return r:\(name)(\"i\")"
            ) { decoder, call in
                let letter = try self.letter(call)
                return try decoder.perform(call) {
                    call.returns(try lua(decoder.unarchiver.decodeValue(ofObjCType: letter), decoder))
                }
            }
        }
        for name in ["decodeValuesOfTypes", "decodeValuesOfObjCTypes"] {
            cls.method(
                name, [LuaParameter("types", .text, "a letter for each value")], returns: [.variadic(.any)],
                "Decodes the next values, of C types.", example: values + "return r:\(name)(\"id\")"
            ) { decoder, call in
                let letters = try call.text(0)
                return try decoder.perform(call) {
                    let scalars = try decoder.unarchiver.decodeValues(ofObjCTypes: letters)
                    return try call.returns(values: scalars.map { try lua($0, decoder) })
                }
            }
        }
        for name in ["decodeArrayOfType", "decodeArrayOfObjCType"] {
            cls.method(
                name, [type, LuaParameter("count", .integer, "how many values there are")],
                returns: LuaType.orError(.table), "Decodes the next value, a C array.",
                example: values + "r:decodeValuesOfTypes(\"id\") return #r:\(name)(\"s\", 2)"
            ) { decoder, call in
                let letter = try self.letter(call)
                let count = Int(clamping: try call.integer(1))
                guard count >= 0 else { throw call.refuse(1, "a number of values expected, got \(count)") }
                return try decoder.perform(call) {
                    let scalars = try decoder.unarchiver.decodeArray(ofObjCType: letter, count: count)
                    return call.returns(array: try scalars.map { try lua($0, decoder) })
                }
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
            "setClass",
            [
                LuaParameter("class", .table, "a declared class"),
                LuaParameter("name", .text, "the name that the archive has"),
            ], "Decodes instances of a name as a class, in this archive.",
            example: archive + "r:setClass(archiver.class(\"Foo\"), \"OldFoo\")"
        ) { decoder, call in
            let table = try call.table(0)
            guard let scriptClass = decoder.bridge.classes.scriptClass(table) else {
                throw call.refuse(0, "a class declared by archiver.class expected")
            }
            decoder.setClass(scriptClass, table, forClassName: try call.text(1))
            return call.returnsNothing()
        }
        cls.method(
            "finishDecoding", returns: LuaType.orError(.boolean),
            "Ends the decoding; what was decoded stays. nil and the first error when there was one.",
            example: archive + "return r:finishDecoding()"
        ) { decoder, call in
            do throws(ArchiveError) {
                try decoder.finish()
                return call.returns(true)
            } catch {
                return call.returns(failure: error)
            }
        }
    }
}
