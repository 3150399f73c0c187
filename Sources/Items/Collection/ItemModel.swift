public import ColumnEngine
import FoundationEssentials
import PropertyList

/// A model whose items refer to others, or whose kind is not its type's name.
///
/// ```swift
/// struct Film: ItemModel {
///     var id: Int
///     var title: String
///     var director: Person.ID?
///     var genres: [Genre.ID] = []
///
///     static let director = belongsTo(Person.self, \.director, onDelete: .nullify)
///     static let genres = manyToMany(Genre.self, \.genres)
///     static let screenings = hasMany(Screening.film)
///     static let declarations = [director.declared(), genres.declared()]
/// }
/// ```
public protocol ItemModel: Codable, Identifiable, Sendable where ID: ItemIdentifier {
    /// The kind of the model's items: the type's name if not given. Two models with the same one are views of the same
    /// items.
    static var itemKind: String { get }

    /// What is declared of the items' fields, as soon as a model is written: relations, and what else has to hold. None if
    /// not given.
    static var declarations: [FieldDeclaration] { get }
}

extension ItemModel {
    public static var itemKind: String { "\(Self.self)" }
    public static var declarations: [FieldDeclaration] { [] }

    /// A relation to at most one model, by its id in a property.
    ///
    /// - Parameters:
    ///   - type: the other models' type.
    ///   - property: the property with the id.
    ///   - rule: what becomes of a model when the other one is deleted.
    /// - Returns: the relation, to be declared in ``declarations``.
    public static func belongsTo<Target: ItemModel>(
        _ type: Target.Type, _ property: any KeyPath<Self, Target.ID?> & Sendable,
        onDelete rule: FieldDeclaration.DeleteRule = .nullify
    ) -> ItemRelation<Self, Target, Target?> {
        let attribute = ItemAttribute<Self, Target.ID?>(property)
        let key = ForeignKey<Self, Target>(
            attribute, rule, ids: { model in model[keyPath: property].map { [$0] } ?? [] },
            refers: { attribute == $0.id }, among: { attribute.isIn($0) })
        return ItemRelation(key) { .some($0.first) }
    }

    /// A relation to exactly one model, by its id in a property, which `nullify` cannot take away.
    public static func belongsTo<Target: ItemModel>(
        _ type: Target.Type, _ property: any KeyPath<Self, Target.ID> & Sendable,
        onDelete rule: FieldDeclaration.DeleteRule = .deny
    ) -> ItemRelation<Self, Target, Target> where Target.ID.Wrapped == Target.ID {
        precondition(rule != .nullify, "\(property) is not optional: onDelete is deny or cascade")
        let attribute = ItemAttribute<Self, Target.ID>(property)
        let key = ForeignKey<Self, Target>(
            attribute, rule, ids: { [$0[keyPath: property]] }, refers: { attribute == $0.id },
            among: { attribute.isIn($0) })
        return ItemRelation(key) { $0.first }
    }

    /// A relation to any number of models, by their ids in an array. By `nullify` a deleted one leaves it.
    public static func manyToMany<Target: ItemModel>(
        _ type: Target.Type, _ property: any KeyPath<Self, [Target.ID]> & Sendable,
        onDelete rule: FieldDeclaration.DeleteRule = .nullify
    ) -> ItemRelation<Self, Target, [Target]> {
        let attribute = ItemAttribute<Self, [Target.ID]>(property)
        let key = ForeignKey<Self, Target>(
            attribute, rule, ids: { $0[keyPath: property] }, refers: { attribute.contains($0.id) }, among: { _ in nil })
        return ItemRelation(key) { $0 }
    }

    /// The other side of a relation: the models that refer to this one, in the store's order.
    public static func hasMany<Source: ItemModel, Value>(
        _ relation: ItemRelation<Source, Self, Value>
    ) -> ItemRelation<Self, Source, [Source]> { ItemRelation(inverting: relation) }
}

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

    /// The fields of a model, with its kind; over the earlier values of an item that is updated, by property.
    ///
    /// - Throws: ``StoreError`` with `invalidValue` naming the field.
    func fields(
        of model: Model, over earlier: (_ name: String) -> PropertyListValue? = { _ in nil }
    ) throws(StoreError) -> [(name: String, value: PropertyListValue?)] {
        do {
            var fields: [(name: String, value: PropertyListValue?)] = []
            for (name, value) in try ItemModelEncoder.fields(of: model, over: earlier) {
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
