import ColumnEngine
import FoundationEssentials
import PropertyList
import Wording

/// Decodes a model from an item's fields, or from a nested value.
struct ItemModelDecoder: Decoder {
    let source: ModelSource
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Decodes a value of a field. Foundation's types have special representations.
    static func decode<Value: Decodable>(
        _ type: Value.Type, _ value: PropertyListValue, at path: @autoclosure () -> [any CodingKey]
    ) throws -> Value {
        // A cast from a concrete type is fast, one to a protocol is not.
        let known: Any? =
            if type == UUID.self {
                UUID(fieldValue: value)
            } else if type == Date.self {
                Date(fieldValue: value)
            } else if type == Data.self {
                Data(fieldValue: value)
            } else if type == URL.self {
                URL(fieldValue: value)
            } else {
                try Value(from: ItemModelDecoder(source: .value(value), codingPath: path()))
            }
        guard let result = known as? Value else { throw mismatch(type, value, at: path()) }
        return result
    }

    static func mismatch(_ type: Any.Type, _ value: PropertyListValue, at path: [any CodingKey]) -> DecodingError {
        .typeMismatch(
            type,
            DecodingError.Context(
                codingPath: path,
                debugDescription: "\(FieldValidation.describe(value)) is not \("\(type)".withArticle)"))
    }

    static func missing(_ type: Any.Type, at path: [any CodingKey]) -> DecodingError {
        .valueNotFound(
            type, DecodingError.Context(codingPath: path, debugDescription: "there is no value; a \(type) is expected"))
    }

    func container<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if case .value(let value) = source {
            guard value.fields != nil else {
                throw Self.mismatch(PropertyListFields.self, value, at: codingPath)
            }
        }
        return KeyedDecodingContainer(KeyedModelDecoding(source: source, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let value = try value()
        switch value {
        case .array(let elements), .set(let elements):
            return UnkeyedModelDecoding(elements: elements, codingPath: codingPath)
        default: throw Self.mismatch([PropertyListValue].self, value, at: codingPath)
        }
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        SingleModelDecoding(value: try value(), codingPath: codingPath)
    }

    private func value() throws -> PropertyListValue {
        guard case .value(let value) = source else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: codingPath, debugDescription: "a model is a struct with keys"))
        }
        return value
    }
}

/// The source of named values.
enum ModelSource {
    case item(ItemRowReader)
    case value(PropertyListValue)

    func value(_ name: String) -> PropertyListValue? {
        switch self {
        case .item(let reader): return reader.value(name)
        case .value(let value): return value.fields?[name]
        }
    }

    var names: [String] {
        switch self {
        case .item(let reader): reader.names
        case .value(let value): value.fields?.keys.sorted() ?? []
        }
    }
}

/// Reads the fields of successive items by field number.
final class ItemRowReader {
    private let columns: ColumnStore
    /// The property with the item's key; nil for none.
    private let keyName: String?
    private var fields: [ExactText: ItemField] = [:]
    var row: UInt32 = 0 {
        didSet { key = columns.keyString(row) }
    }
    /// The item's key.
    private(set) var key = ""

    init(_ columns: ColumnStore, keyName: String?) {
        (self.columns, self.keyName) = (columns, keyName)
    }

    func value(_ name: String) -> PropertyListValue? {
        if name == keyName { return .string(key) }
        if let field = fields[ExactText(name)] { return columns.value(row, field) }
        guard let field = columns.existingField(named: name) else { return nil }
        fields[ExactText(name)] = field
        return columns.value(row, field)
    }

    var names: [String] {
        var values = columns.dictionary(of: row)
        if let keyName { values[keyName] = values.removeValue(forKey: "itemKey") }
        return values.keys.sorted()
    }
}
