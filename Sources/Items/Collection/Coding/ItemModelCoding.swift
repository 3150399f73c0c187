import ColumnEngine
import FoundationEssentials
import PropertyList

/// Converts between models and items.
struct ItemModelCoding<Model: Codable & Sendable>: Sendable {
    /// The property with the item's key.
    struct Key: Sendable {
        let name: String
        /// Why the property has no name; nil if it has one.
        let problem: StoreError?
        let text: @Sendable (Model) -> String
        /// The value of the property for an id; nil for the id of no model.
        let value: @Sendable (_ id: String) -> PropertyListValue?
        /// Whether the key is a field as well, to be compared and sorted like others: a UUID is equal or not.
        let isField: Bool
        /// Whether a value in the field is an id of the type if it decodes, and has one text.
        let isPlain: @Sendable (PropertyListValue) -> Bool

        init<ID: ItemIdentifier>(_ attribute: ItemAttribute<Model, ID>) {
            let property = attribute.property
            (name, problem) = (attribute.name, attribute.problem)
            text = { $0[keyPath: property].itemKey }
            value = { ID(itemKey: $0)?.fieldValue }
            isField = ID.self != UUID.self
            let (isText, isNumber) = (ID.self == String.self, ID.self is any FixedWidthInteger.Type)
            isPlain = { value in
                switch value {
                case .string: isText
                case .integer: isNumber
                default: false
                }
            }
        }

        /// The key of a model whose id is a text for others.
        init<ID: LosslessStringConvertible & Sendable>(name: String, _ property: any KeyPath<Model, ID> & Sendable) {
            (self.name, problem, isField, isPlain) = (name, nil, true, { _ in false })
            text = { $0[keyPath: property].description }
            value = { ID($0).map { .string($0.description) } }
        }
    }

    /// The kind of the items.
    let kind: String
    /// What is declared of the items' fields by their model.
    let declarations: [FieldDeclaration]
    /// Nil for models with generated keys.
    let key: Key?
    /// Whether the fields of the first model are declared.
    var declares = false

    init(key: Key?) {
        let model = Model.self as? any ItemModel.Type
        kind = model?.itemKind ?? "\(Model.self)"
        declarations = model?.declarations ?? []
        self.key = key
    }

    /// The name of the field for a property. Names that the store has for itself get an underscore.
    func field(_ name: String) -> String {
        let isTaken =
            name.hasPrefix("itemK")
            && ["itemKey", ItemKind.fieldName].contains { base in
                name.hasPrefix(base) && name.utf8.dropFirst(base.utf8.count).allSatisfy { $0 == UInt8(ascii: "_") }
            }
        return isTaken ? name + "_" : name
    }

    /// The fields of a model, with its kind.
    ///
    /// - Throws: ``StoreError`` with `invalidValue` naming the field.
    func fields(of model: Model) throws(StoreError) -> [(name: String, value: PropertyListValue?)] {
        do {
            var fields: [(name: String, value: PropertyListValue?)] = []
            for (name, value) in try ItemModelEncoder.fields(of: model) {
                if name == key?.name, key?.isField == false { continue }
                fields.append((field(name), value))
            }
            fields.append((ItemKind.fieldName, .string(kind)))
            return fields
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
        return kinds.filter { $0.name != key?.name && isUndeclared(field($0.name), columns) }.map {
            FieldDeclaration(field($0.name), $0.kind)
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
        // Mostly the key is the kind and the id in the field, as a collection writes them.
        let isPlain = key.map { reader.hasKey(ofKind: kind, where: $0.isPlain) } ?? true
        if !isPlain { try checkID(reader) }
        do {
            return try Model(from: ItemModelDecoder(source: .item(reader), codingPath: []))
        } catch {
            // A mistake in the id is told first.
            if isPlain { try checkID(reader) }
            guard let context = (error as? DecodingError)?.context else {
                throw ItemModelError(itemKey: reader.key, field: "", message: "\(error)")
            }
            throw ItemModelError(
                itemKey: reader.key, field: context.codingPath.text, message: context.debugDescription)
        }
    }

    /// Refuses an item whose key is not one of the model's ids, or not that in its field.
    private func checkID(_ reader: ItemRowReader) throws(ItemModelError) {
        guard let key else { return }
        let id = reader.id
        guard key.value(id) != nil else {
            throw ItemModelError(
                itemKey: reader.key, field: key.name, message: "the item's key is of another form")
        }
        // An id may be coded in another form than its text.
        if key.isField, let stored = reader.storedID, let text = ItemKind.text(of: stored), text != id {
            throw ItemModelError(
                itemKey: reader.key, field: key.name,
                message: "\(FieldValidation.describe(stored)) is not the id in the item's key")
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
