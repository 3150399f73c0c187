import FoundationEssentials
import PropertyList

/// Encodes a model as the values of an item's fields; nested structs become dictionaries.
struct ItemModelEncoder: Encoder {
    let node: EncodedNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// The fields of a model in the order of its keys; nil for properties without a value.
    static func fields(of model: some Encodable) throws -> [(name: String, value: PropertyListValue?)] {
        let node = EncodedNode()
        try model.encode(to: ItemModelEncoder(node: node, codingPath: []))
        guard let fields = node.fields else {
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
        let node = EncodedNode()
        try value.encode(to: ItemModelEncoder(node: node, codingPath: path))
        return .node(node)
    }

    func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.form = .keyed
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

        var value: PropertyListValue? {
            switch self {
            case .value(let value): value
            case .node(let node): node.value
            }
        }
    }

    var form = Form.single
    private var names: [String] = []
    private var parts: [Part] = []

    var count: Int { parts.count }

    func add(_ part: Part) { parts.append(part) }

    func add(_ name: String, _ part: Part) {
        names.append(name)
        parts.append(part)
    }

    /// By name, in order; nil for a container without keys.
    var fields: [(name: String, value: PropertyListValue?)]? {
        guard form == .keyed else { return nil }
        return zip(names, parts).map { (name: $0, value: $1.value) }
    }

    var value: PropertyListValue? {
        switch form {
        case .single: return parts.last?.value
        case .unkeyed: return .array(parts.map { $0.value ?? .null })
        case .keyed:
            var values: PropertyListFields = [:]
            for (name, part) in zip(names, parts) { values[name] = part.value }
            return .fields(values)
        }
    }
}
