import FoundationEssentials
import PropertyList
import Synchronization

/// Finds the name that a model's own coding gives a property.
///
/// Models are decoded from made-up values, which differ from one coding key to another, and encoded again: the name is
/// that under which the property's value appears in each of them. Each key has a number, and a value per round for a bit
/// of that number.
enum ModelProbe {
    /// The names found by ``keyName(of:_:)``, by model: the search takes longer than a small query.
    private static let keyNames = Mutex<[ObjectIdentifier: String]>([:])

    /// The coding keys that lead to a property.
    ///
    /// - Throws: `unknownField` for a model that cannot be decoded from made-up values, a property that is not coded, and
    ///   one that cannot be told from another.
    static func keys<Model: Codable, Value>(of property: KeyPath<Model, Value>) throws(StoreError) -> [String] {
        var paths: Set<[ExactText]>?
        do {
            let count = try round(Model.self, bit: nil).keys
            let bitCount = Int.bitWidth - max(count, 1).leadingZeroBitCount
            for bit in [nil] + (0..<bitCount).map(Optional.init) {
                let model = try round(Model.self, bit: bit).model
                let value = try fieldValue(model[keyPath: property]) ?? .null
                let found = try Set(values(of: model).filter { $0.value == value }.map(\.path))
                paths = paths?.intersection(found) ?? found
            }
        } catch {
            throw failure(property, "\(Model.self) cannot be made of values that are made up (\(reason(error)))")
        }
        let found = paths ?? []
        if let path = found.first, found.count == 1 { return path.map(\.string) }
        if found.isEmpty { throw failure(property, "no coding key has its value") }
        let list = found.map { $0.map(\.string).joined(separator: ".") }.sorted().joined(separator: ", ")
        throw failure(property, "its coding key may be each of \(list): an enum of theirs needs CaseIterable")
    }

    /// The name of the property that identifies a model, found once for each type.
    static func keyName<Model: Codable & Identifiable>(of property: KeyPath<Model, Model.ID>) -> String {
        let type = ObjectIdentifier(Model.self)
        if let known = keyNames.withLock({ $0[type] }) { return known }
        let name = (try? keys(of: property))?.joined(separator: ".") ?? "id"
        keyNames.withLock { $0[type] = name }
        return name
    }

    /// A property's value as a field has it.
    private static func fieldValue(_ value: some Any) throws -> PropertyListValue? {
        if let value = value as? any ItemValue { return value.fieldValue }
        guard let value = value as? any Encodable else { return nil }
        return try ItemModelEncoder.part(value, at: []).value()
    }

    /// A model decoded from the values of a round, and the number of keys that it has; all bits are 1 if nil.
    private static func round<Model: Decodable>(
        _ type: Model.Type, bit: Int?
    ) throws -> (model: Model, keys: Int) {
        let values = ProbeValues(bit: bit)
        let model = try Model(from: ProbeDecoder(values: values, path: []))
        return (model, values.count)
    }

    /// The values of a model's fields and of their parts, by their coding keys.
    private static func values(of model: some Encodable) throws -> [(path: [ExactText], value: PropertyListValue)] {
        var all: [(path: [ExactText], value: PropertyListValue)] = []
        func add(_ path: [ExactText], _ value: PropertyListValue) {
            all.append((path, value))
            for (key, part) in value.fields ?? [:] { add(path + [ExactText(key)], part) }
        }
        for case (let name, let value?) in try ItemModelEncoder.fields(of: model) { add([ExactText(name)], value) }
        return all
    }

    private static func failure<Model, Value>(_ property: KeyPath<Model, Value>, _ reason: String) -> StoreError {
        StoreError(
            .unknownField("\(property)"),
            "the field of \(property) is not known: \(reason); give the attribute the name of its coding key")
    }

    private static func reason(_ error: any Error) -> String {
        guard let error = error as? DecodingError else { return "\(error)" }
        let path = error.context.codingPath.text
        return path.isEmpty ? error.context.debugDescription : "\(path): \(error.context.debugDescription)"
    }
}

/// The values of a round: each key of the model gets a number from 1 on, whose bit decides between two values.
private final class ProbeValues {
    private let bit: Int?
    private(set) var count = 0
    private var numbers: [String: Int] = [:]

    init(bit: Int?) { self.bit = bit }

    /// Whether the value at a path is the second one.
    func isSecond(_ path: [any CodingKey]) -> Bool {
        let text = path.text
        if numbers[text] == nil {
            count += 1
            numbers[text] = count
        }
        guard let bit, let number = numbers[text] else { return true }
        return number >> bit & 1 == 1
    }
}

/// Decodes whatever a model asks for.
private struct ProbeDecoder: Decoder {
    let values: ProbeValues
    let path: [any CodingKey]
    /// Whether arrays have no elements: within an element, since a model may contain itself.
    var isElement = false
    /// The number of levels; below half of them optionals have no values.
    static let depth = 16
    var codingPath: [any CodingKey] { path }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(ProbeFields<Key>(decoder: self))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { ProbeElements(decoder: self) }
    func singleValueContainer() -> any SingleValueDecodingContainer { ProbeValue(decoder: self) }

    func at(_ key: some CodingKey) -> ProbeDecoder {
        ProbeDecoder(values: values, path: path + [key], isElement: isElement)
    }

    /// A value of a type: one of two for each of those that are coded by themselves.
    func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let isSecond = values.isSecond(path)
        let known: Any? =
            switch type {
            case is Bool.Type: isSecond
            case is String.Type: isSecond ? "1" : "0"
            case is Double.Type: isSecond ? 1.0 : 0.0
            case is Float.Type: isSecond ? Float(1) : Float(0)
            case is Date.Type: Date(timeIntervalSinceReferenceDate: isSecond ? 1 : 0)
            case is Data.Type: Data(isSecond ? [1] : [0])
            case is URL.Type: URL(string: isSecond ? "a:1" : "a:0")
            case is UUID.Type: UUID(uuid: (isSecond ? 1 : 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
            case let integer as any FixedWidthInteger.Type: integer.init(truncatingIfNeeded: isSecond ? 1 : 0)
            default: nil
            }
        // No value would be cast to an optional without one.
        if let known, let value = known as? Value { return value }
        if let type = type as? any CaseIterable.Type, let value = Self.aCase(type, isSecond) as? Value { return value }
        guard path.count < Self.depth else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: path, debugDescription: "its values contain one another endlessly"))
        }
        do { return try Value(from: self) } catch {
            if let value = Self.ofZeros(type) { return value }
            throw error
        }
    }

    /// The first case or the second.
    private static func aCase<Cases: CaseIterable>(_ type: Cases.Type, _ isSecond: Bool) -> Cases? {
        (isSecond ? type.allCases.dropFirst().first : nil) ?? type.allCases.first
    }

    /// The value whose byte is 0: of an enum without payload, the first case. A type of one byte has no references, and
    /// one that can be decoded has a value.
    fileprivate static func ofZeros<Value>(_ type: Value.Type) -> Value? {
        guard MemoryLayout<Value>.size <= 1 else { return nil }
        return withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { byte in
            byte.initializeMemory(as: UInt8.self, repeating: 0)
            return byte.load(as: type)
        }
    }
}

/// Values for any key.
private struct ProbeFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ProbeDecoder
    var codingPath: [any CodingKey] { decoder.path }

    /// The first case of an enum with payloads; none of a dictionary.
    var allKeys: [Key] { decoder.path.isEmpty ? [] : ProbeDecoder.ofZeros(Key.self).map { [$0] } ?? [] }

    func contains(_ key: Key) -> Bool { !decodeNil(forKey: key) }
    func decodeNil(forKey key: Key) -> Bool { decoder.path.count >= ProbeDecoder.depth / 2 }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decoder.at(key).value(type)
    }

    // In place of the standard library's, which refuse them.
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try decoder.at(key).value(type) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try decoder.at(key).value(type) }

    func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedDecodingContainer<Nested> {
        decoder.at(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { decoder.at(key).unkeyedContainer() }
    func superDecoder() -> any Decoder { decoder.at(PathKey.super) }
    func superDecoder(forKey key: Key) -> any Decoder { decoder.at(key) }
}

/// An array of one element or none.
private struct ProbeElements: UnkeyedDecodingContainer {
    let decoder: ProbeDecoder
    private(set) var currentIndex = 0

    var codingPath: [any CodingKey] { decoder.path }
    var count: Int? { decoder.isElement || !decoder.values.isSecond(decoder.path) ? 0 : 1 }
    var isAtEnd: Bool { currentIndex >= count ?? 0 }

    private mutating func element() -> ProbeDecoder {
        defer { currentIndex += 1 }
        return ProbeDecoder(
            values: decoder.values, path: decoder.path + [PathKey(intValue: currentIndex)], isElement: true)
    }

    mutating func decodeNil() -> Bool { false }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try element().value(type) }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try element().value(type) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try element().value(type) }

    mutating func nestedContainer<Nested>(keyedBy type: Nested.Type) -> KeyedDecodingContainer<Nested> {
        element().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { element().unkeyedContainer() }
    mutating func superDecoder() -> any Decoder { element() }
}

/// A single value: an enum's raw value, or what an optional wraps.
private struct ProbeValue: SingleValueDecodingContainer {
    let decoder: ProbeDecoder
    var codingPath: [any CodingKey] { decoder.path }

    func decodeNil() -> Bool { false }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.value(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try decoder.value(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try decoder.value(type) }
}
