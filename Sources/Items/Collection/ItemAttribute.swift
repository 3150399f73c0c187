public import PredicateFormat
import PropertyList

/// A property of a model, and the name of the field that keeps it: what conditions and orders are made of.
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
/// The name is that of the property's coding key. Beyond a dot are the names in a nested struct.
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
    /// Equal values; nil equals nil. Text is compared byte by byte.
    public static func == (attribute: Self, value: Value) -> ItemCondition<Model> {
        attribute.condition(.equal, value.fieldValue)
    }

    /// Values that are not equal; nil is not equal to any value.
    public static func != (attribute: Self, value: Value) -> ItemCondition<Model> {
        attribute.condition(.notEqual, value.fieldValue)
    }

    /// One of some values.
    public func isIn(_ values: some Sequence<Value.Wrapped>) -> ItemCondition<Model> {
        condition(.in, .array(values.compactMap(\.fieldValue)))
    }
}

// MARK: Order

extension ItemAttribute where Value.Wrapped: OrderedItemValue {
    /// Below a value. No value is neither below nor above another.
    public static func < (attribute: Self, value: Value.Wrapped) -> ItemCondition<Model> {
        attribute.condition(.lessThan, value.fieldValue)
    }

    /// At most a value.
    public static func <= (attribute: Self, value: Value.Wrapped) -> ItemCondition<Model> {
        attribute.condition(.lessThanOrEqual, value.fieldValue)
    }

    /// Above a value.
    public static func > (attribute: Self, value: Value.Wrapped) -> ItemCondition<Model> {
        attribute.condition(.greaterThan, value.fieldValue)
    }

    /// At least a value.
    public static func >= (attribute: Self, value: Value.Wrapped) -> ItemCondition<Model> {
        attribute.condition(.greaterThanOrEqual, value.fieldValue)
    }
}

extension ItemAttribute where Value.Wrapped: OrderedItemValue & Comparable {
    /// Within bounds, both included.
    public func isBetween(_ bounds: ClosedRange<Value.Wrapped>) -> ItemCondition<Model> {
        self >= bounds.lowerBound && self <= bounds.upperBound
    }
}

// MARK: Text and arrays

extension ItemAttribute where Value.Wrapped == String {
    /// Text that begins with another.
    public func hasPrefix(_ text: String, _ options: PredicateOptions = []) -> ItemCondition<Model> {
        condition(.beginsWith, .string(text), options)
    }

    /// Text that ends with another.
    public func hasSuffix(_ text: String, _ options: PredicateOptions = []) -> ItemCondition<Model> {
        condition(.endsWith, .string(text), options)
    }

    /// Text with another in it.
    public func contains(_ text: String, _ options: PredicateOptions = []) -> ItemCondition<Model> {
        condition(.contains, .string(text), options)
    }

    /// Text equal to another but for letters' case or accents.
    public func isEqual(to text: String, _ options: PredicateOptions) -> ItemCondition<Model> {
        condition(.equal, .string(text), options)
    }

    /// Text that matches wildcards: `*` any run of characters, `?` one.
    public func isLike(_ pattern: String, _ options: PredicateOptions = []) -> ItemCondition<Model> {
        condition(.like, .string(pattern), options)
    }

    /// Text that a regular expression matches as a whole; an invalid one never does.
    public func matches(_ pattern: String, _ options: PredicateOptions = []) -> ItemCondition<Model> {
        condition(.matches, .string(pattern), options)
    }
}

extension ItemAttribute {
    /// An array with an element.
    public func contains<Element: ItemValue>(_ element: Element) -> ItemCondition<Model>
    where Value.Wrapped == [Element] {
        condition(.contains, element.fieldValue)
    }
}
