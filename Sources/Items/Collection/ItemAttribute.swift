public import PredicateFormat
import PropertyList

/// A property of a model with the name of its field, used to build conditions and orders.
///
/// ```swift
/// extension Book {
///     static let title: ItemAttribute<Book, String> = .init("title", \.title)
///     static let pages: ItemAttribute<Book, Int> = .init("pages", \.pages)
///     static let city: ItemAttribute<Book, String> = .init("publisher.city", \.publisher.city)
/// }
/// let long = try await books.fetch(where: Book.pages > 300 && Book.title.hasPrefix("A"))
/// ```
///
/// The name is that of the property's coding key; nested properties follow a dot.
public struct ItemAttribute<Model, Value: ItemValue>: Sendable {
    /// The field's name.
    public let name: String
    /// The property.
    public let property: any KeyPath<Model, Value> & Sendable

    /// Declares a property's field.
    public init(_ name: String, _ property: any KeyPath<Model, Value> & Sendable) {
        (self.name, self.property) = (name, property)
    }

    var path: PredicateKeyPath {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        return PredicateKeyPath(parts[0], Array(parts.dropFirst()))
    }

    private func condition(
        _ operation: PredicateOperator, _ value: PropertyListValue?, _ options: PredicateOptions = []
    ) -> ItemCondition<Model> {
        ItemCondition(
            .comparison(
                PredicateComparison(.keyPath(path), operation, .constant(value ?? .null), options: options)))
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
