import CPlatform
import ColumnEngine
import FoundationEssentials
import PropertyList

/// Encodes a model as the values of an item's fields; nested structs become dictionaries.
struct ItemModelEncoder: Encoder {
    let node: EncodedNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// The fields of a model in the order of its keys; nil for properties without a value. Of the earlier values, those of
    /// an item that is updated, keys stay in dictionaries that a nested struct does not have.
    static func fields(
        of model: some Encodable, over earlier: (_ name: String) -> PropertyListValue? = { _ in nil }
    ) throws -> [(name: String, value: PropertyListValue?)] {
        try fields(of: model, EncodedNode(), over: earlier)
    }

    /// The kinds of a model's fields in the order of its keys: those of the properties' types, or else of their values;
    /// without the fields of which neither is known.
    static func kinds(of model: some Encodable) throws -> [(name: String, kind: FieldDeclaration.Kind)] {
        let node = EncodedNode()
        node.kinds = [:]
        let fields = try fields(of: model, node) { _ in nil }
        return fields.compactMap { name, value in
            (node.kinds?[name] ?? value.flatMap(FieldDeclaration.Kind.init(of:))).map { (name: name, kind: $0) }
        }
    }

    private static func fields(
        of model: some Encodable, _ node: EncodedNode, over earlier: (String) -> PropertyListValue?
    ) throws -> [(name: String, value: PropertyListValue?)] {
        try model.encode(to: ItemModelEncoder(node: node, codingPath: []))
        guard let fields = node.fields(over: earlier) else {
            throw EncodingError.invalidValue(
                model, EncodingError.Context(codingPath: [], debugDescription: "a model is a struct with keys"))
        }
        return fields
    }

    /// Encodes a value. Foundation's types have special representations, different from that of their `encode`.
    static func part<Value: Encodable>(_ value: Value, at path: [any CodingKey]) throws -> EncodedNode.Part {
        if Value.self == Date.self || Value.self == Data.self || Value.self == URL.self || Value.self == UUID.self,
            let value = value as? any ItemValue
        {
            return .value(value.fieldValue)
        }
        try checkDepth(of: value, at: path)
        let node = EncodedNode()
        try value.encode(to: ItemModelEncoder(node: node, codingPath: path))
        return .node(node)
    }

    /// Refuses a value nested deeper than a field takes, as of a model that holds itself, before the stack ends.
    static func checkDepth<Value>(of value: Value, at path: [any CodingKey]) throws {
        try checkDepth(at: path, Value.self)
        guard cubby_stack_is_short() == 0 else {
            throw tooDeep(Value.self, path, "it nests deeper than the thread's stack allows")
        }
    }

    /// The same of a plain value, which is refused in place of its container: an encoder that is passed on to a superclass
    /// refuses nothing.
    static func checkDepth(at path: [any CodingKey], _ type: Any.Type) throws {
        // A field's own value is not nested.
        guard path.count <= FieldValidation.depthLimit + 1 else {
            let field = path.first?.stringValue ?? "it"
            throw tooDeep(
                type, path, "\(field) nests more than \(FieldValidation.depthLimit) deep: store it in flatter form")
        }
    }

    /// - Throws: for a number that no field holds.
    static func wide(_ value: UInt128, at path: [any CodingKey]) throws -> EncodedNode.Part {
        guard let number = Int128(exactly: value) else {
            throw EncodingError.invalidValue(
                value,
                EncodingError.Context(
                    codingPath: path,
                    debugDescription: "\(path.text) is \(value), and an integer of an item is \(Int128.max) at most: "
                        + "store it as a text"))
        }
        return .value(number.fieldValue)
    }

    /// With the type in place of the value, which could not be printed without a stack as deep.
    private static func tooDeep(_ type: Any.Type, _ path: [any CodingKey], _ what: String) -> EncodingError {
        .invalidValue(type, EncodingError.Context(codingPath: path, debugDescription: what))
    }

    func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.haveKeys(of: type)
        return KeyedEncodingContainer(KeyedModelEncoding(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.form = .unkeyed
        return UnkeyedModelEncoding(node: node, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        node.form = .single
        return SingleModelEncoding(node: node, codingPath: codingPath)
    }
}

/// A container during encoding: of a struct, of an array, or of a single value.
final class EncodedNode {
    enum Form { case keyed, unkeyed, single }

    enum Part {
        case value(PropertyListValue?)
        case node(EncodedNode)

        func value(over earlier: @autoclosure () -> PropertyListValue? = nil) -> PropertyListValue? {
            switch self {
            case .value(let value): value
            case .node(let node): node.value(over: earlier())
            }
        }

        /// Null for a value that was encoded, and is nil.
        var nested: PropertyListValue? { if case .node = self { .null } else { nil } }
    }

    var form = Form.single
    /// The types of the coding keys; of several containers in a class with a superclass.
    private var keyTypes: [any CodingKey.Type] = []
    /// Whether a value is a container that the value itself opened, as for the case of an enum.
    private var hasOpenedContainer = false
    /// The kinds of the properties' types by name, if they are asked for: of the model's own properties.
    var kinds: NameTable<FieldDeclaration.Kind>?
    private var names: [String] = []
    private var parts: [Part] = []

    var count: Int { parts.count }

    func add(_ part: Part) { parts.append(part) }

    func add(_ name: String, _ part: Part) {
        names.append(name)
        parts.append(part)
    }

    func haveKeys(of type: any CodingKey.Type) {
        form = .keyed
        keyTypes.append(type)
    }

    /// Adds a container that the encoded value opens under a key.
    func open(_ name: String, _ node: EncodedNode) {
        hasOpenedContainer = true
        add(name, .node(node))
    }

    /// By name, in order; nil for a container without keys.
    func fields(over earlier: (String) -> PropertyListValue?) -> [(name: String, value: PropertyListValue?)]? {
        guard form == .keyed else { return nil }
        return zip(names, parts).map { name, part in (name: name, value: part.value(over: earlier(name))) }
    }

    /// The value; in a dictionary with those entries of an earlier one whose keys the type does not have.
    func value(over earlier: @autoclosure () -> PropertyListValue? = nil) -> PropertyListValue? {
        switch form {
        case .single: return parts.last?.value(over: earlier())
        case .unkeyed: return .array(parts.map { $0.value() ?? .null })
        case .keyed:
            let before = entries(of: earlier())
            var values: PropertyListFields = [:]
            for (name, value) in before where !hasKey(name) { values[name] = value }
            // A nil of a dictionary is a value under its key, that of a struct's property is none.
            for (name, part) in zip(names, parts) { values[name] = part.value(over: before[name]) ?? part.nested }
            return .fields(values)
        }
    }

    /// The entries of an earlier value; none of another case of an enum, beside which there is no other.
    private func entries(of earlier: PropertyListValue?) -> PropertyListFields {
        guard let entries = earlier?.fields else { return [:] }
        let isCase = hasOpenedContainer && parts.count == 1
        return isCase && (entries.count != 1 || entries[names[0]] == nil) ? [:] : entries
    }

    /// Whether the type has a key: a `Dictionary` has each.
    private func hasKey(_ name: String) -> Bool {
        keyTypes.contains { $0.init(stringValue: name)?.stringValue.utf8.elementsEqual(name.utf8) ?? false }
    }
}

/// The keyed container of a model. Records absent values, so that an update removes them.
struct KeyedModelEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: EncodedNode
    let codingPath: [any CodingKey]

    private func put<Value: ItemValue>(_ value: Value, _ key: Key) throws {
        try ItemModelEncoder.checkDepth(at: codingPath, Value.self)
        if node.kinds != nil { node.kinds?[key.stringValue] = Value.fieldKind }
        node.add(key.stringValue, .value(value.fieldValue))
    }

    func encodeNil(forKey key: Key) { node.add(key.stringValue, .value(nil)) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        if node.kinds != nil, let type = Value.self as? any ItemValue.Type {
            node.kinds?[key.stringValue] = type.fieldKind
        }
        node.add(key.stringValue, try ItemModelEncoder.part(value, at: codingPath + [key]))
    }

    // Without these and their like the standard library's are taken, which refuse them.
    func encode(_ value: Int128, forKey key: Key) throws { try put(value, key) }

    func encode(_ value: UInt128, forKey key: Key) throws {
        if node.kinds != nil { node.kinds?[key.stringValue] = .integer }
        node.add(key.stringValue, try ItemModelEncoder.wide(value, at: codingPath + [key]))
    }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        if node.kinds != nil, let type = Value.self as? any ItemValue.Type {
            node.kinds?[key.stringValue] = type.fieldKind
        }
        if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    func nestedContainer<Nested>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        let inner = EncodedNode()
        node.open(key.stringValue, inner)
        return ItemModelEncoder(node: inner, codingPath: codingPath + [key]).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder(PathKey.super) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

    private func encoder(_ key: some CodingKey) -> ItemModelEncoder {
        let inner = EncodedNode()
        node.add(key.stringValue, .node(inner))
        return ItemModelEncoder(node: inner, codingPath: codingPath + [key])
    }
}

// The standard library's default methods would be slower: they call each value's own `encode`.
extension KeyedModelEncoding {
    func encode<Value: ItemValue & Encodable>(_ value: Value, forKey key: Key) throws { try put(value, key) }

    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Int128?, forKey key: Key) throws { try put(value, key) }

    func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws {
        if node.kinds != nil { node.kinds?[key.stringValue] = .integer }
        if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }
}

/// Encodes an array's elements.
struct UnkeyedModelEncoding: UnkeyedEncodingContainer {
    let node: EncodedNode
    let codingPath: [any CodingKey]
    var count: Int { node.count }

    func encodeNil() { node.add(.value(nil)) }

    func encode<Value: ItemValue & Encodable>(_ value: Value) throws {
        try ItemModelEncoder.checkDepth(at: codingPath, Value.self)
        node.add(.value(value.fieldValue))
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        node.add(try ItemModelEncoder.part(value, at: codingPath + [PathKey(intValue: count)]))
    }

    func encode(_ value: Int128) throws {
        try ItemModelEncoder.checkDepth(at: codingPath, Int128.self)
        node.add(.value(value.fieldValue))
    }

    func encode(_ value: UInt128) throws {
        node.add(try ItemModelEncoder.wide(value, at: codingPath + [PathKey(intValue: count)]))
    }

    func nestedContainer<Nested>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        encoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder() }

    private func encoder() -> ItemModelEncoder {
        let inner = EncodedNode()
        let path = codingPath + [PathKey(intValue: count)]
        node.add(.node(inner))
        return ItemModelEncoder(node: inner, codingPath: path)
    }
}

/// Encodes a single value: an enum's raw value, or an optional's wrapped value.
struct SingleModelEncoding: SingleValueEncodingContainer {
    let node: EncodedNode
    let codingPath: [any CodingKey]

    func encodeNil() { node.add(.value(nil)) }

    func encode<Value: ItemValue & Encodable>(_ value: Value) throws {
        try ItemModelEncoder.checkDepth(at: codingPath, Value.self)
        node.add(.value(value.fieldValue))
    }

    func encode<Value: Encodable>(_ value: Value) throws { node.add(try ItemModelEncoder.part(value, at: codingPath)) }
    func encode(_ value: Int128) throws { node.add(.value(value.fieldValue)) }
    func encode(_ value: UInt128) throws { node.add(try ItemModelEncoder.wide(value, at: codingPath)) }
}
