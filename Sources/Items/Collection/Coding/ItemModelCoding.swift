import ColumnEngine
import PropertyList

/// Converts between models and items.
struct ItemModelCoding<Model: Codable & Sendable>: Sendable {
    /// The property with the item's key.
    struct Key: Sendable {
        let name: String
        let text: @Sendable (Model) -> String
        let isKey: @Sendable (String) -> Bool

        init<ID: ItemIdentifier>(_ attribute: ItemAttribute<Model, ID>) {
            let property = attribute.property
            name = attribute.name
            text = { $0[keyPath: property].itemKey }
            isKey = { ID(itemKey: $0) != nil }
        }
    }

    /// Nil for models with generated keys.
    let key: Key?
    /// Whether the fields of the first model are declared.
    var declares = false

    init(key: Key?) { self.key = key }

    /// The name of the field for a property.
    func field(_ name: String) -> String { name == key?.name ? "itemKey" : name }

    /// The fields of a model, except for its key.
    ///
    /// - Throws: ``StoreError`` with `invalidValue` naming the field.
    func fields(of model: Model) throws(StoreError) -> [(name: String, value: PropertyListValue?)] {
        do {
            return try ItemModelEncoder.fields(of: model).filter { $0.name != key?.name && $0.name != "itemKey" }
        } catch EncodingError.invalidValue(_, let context) {
            throw StoreError(.invalidValue(field: context.codingPath.text), context.debugDescription)
        } catch {
            throw StoreError(.invalidValue(field: ""), "\(Model.self) cannot be encoded: \(error)", cause: error)
        }
    }

    /// The declarations of a model's fields that a store does not have: with the kinds of their types, in the order of
    /// the model's keys.
    ///
    /// - Throws: ``StoreError`` with `invalidValue` naming the field.
    func declarations(of model: Model, missingIn columns: ColumnStore) throws(StoreError) -> [FieldDeclaration] {
        let kinds: [(name: String, kind: FieldDeclaration.Kind)]
        do { kinds = try ItemModelEncoder.kinds(of: model) } catch {
            throw StoreError(.invalidValue(field: ""), "\(Model.self) cannot be encoded: \(error)", cause: error)
        }
        return kinds.filter { $0.name != key?.name && isUndeclared($0.name, columns) }.map {
            FieldDeclaration($0.name, $0.kind)
        }
    }

    /// Whether nothing is declared of a field of a model.
    func isUndeclared(_ name: String, _ columns: ColumnStore) -> Bool {
        !columns.schema.has(name) && columns.existingField(named: name).flatMap(columns.declaration(of:)) == nil
    }

    /// Decodes an item as a model.
    ///
    /// - Throws: ``ItemModelError``.
    func model(_ reader: ItemRowReader) throws(ItemModelError) -> Model {
        let itemKey = reader.key
        if let key, !key.isKey(itemKey) {
            throw ItemModelError(itemKey: itemKey, field: key.name, message: "the item's key is of another form")
        }
        do {
            return try Model(from: ItemModelDecoder(source: .item(reader), codingPath: []))
        } catch let error as DecodingError {
            let context = error.context
            throw ItemModelError(
                itemKey: itemKey, field: context.codingPath.text, message: context.debugDescription)
        } catch {
            throw ItemModelError(itemKey: itemKey, field: "", message: "\(error)")
        }
    }
}

extension StoreError {
    /// The error of reading an item that does not decode as a model.
    init(_ error: ItemModelError) {
        self.init(.invalidValue(field: error.field), error.description, cause: error)
    }
}

/// An item that does not decode as a model, with the field that is missing or has another kind of value.
///
/// Other programs and scripts may store any fields. If it ends a read, it is the `StoreError.cause`.
public struct ItemModelError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The item's key.
    public let itemKey: String
    /// The field, with nested names and indexes: `publisher.city`, `tags[1]`; empty for the item as a whole.
    public let field: String
    /// The problem, in one sentence.
    public let message: String

    /// The message with the item and the field.
    public var description: String { "item \(itemKey)\(field.isEmpty ? "" : ", field \(field)"): \(message)" }
}
