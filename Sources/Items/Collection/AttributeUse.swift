import ColumnEngine
import PropertyList

/// An attribute in a condition, an order or an assignment: a name and a property, which the first models of a store
/// confirm or contradict.
///
/// The compiler does not know whether they belong together, and a condition on a misspelt name holds for no item, or for
/// all of them.
struct AttributeUse<Model>: Sendable {
    let name: String
    let property: any PartialKeyPath<Model> & Sendable
    /// Why the attribute has no name; nil if it has one.
    let problem: StoreError?
    /// Whether no model has to confirm it.
    let isFound: Bool
    /// Whether a model's property is what the field of the name has; nil if neither has a value.
    let isConfirmed: @Sendable (Model, _ encoded: PropertyListValue?) -> Bool?

    var identity: AttributeIdentity { AttributeIdentity(name: name, property: property) }
}

/// A name and a property that belong together.
struct AttributeIdentity: Hashable {
    let name: String
    let property: AnyKeyPath
}

extension LocalItemCollection {
    /// The number of models that may contradict an attribute.
    private static var modelLimit: Int { 8 }

    /// Checks attributes against the first models of the store, until one has confirmed them.
    ///
    /// - Throws: `unknownField` for a name that is not that of its property, with the name that it may be.
    func check(_ uses: [AttributeUse<Model>]) throws(StoreError) {
        for case let problem? in uses.lazy.map(\.problem) { throw problem }
        let open = uses.filter { !$0.isFound && !store.confirmedAttributes.contains($0.identity) }
        if open.isEmpty { return }
        var confirmed: Set<AttributeIdentity> = []
        let reader = reader()
        for row in store.columns.slots.lazy.filter({ $0 != ItemOrder.hole }).prefix(Self.modelLimit) {
            reader.row = row
            guard let model = try? coding.model(reader) else { continue }
            var fields: PropertyListFields = [:]
            for case (let name, let value?) in try coding.fields(of: model) { fields[name] = value }
            for use in open where use.name != coding.key?.name {
                switch use.isConfirmed(model, Self.value(of: coding.field(use.name), in: fields)) {
                case true?: confirmed.insert(use.identity)
                case false?: throw error(use, model, fields)
                case nil: continue
                }
            }
        }
        store.confirmedAttributes.formUnion(confirmed)
    }

    /// The value of a field, or of a part of nested ones: `publisher.city`.
    private static func value(of name: String, in fields: PropertyListFields) -> PropertyListValue? {
        if let value = fields[name] { return value }
        var parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
        guard let first = parts.popFirst(), var value = fields[first] else { return nil }
        for part in parts {
            guard let next = value.fields?[part] else { return nil }
            value = next
        }
        return value
    }

    private func error(_ use: AttributeUse<Model>, _ model: Model, _ fields: PropertyListFields) -> StoreError {
        let names = fields.filter { $0.key != use.name && use.isConfirmed(model, $0.value) ?? false }.map(\.key)
            .sorted()
        let near = NearestNames.nearest(to: use.name, among: names)
        let hint = near.isEmpty && names.count == 1 ? NearestNames.suggestion(names) : NearestNames.suggestion(near)
        return StoreError(
            .unknownField(use.name),
            "the attribute \(use.name) of \(Model.self) and its key path do not belong together: a model has another "
                + "value there; the name is that of the property's coding key\(hint)")
    }
}
