public import ColumnEngine
public import PredicateFormat
import PropertyList

/// A property of a model with the name of its field, used to build conditions and orders.
///
/// ```swift
/// extension Book {
///     static let title: ItemAttribute<Book, String> = .init(\.title)
///     static let pages: ItemAttribute<Book, Int> = .init(\.pages)
///     static let city: ItemAttribute<Book, String> = .init(\.publisher.city)
/// }
/// let long = try await books.fetch(where: Book.pages > 300 && Book.title.hasPrefix("A"))
/// ```
///
/// The name is that of the property's coding key; nested properties follow a dot.
public struct ItemAttribute<Model, Value: ItemValue>: Sendable {
    /// The field's name.
    public let name: String
    /// The property.
    package let property: any KeyPath<Model, Value> & Sendable
    /// Why the name was not found; nil if it was, or if it is given.
    let problem: StoreError?
    /// Whether the name was found, and so is that of the property.
    let isFound: Bool

    /// The field of a property, by the name that the model's own coding gives it: found once, by decoding and encoding
    /// models of made-up values.
    ///
    /// A model that cannot be decoded from made-up values, because its `init(from:)` accepts some alone, gives the name:
    /// ``init(_:_:)``. So do two properties with the same enum that is not `CaseIterable`. Without it, each use of the
    /// attribute throws `unknownField`, which says so; so does one of a coding key with a dot, which would be nested.
    ///
    /// - Complexity: O(k log k) for k coding keys.
    public init(_ property: any KeyPath<Model, Value> & Sendable) where Model: Codable {
        self.property = property
        do throws(StoreError) {
            let keys = try ModelProbe.keys(of: property)
            if let key = keys.first(where: { $0.contains(".") }) {
                throw StoreError(
                    .unknownField("\(property)"),
                    "the coding key \(key) of \(property) has a dot, which separates nested properties: "
                        + "a property of an attribute has a coding key without dots")
            }
            (name, problem, isFound) = (keys.joined(separator: "."), nil, true)
        } catch {
            (name, problem, isFound) = ("", error, false)
        }
    }

    /// Declares a property's field by its name, which the first models of a store confirm or contradict.
    public init(_ name: String, _ property: any KeyPath<Model, Value> & Sendable) {
        (self.name, self.property, problem, isFound) = (name, property, nil, false)
    }

    var path: PredicateKeyPath {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        return PredicateKeyPath(parts[0], Array(parts.dropFirst()))
    }

    func condition(
        _ operation: PredicateOperator, _ value: PropertyListValue?, _ options: PredicateOptions = []
    ) -> ItemCondition<Model> {
        ItemCondition(.comparing(path, operation, value ?? .null, options: options), [use])
    }

    /// The attribute as something that a model can contradict.
    var use: AttributeUse<Model> {
        let property = property
        return AttributeUse(name: name, property: property, problem: problem, isFound: isFound) { model, encoded in
            let own = model[keyPath: property].fieldValue
            guard let encoded, encoded != .null else { return own == nil ? nil : false }
            return Value(fieldValue: encoded)?.fieldValue == own
        }
    }
}

// MARK: Declaring

extension ItemAttribute {
    /// The declaration of the attribute's field, with the kind of its type: what is declared holds for every way in,
    /// of scripts and of imports, too.
    ///
    /// ```swift
    /// try await database.declare([Book.title.declared { $0.isRequired = true }, Book.pages.declared()])
    /// ```
    ///
    /// - Parameter more: what else is declared of it.
    /// - Returns: the declaration, for ``ItemStore/declare(_:freeing:converting:)``.
    public func declared(_ more: (inout FieldDeclaration) -> Void = { _ in }) -> FieldDeclaration {
        var declaration = FieldDeclaration(name, Value.fieldKind)
        more(&declaration)
        return declaration
    }
}

// MARK: Equality

extension ItemAttribute {
    /// Values are equal; nil equals nil. Text is compared byte by byte.
    public static func == (attribute: Self, value: Value) -> ItemCondition<Model> {
        attribute.condition(.equal, value.fieldValue)
    }

    /// Values are not equal; nil is unequal to any value.
    public static func != (attribute: Self, value: Value) -> ItemCondition<Model> {
        attribute.condition(.notEqual, value.fieldValue)
    }

    /// The value is one of those given.
    public func isIn(_ values: some Sequence<Value.Wrapped>) -> ItemCondition<Model> {
        condition(.in, .array(values.compactMap(\.fieldValue)))
    }
}

// MARK: Order

extension ItemAttribute where Value.Wrapped: OrderedItemValue {
    /// The value is below another. An absent value is neither below nor above another.
    public static func < (attribute: Self, value: Value.Wrapped) -> ItemCondition<Model> {
        attribute.condition(.lessThan, value.fieldValue)
    }

    /// The value is at most another.
    public static func <= (attribute: Self, value: Value.Wrapped) -> ItemCondition<Model> {
        attribute.condition(.lessThanOrEqual, value.fieldValue)
    }

    /// The value is above another.
    public static func > (attribute: Self, value: Value.Wrapped) -> ItemCondition<Model> {
        attribute.condition(.greaterThan, value.fieldValue)
    }

    /// The value is at least another.
    public static func >= (attribute: Self, value: Value.Wrapped) -> ItemCondition<Model> {
        attribute.condition(.greaterThanOrEqual, value.fieldValue)
    }
}

extension ItemAttribute where Value.Wrapped: OrderedItemValue & Comparable {
    /// The value is within bounds, both included.
    public func isBetween(_ bounds: ClosedRange<Value.Wrapped>) -> ItemCondition<Model> {
        self >= bounds.lowerBound && self <= bounds.upperBound
    }
}

// MARK: Text and arrays

extension ItemAttribute where Value.Wrapped == String {
    /// The text begins with another.
    public func hasPrefix(_ text: String, _ options: PredicateOptions = []) -> ItemCondition<Model> {
        condition(.beginsWith, .string(text), options)
    }

    /// The text ends with another.
    public func hasSuffix(_ text: String, _ options: PredicateOptions = []) -> ItemCondition<Model> {
        condition(.endsWith, .string(text), options)
    }

    /// The text contains another.
    public func contains(_ text: String, _ options: PredicateOptions = []) -> ItemCondition<Model> {
        condition(.contains, .string(text), options)
    }

    /// The text equals another, ignoring letter case or accents.
    public func isEqual(to text: String, _ options: PredicateOptions) -> ItemCondition<Model> {
        condition(.equal, .string(text), options)
    }

    /// The text matches wildcards: `*` is any run of characters, `?` is one.
    public func isLike(_ pattern: String, _ options: PredicateOptions = []) -> ItemCondition<Model> {
        condition(.like, .string(pattern), options)
    }

    /// The whole text matches a regular expression; an invalid expression never matches.
    public func matches(_ pattern: String, _ options: PredicateOptions = []) -> ItemCondition<Model> {
        condition(.matches, .string(pattern), options)
    }
}

extension ItemAttribute {
    /// The array contains an element.
    public func contains<Element: ItemValue>(_ element: Element) -> ItemCondition<Model>
    where Value.Wrapped == [Element] {
        condition(.contains, element.fieldValue)
    }
}

/// A condition on a model's items, built from attributes: `Book.pages > 300 && !Book.title.hasPrefix("A")`.
///
/// It is a predicate tree, not a function: the engine plans it onto indexes and columns.
public struct ItemCondition<Model>: Sendable {
    let node: PredicateNode
    /// The attributes in it.
    let uses: [AttributeUse<Model>]

    init(_ node: PredicateNode, _ uses: [AttributeUse<Model>]) { (self.node, self.uses) = (node, uses) }

    /// Both conditions hold.
    public static func && (first: Self, second: Self) -> Self {
        let parts = first.parts(of: \.conjunction) + second.parts(of: \.conjunction)
        return ItemCondition(.and(parts), first.uses + second.uses)
    }

    /// At least one of the conditions holds.
    public static func || (first: Self, second: Self) -> Self {
        let parts = first.parts(of: \.disjunction) + second.parts(of: \.disjunction)
        return ItemCondition(.or(parts), first.uses + second.uses)
    }

    /// The condition does not hold.
    public static prefix func ! (condition: Self) -> Self { ItemCondition(.not(condition.node), condition.uses) }

    /// The operands of a chain, which becomes a single node so that a long chain is not a deep tree.
    private func parts(of operands: (PredicateNode) -> [PredicateNode]?) -> [PredicateNode] {
        operands(node) ?? [node]
    }
}

extension PredicateNode {
    fileprivate var conjunction: [PredicateNode]? { if case .and(let parts) = self { parts } else { nil } }
    fileprivate var disjunction: [PredicateNode]? { if case .or(let parts) = self { parts } else { nil } }

    /// The condition with its comparisons replaced. They have the field on the left.
    func replacing(
        _ comparison: (PredicateComparison, PredicateKeyPath) throws(StoreError) -> PredicateNode
    ) throws(StoreError) -> PredicateNode {
        func replaced(_ parts: [PredicateNode]) throws(StoreError) -> [PredicateNode] {
            try parts.map { (part) throws(StoreError) in try part.replacing(comparison) }
        }
        switch self {
        case .constant: return self
        case .not(let inner): return .not(try inner.replacing(comparison))
        case .and(let parts): return .and(try replaced(parts))
        case .or(let parts): return .or(try replaced(parts))
        case .comparison(let part):
            guard case .keyPath(let path) = part.left else { return self }
            return try comparison(part, path)
        }
    }
}

/// A sort criterion for a model's items; equal ones keep the store's order.
public struct ItemOrdering<Model>: Sendable {
    let path: PredicateKeyPath
    let isDescending: Bool
    let use: AttributeUse<Model>

    /// Lowest first; items without a value precede all others. Text is sorted by its bytes.
    public static func ascending<Value>(_ attribute: ItemAttribute<Model, Value>) -> Self
    where Value.Wrapped: OrderedItemValue {
        ItemOrdering(path: attribute.path, isDescending: false, use: attribute.use)
    }

    /// Highest first; items without a value follow all others.
    public static func descending<Value>(_ attribute: ItemAttribute<Model, Value>) -> Self
    where Value.Wrapped: OrderedItemValue {
        ItemOrdering(path: attribute.path, isDescending: true, use: attribute.use)
    }
}

/// A new value for an attribute of many items: `.set(Book.shelf, to: "A3")`.
public struct ItemAssignment<Model>: Sendable {
    let field: String
    let value: PropertyListValue?
    let use: AttributeUse<Model>

    /// Sets an attribute; nil removes an optional's value. Sets a whole field, never a part of a nested struct.
    public static func set<Value>(_ attribute: ItemAttribute<Model, Value>, to value: Value) -> Self {
        ItemAssignment(field: attribute.name, value: value.fieldValue, use: attribute.use)
    }
}

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
