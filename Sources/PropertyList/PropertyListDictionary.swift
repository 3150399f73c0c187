@_exported import Wording

/// A text that is compared, ordered and hashed by its UTF-8 bytes.
///
/// Swift's strings are equal when they look the same: `é` in one character and `e` with an accent after it are one key of
/// a dictionary of strings. In data they are two.
public struct ExactText: Hashable, Comparable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The text.
    public let string: String

    /// Creates a text to compare by bytes.
    public init(_ string: String) { self.string = string }

    /// Creates a text to compare by bytes.
    public init(stringLiteral value: String) { string = value }

    public var description: String { string }

    public static func == (first: Self, second: Self) -> Bool { first.string == second.string }

    public static func < (first: Self, second: Self) -> Bool { first.string < second.string }

    public func hash(into hasher: inout Hasher) { string.hashBytes(into: &hasher) }
}

/// Property-list values by name: a dictionary whose keys are texts, compared by their bytes.
///
/// The fields of an item, an object of JSON and the preferences are such dictionaries. ``PropertyListDictionary`` also
/// has keys of other kinds.
public struct PropertyListFields: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// A name and its value.
    public typealias Element = (key: String, value: PropertyListValue)

    private var entries: [ExactText: PropertyListValue]

    /// Creates fields without entries.
    public init() { entries = [:] }

    /// Creates fields; the last of equal names counts.
    public init(dictionaryLiteral elements: (String, PropertyListValue)...) { self.init(elements) }

    /// Creates fields; the last of equal names counts.
    public init(_ elements: some Sequence<(String, PropertyListValue)>) {
        entries = Dictionary(elements.lazy.map { (ExactText($0.0), $0.1) }) { _, last in last }
    }

    /// The value of a name. Assigning nil removes the field.
    public subscript(name: String) -> PropertyListValue? {
        get { entries[ExactText(name)] }
        set { entries[ExactText(name)] = newValue }
        _modify { yield &entries[ExactText(name)] }
    }

    /// The names, in no order.
    public var keys: Names { Names(base: entries.keys) }

    /// The values, in the order of the names.
    public var values: Dictionary<ExactText, PropertyListValue>.Values { entries.values }

    /// The fields in the order of their names' bytes.
    package var sortedByName: [Element] { map { $0 }.sorted { $0.key < $1.key } }

    /// Reserves capacity.
    package mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

    /// Sets a field and returns its earlier value.
    @discardableResult
    package mutating func updateValue(_ value: PropertyListValue, forKey name: String) -> PropertyListValue? {
        entries.updateValue(value, forKey: ExactText(name))
    }

    /// Removes a field and returns its value.
    @discardableResult
    package mutating func removeValue(forKey name: String) -> PropertyListValue? {
        entries.removeValue(forKey: ExactText(name))
    }

    /// Adds fields; of equal names `combine` chooses, given the present and the new value.
    package mutating func merge(
        _ other: PropertyListFields,
        uniquingKeysWith combine: (PropertyListValue, PropertyListValue) -> PropertyListValue
    ) {
        entries.merge(other.entries, uniquingKeysWith: combine)
    }

    /// These fields and others; of equal names `combine` chooses, given the present and the new value.
    package func merging(
        _ other: PropertyListFields,
        uniquingKeysWith combine: (PropertyListValue, PropertyListValue) -> PropertyListValue
    ) -> PropertyListFields {
        var result = self
        result.merge(other, uniquingKeysWith: combine)
        return result
    }

    /// The fields with other values.
    package func mapValues(
        _ transform: (PropertyListValue) throws -> PropertyListValue
    ) rethrows -> PropertyListFields {
        var result = self
        result.entries = try entries.mapValues(transform)
        return result
    }
}

extension PropertyListFields: Collection {
    public typealias Index = Dictionary<ExactText, PropertyListValue>.Index

    public var startIndex: Index { entries.startIndex }
    public var endIndex: Index { entries.endIndex }
    public var count: Int { entries.count }
    public var isEmpty: Bool { entries.isEmpty }
    public func index(after index: Index) -> Index { entries.index(after: index) }

    public subscript(position: Index) -> Element {
        let entry = entries[position]
        return (entry.key.string, entry.value)
    }

    public func makeIterator() -> AnyIterator<Element> {
        var iterator = entries.makeIterator()
        return AnyIterator { iterator.next().map { ($0.key.string, $0.value) } }
    }

    /// The names of fields.
    public struct Names: Collection, Sendable {
        fileprivate let base: Dictionary<ExactText, PropertyListValue>.Keys

        public var startIndex: Index { base.startIndex }
        public var endIndex: Index { base.endIndex }
        public var count: Int { base.count }
        public func index(after index: Index) -> Index { base.index(after: index) }
        public subscript(position: Index) -> String { base[position].string }

        /// The names in the order of their bytes.
        package func sorted() -> [String] { sortedByBytes() }
    }
}

/// A dictionary of a property list. A key is any property-list value; nearly all are texts.
///
/// Texts are compared by bytes, and other keys by kind and exact content, as everywhere in property lists.
public struct PropertyListDictionary: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// A key and its value.
    package typealias Entry = (key: PropertyListValue, value: PropertyListValue)

    /// The entries whose keys are texts.
    package private(set) var textEntries: PropertyListFields
    /// The entries whose keys are of another kind; nil for none.
    private var otherEntries: [PropertyListValue: PropertyListValue]?

    /// Creates a dictionary without entries.
    public init() { textEntries = [:] }

    /// Creates a dictionary whose keys are texts.
    public init(_ fields: PropertyListFields) { textEntries = fields }

    /// Creates a dictionary whose keys are texts; the last of equal keys counts.
    public init(dictionaryLiteral elements: (String, PropertyListValue)...) {
        textEntries = PropertyListFields(elements)
    }

    /// Creates a dictionary; the last of equal keys counts.
    package init(_ entries: some Sequence<(PropertyListValue, PropertyListValue)>) {
        self.init()
        for (key, value) in entries { self[key] = value }
    }

    /// The entries when all keys are texts, else nil.
    public var fields: PropertyListFields? { otherEntries == nil ? textEntries : nil }

    /// The number of entries.
    package var count: Int { textEntries.count + (otherEntries?.count ?? 0) }

    /// Whether there are no entries.
    package var isEmpty: Bool { count == 0 }

    /// The values, in no order.
    package var values: some Sequence<PropertyListValue> { entries.lazy.map(\.value) }

    /// The entries in no order.
    package var entries: [Entry] {
        textEntries.map { (.string($0.key), $0.value) } + (otherEntries ?? [:]).map { ($0.key, $0.value) }
    }

    /// The entries in the order of their keys: texts by their bytes, then the other kinds.
    package var sortedEntries: [Entry] {
        textEntries.sortedByName.map { (.string($0.key), $0.value) } + sortedOtherEntries
    }

    /// The entries whose keys are not texts, in order.
    package var sortedOtherEntries: [Entry] {
        guard let otherEntries else { return [] }
        return otherEntries.map { ($0.key, $0.value) }.sorted { PropertyListValue.precedes($0.key, $1.key) }
    }

    /// The value of a text.
    public subscript(key: String) -> PropertyListValue? {
        get { textEntries[key] }
        set { textEntries[key] = newValue }
    }

    /// The value of a key. Assigning nil removes the entry.
    public subscript(key: PropertyListValue) -> PropertyListValue? {
        get { if case .string(let text) = key { textEntries[text] } else { otherEntries?[key] } }
        set {
            guard case .string(let text) = key else {
                var rest = otherEntries ?? [:]
                rest[key] = newValue
                otherEntries = rest.isEmpty ? nil : rest
                return
            }
            textEntries[text] = newValue
        }
    }

    /// Adds an entry unless the key has a value.
    ///
    /// - Returns: whether it was added.
    @discardableResult
    package mutating func insert(_ value: PropertyListValue, forKey key: PropertyListValue) -> Bool {
        if self[key] != nil { return false }
        self[key] = value
        return true
    }

    /// The dictionary with other values.
    package func mapValues(
        _ transform: (PropertyListValue) throws -> PropertyListValue
    ) rethrows -> PropertyListDictionary {
        var result = self
        result.textEntries = try textEntries.mapValues(transform)
        result.otherEntries = try otherEntries?.mapValues(transform)
        return result
    }

    /// Reserves capacity for texts.
    package mutating func reserveCapacity(_ count: Int) { textEntries.reserveCapacity(count) }
}
