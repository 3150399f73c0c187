public import PropertyList

/// An instance of an unknown class: its class and its fields, in order. It is written back unchanged.
public final class ArchivedObject {
    /// One encoded value.
    public enum FieldValue {
        /// A reference to an object, or to nil.
        case object(ArchiveValue?)
        /// An inline scalar: boolean, integer, real, data or string.
        case inline(PropertyListValue)
        /// An inline list of references, as collections have it.
        case objects([ArchiveValue?])
    }

    /// A key of the program and its value.
    public struct Field {
        /// The key.
        public var key: String
        /// The value.
        public var value: FieldValue

        /// Creates a field.
        public init(key: String, value: FieldValue) {
            self.key = key
            self.value = value
        }
    }

    /// The object's class.
    public var archivedClass: ArchivedClass
    /// The fields, in the archive's order.
    public var fields: [Field]

    /// Creates an object of a class.
    public init(_ archivedClass: ArchivedClass, fields: [Field] = []) {
        self.archivedClass = archivedClass
        self.fields = fields
    }

    deinit {
        ReferenceChain.free(takeReferences())
    }

    /// The value of a key, or nil when there is none. Setting nil removes the key; a new key is appended. O(n).
    public subscript(key: String) -> FieldValue? {
        get { fields.first { $0.key.hasSameBytes(as: key) }?.value }
        set {
            if let index = fields.firstIndex(where: { $0.key.hasSameBytes(as: key) }) {
                if let newValue { fields[index].value = newValue } else { fields.remove(at: index) }
            } else if let newValue {
                fields.append(Field(key: key, value: newValue))
            }
        }
    }

    /// The object of a key; an inline scalar is converted to one. Nil when absent or nil.
    public func object(forKey key: String) -> ArchiveValue? {
        switch self[key] {
        case .object(let value): value
        case .inline(let value): ArchiveValue(leaf: value)
        case .objects(let elements): .collection(ArchivedCollection(elements: elements))
        case nil: nil
        }
    }
}

extension ArchiveValue {
    /// The object of a leaf; nil for containers, references and null.
    package init?(leaf value: PropertyListValue) {
        switch value {
        case .boolean(let value): self = .boolean(value)
        case .integer(let value): self = .integer(value)
        case .wideInteger(let value): self = .wideInteger(value)
        case .real(let value): self = .real(value)
        case .single(let value): self = .single(value)
        case .date(let value): self = .date(value)
        case .data(let value): self = .data(value)
        case .string(let value): self = .string(value)
        case .utf16(let units): self = .utf16(units)
        case .null, .uid, .array, .set, .dictionary: return nil
        }
    }
}
