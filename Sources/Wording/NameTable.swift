/// The bytes of a text as a key. Swift's hash of a text normalizes it, which takes a time that grows with the square of a
/// run of combining marks; see `ExactTexts.swift`.
private struct NameKey: Hashable, Sendable {
    let text: String

    static func == (first: Self, second: Self) -> Bool { first.text == second.text }

    func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}

/// A set of texts that others choose, compared by bytes.
package struct NameSet: Sequence, Hashable, Sendable, ExpressibleByArrayLiteral {
    private var keys: Set<NameKey>

    package init() { keys = [] }
    package init(arrayLiteral elements: String...) { self.init(elements) }
    package init(_ texts: some Sequence<String>) { keys = Set(texts.lazy.map { NameKey(text: $0) }) }

    package var count: Int { keys.count }
    package var isEmpty: Bool { keys.isEmpty }
    package var first: String? { keys.first?.text }
    package func contains(_ text: String) -> Bool { keys.contains(NameKey(text: text)) }

    /// Adds a text; `inserted` is false for one that is a member already.
    @discardableResult
    package mutating func insert(_ text: String) -> (inserted: Bool, memberAfterInsert: String) {
        (keys.insert(NameKey(text: text)).inserted, text)
    }

    @discardableResult
    package mutating func remove(_ text: String) -> String? { keys.remove(NameKey(text: text))?.text }

    package mutating func removeAll() { keys.removeAll() }

    package mutating func formUnion(_ texts: some Sequence<String>) { for text in texts { insert(text) } }

    package func union(_ texts: some Sequence<String>) -> NameSet {
        var all = self
        all.formUnion(texts)
        return all
    }

    package func makeIterator() -> AnyIterator<String> {
        var iterator = keys.makeIterator()
        return AnyIterator { iterator.next()?.text }
    }
}

/// Values by texts that others choose, compared by bytes.
package struct NameTable<Value>: Sequence, ExpressibleByDictionaryLiteral {
    package typealias Element = (key: String, value: Value)

    private var entries: [NameKey: Value] = [:]

    package init() {}
    package init(dictionaryLiteral elements: (String, Value)...) {
        for (name, value) in elements { self[name] = value }
    }

    package subscript(name: String) -> Value? {
        get { entries[NameKey(text: name)] }
        _modify { yield &entries[NameKey(text: name)] }
    }

    package subscript(name: String, default value: @autoclosure () -> Value) -> Value {
        get { entries[NameKey(text: name)] ?? value() }
        _modify { yield &entries[NameKey(text: name), default: value()] }
    }

    package var count: Int { entries.count }
    package var isEmpty: Bool { entries.isEmpty }
    package var first: Element? { entries.first.map { ($0.key.text, $0.value) } }
    package var keys: [String] { entries.keys.map(\.text) }
    package var values: some Collection<Value> { entries.values }

    @discardableResult
    package mutating func updateValue(_ value: Value, forKey name: String) -> Value? {
        entries.updateValue(value, forKey: NameKey(text: name))
    }

    package mutating func removeAll(keepingCapacity: Bool = false) {
        entries.removeAll(keepingCapacity: keepingCapacity)
    }

    package func makeIterator() -> AnyIterator<Element> {
        var iterator = entries.makeIterator()
        return AnyIterator { iterator.next().map { ($0.key.text, $0.value) } }
    }
}

extension NameTable: Sendable where Value: Sendable {}

extension NameTable: Equatable where Value: Equatable {
    package static func == (first: Self, second: Self) -> Bool { first.entries == second.entries }
}

extension Sequence<String> {
    /// The texts in the order of their bytes.
    package func sortedByBytes() -> [String] { sorted { $0 < $1 } }

    /// The texts, each once, in their order.
    package func unique() -> [String] {
        var seen = NameSet()
        return filter { seen.insert($0).inserted }
    }
}
