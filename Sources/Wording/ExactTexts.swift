// Texts are compared by their bytes, in all modules that re-export this one.
//
// Swift's own operators compare texts by their looks: they normalize both, which takes a time that grows with the square
// of a run of combining marks. A name of 320 KB in a data file stops a program for seconds, in one step. And in data two
// spellings of `é` are two texts. The operators here take the place of the standard library's wherever both are visible.
// What is generic (dictionaries, sets, synthesized conformances) is not: keys that others choose are `ExactText`.

internal import Platform

extension String {
    package static func == (first: String, second: String) -> Bool { first.hasBytes(of: second) }
    package static func != (first: String, second: String) -> Bool { !first.hasBytes(of: second) }
    package static func < (first: String, second: String) -> Bool { first.precedes(second) }
    package static func > (first: String, second: String) -> Bool { second.precedes(first) }
    package static func <= (first: String, second: String) -> Bool { !second.precedes(first) }
    package static func >= (first: String, second: String) -> Bool { !first.precedes(second) }
    package static func ~= (pattern: String, text: String) -> Bool { pattern.hasBytes(of: text) }

    /// Whether the text begins with the bytes of another.
    package func hasPrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

    /// Whether the text ends with the bytes of another.
    package func hasSuffix(_ suffix: String) -> Bool {
        utf8.count >= suffix.utf8.count && utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    fileprivate func hasBytes(of other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        return other.utf8.withContiguousStorageIfAvailable { hasBytes(of: $0) } ?? utf8.elementsEqual(other.utf8)
    }

    /// Whether the text has these bytes, and no others.
    package func hasBytes(of bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard utf8.count == bytes.count else { return false }
        // Of a native text without an iterator.
        let isSame = utf8.withContiguousStorageIfAvailable { own in
            guard let a = own.baseAddress, let b = bytes.baseAddress else { return true }
            return memcmp(a, b, bytes.count) == 0
        }
        return isSame ?? utf8.elementsEqual(bytes)
    }

    /// Hashes the bytes. Swift's hash of a text normalizes it first.
    package func hashBytes(into hasher: inout Hasher) {
        let isDone: Void? = utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        if isDone == nil { for byte in utf8 { hasher.combine(byte) } }
        hasher.combine(0xFF as UInt8)
    }

    @inline(__always)
    fileprivate func precedes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}

extension StringProtocol {
    package static func == (first: Self, second: some StringProtocol) -> Bool { first.hasBytes(of: second) }
    package static func != (first: Self, second: some StringProtocol) -> Bool { !first.hasBytes(of: second) }
    package static func < (first: Self, second: some StringProtocol) -> Bool { first.precedes(second) }
    package static func > (first: Self, second: some StringProtocol) -> Bool { second.precedes(first) }
    package static func <= (first: Self, second: some StringProtocol) -> Bool { !second.precedes(first) }
    package static func >= (first: Self, second: some StringProtocol) -> Bool { !first.precedes(second) }
    package static func ~= (pattern: Self, text: Self) -> Bool { pattern.hasBytes(of: text) }

    /// Whether the text begins with the bytes of another.
    package func hasPrefix(_ prefix: some StringProtocol) -> Bool { utf8.starts(with: prefix.utf8) }

    /// Whether the text ends with the bytes of another.
    package func hasSuffix(_ suffix: some StringProtocol) -> Bool {
        utf8.reversed().starts(with: suffix.utf8.reversed())
    }

    /// Whether one of the characters has the bytes of another.
    package func contains(_ character: Character) -> Bool { contains { $0 == character } }

    /// The place of the first character with the bytes of another.
    package func firstIndex(of character: Character) -> Index? { firstIndex { $0 == character } }

    /// The place of the last character with the bytes of another.
    package func lastIndex(of character: Character) -> Index? { lastIndex { $0 == character } }

    /// The pieces between the characters with the bytes of another.
    package func split(
        separator: Character, maxSplits: Int = .max, omittingEmptySubsequences: Bool = true
    ) -> [SubSequence] {
        split(maxSplits: maxSplits, omittingEmptySubsequences: omittingEmptySubsequences) { $0 == separator }
    }

    /// The first place with the bytes of another text.
    package func firstRange(of other: some StringProtocol) -> Range<Index>? {
        guard let first = other.utf8.first else { return startIndex..<startIndex }
        var rest = utf8[...]
        while let start = rest.firstIndex(of: first) {
            rest = rest[start...]
            if rest.starts(with: other.utf8) { return start..<utf8.index(start, offsetBy: other.utf8.count) }
            rest = rest.dropFirst()
        }
        return nil
    }

    /// Whether the bytes of another text are in this one. A literal of one character is a character.
    @_disfavoredOverload
    package func contains(_ other: some StringProtocol) -> Bool { firstRange(of: other) != nil }

    /// The pieces between the places with the bytes of another text, which is not empty.
    @_disfavoredOverload
    package func split(separator: some StringProtocol, maxSplits: Int = .max) -> [SubSequence] {
        var pieces: [SubSequence] = []
        var rest = self[startIndex...]
        while pieces.count < maxSplits, let range = rest.firstRange(of: separator) {
            pieces.append(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
        }
        return (pieces + [rest]).filter { !$0.isEmpty }
    }

    fileprivate func hasBytes(of other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }

    fileprivate func precedes(_ other: some StringProtocol) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}

extension Substring {
    // Without these the compiler prefers Swift's own, of `Equatable` and `Comparable`, for two of the same type.
    package static func == (first: Substring, second: Substring) -> Bool { first.hasBytes(of: second) }
    package static func != (first: Substring, second: Substring) -> Bool { !first.hasBytes(of: second) }
    package static func < (first: Substring, second: Substring) -> Bool { first.precedes(second) }
    package static func > (first: Substring, second: Substring) -> Bool { second.precedes(first) }
    package static func <= (first: Substring, second: Substring) -> Bool { !second.precedes(first) }
    package static func >= (first: Substring, second: Substring) -> Bool { !first.precedes(second) }
    package static func ~= (pattern: Substring, text: Substring) -> Bool { pattern.hasBytes(of: text) }
}

extension Character {
    package static func == (first: Character, second: Character) -> Bool { first.utf8.elementsEqual(second.utf8) }
    package static func != (first: Character, second: Character) -> Bool { !first.utf8.elementsEqual(second.utf8) }
    package static func ~= (pattern: Character, character: Character) -> Bool { pattern == character }

    /// Whether it has the bytes of another. For literals: the compiler prefers Swift's operator for them.
    package func `is`(_ other: Character) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension String? {
    package static func == (first: String?, second: String?) -> Bool {
        areSame(first, second) { $0.hasBytes(of: $1) }
    }

    package static func != (first: String?, second: String?) -> Bool { !(first == second) }

    // For literals, for which the compiler prefers Swift's operator of two optional values.
    package static func == (first: String?, second: String) -> Bool { first.map { $0.hasBytes(of: second) } ?? false }
    package static func != (first: String?, second: String) -> Bool { !(first == second) }
}

extension Substring? {
    package static func == (first: Substring?, second: Substring?) -> Bool {
        areSame(first, second) { $0.hasBytes(of: $1) }
    }

    package static func != (first: Substring?, second: Substring?) -> Bool { !(first == second) }
}

extension Character? {
    package static func == (first: Character?, second: Character?) -> Bool { areSame(first, second) { $0 == $1 } }

    package static func != (first: Character?, second: Character?) -> Bool { !(first == second) }
}

@inline(__always)
private func areSame<Text>(_ first: Text?, _ second: Text?, _ haveSameBytes: (Text, Text) -> Bool) -> Bool {
    guard let first, let second else { return first == nil && second == nil }
    return haveSameBytes(first, second)
}

extension Sequence where Element: StringProtocol {
    /// Whether one of the texts has the bytes of another.
    package func contains(_ text: Element) -> Bool { contains { $0.hasBytes(of: text) } }
}

extension Sequence<String> {
    /// The texts in the order of their bytes.
    package func sorted() -> [String] { sorted(by: <) }
}

extension Array<String> {
    /// Puts the texts into the order of their bytes.
    package mutating func sort() { sort(by: <) }
}

extension Collection where Element: StringProtocol {
    /// The place of the first text with the bytes of another.
    package func firstIndex(of text: Element) -> Index? { firstIndex { $0.hasBytes(of: text) } }
}

extension Set<String> {
    /// Whether a text is among these names of the host. A long text is compared with each: the hash of a text that is
    /// not ASCII takes the time of its normalization.
    package func contains(_ text: String) -> Bool {
        text.utf8.count > 512 ? contains { $0 == text } : member(text, of: self).map { $0 == text } ?? false
    }
}

/// The member that looks like a text.
private func member<Element>(_ element: Element, of set: Set<Element>) -> Element? {
    set.firstIndex(of: element).map { set[$0] }
}

extension Dictionary where Key == String {
    /// The value of a text that others choose, in a table whose names are the host's. A long text is compared with each.
    package subscript(exactly text: String) -> Value? {
        guard let index = text.utf8.count > 512 ? firstIndex(where: { $0.key == text }) : index(forKey: text),
            self[index].key == text
        else { return nil }
        return self[index].value
    }
}

extension RawRepresentable<String> {
    /// The case with a text that others choose, which may be of any length.
    package init?(exactly text: String) {
        guard text.utf8.count <= 128 else { return nil }
        self.init(rawValue: text)
        // The Kelvin sign looks like a K.
        guard rawValue == text else { return nil }
    }
}

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

    @discardableResult
    package mutating func removeValue(forKey name: String) -> Value? {
        entries.removeValue(forKey: NameKey(text: name))
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

extension NameTable: Hashable where Value: Hashable {
    package func hash(into hasher: inout Hasher) { hasher.combine(entries) }
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
