public import ColumnEngine

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
