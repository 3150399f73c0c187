package import PropertyList
import Synchronization

/// An instance of an unknown class: its class and its fields, in order. It is written back unchanged.
package final class ArchivedObject {
    /// One encoded value.
    package enum FieldValue {
        /// A reference to an object, or to nil.
        case object(ArchiveValue?)
        /// A value in place without a reference: boolean, integer, real, data or string, or a container of them.
        case inline(PropertyListValue)
        /// A list in place: empty, of references, as collections have it, or with some among other values.
        case list([FieldValue])
        /// A dictionary in place with references among its values. Its keys are leaves.
        case dictionary([(key: PropertyListValue, value: FieldValue)])

        /// Calls a function with each object that is referred to, here or in containers in place.
        func forEachReference(_ body: (ArchiveValue?) -> Void) {
            switch self {
            case .object(let value): body(value)
            case .inline: break
            case .list(let elements): for element in elements { element.forEachReference(body) }
            case .dictionary(let entries): for entry in entries { entry.value.forEachReference(body) }
            }
        }
    }

    /// A key of the program and its value.
    package struct Field {
        /// The key.
        package var key: String
        /// The value.
        package var value: FieldValue

        /// Creates a field.
        package init(key: String, value: FieldValue) {
            self.key = key
            self.value = value
        }
    }

    /// The object's class.
    package var archivedClass: ArchivedClass
    /// The fields, in the archive's order.
    package var fields: [Field]

    /// Creates an object of a class.
    package init(_ archivedClass: ArchivedClass, fields: [Field] = []) {
        self.archivedClass = archivedClass
        self.fields = fields
    }

    deinit {
        ReferenceChain.free(takeReferences())
    }

    /// The value of a key, or nil when there is none. Setting nil removes the key; a new key is appended. O(n).
    package subscript(key: String) -> FieldValue? {
        get { fields.first { $0.key == key }?.value }
        set {
            if let index = fields.firstIndex(where: { $0.key == key }) {
                if let newValue { fields[index].value = newValue } else { fields.remove(at: index) }
            } else if let newValue {
                fields.append(Field(key: key, value: newValue))
            }
        }
    }

    /// The object of a key; an inline scalar is converted to one. Nil when absent or nil, and for a container in place.
    package func object(forKey key: String) -> ArchiveValue? {
        switch self[key] {
        case .object(let value): value
        case .inline(let value): ArchiveValue(leaf: value)
        case .list, .dictionary, nil: nil
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

/// The archived name of a class and its superclasses.
public struct ArchivedClass: Sendable, Hashable {
    /// The class's name: plain, or `Module.Class`.
    public var name: String
    /// The superclasses, nearest first, `NSObject` last.
    public var superclasses: [String]
    /// Substitutes for readers that do not know the class (`$classhints`).
    package var hints: [String]
    /// Whether the archive lists `$classes`, which it omits for a class that is written under another name.
    package var listsSuperclasses: Bool

    /// - Parameters:
    ///   - name: the name of the class.
    ///   - superclasses: its superclasses up to `NSObject`.
    ///   - hints: substitute names.
    public init(_ name: String, superclasses: [String] = ["NSObject"], hints: [String] = []) {
        self.name = name
        self.superclasses = superclasses
        self.hints = hints
        listsSuperclasses = true
    }

    /// The class and its superclasses, the content of `$classes`.
    package var lineage: [String] { [name] + superclasses }

    static let array = ArchivedClass("NSArray")
    static let mutableArray = ArchivedClass("NSMutableArray", superclasses: ["NSArray", "NSObject"])
    static let dictionary = ArchivedClass("NSDictionary")
    static let mutableDictionary = ArchivedClass("NSMutableDictionary", superclasses: ["NSDictionary", "NSObject"])
    static let set = ArchivedClass("NSSet")
    static let mutableSet = ArchivedClass("NSMutableSet", superclasses: ["NSSet", "NSObject"])
    static let countedSet = ArchivedClass("NSCountedSet", superclasses: ["NSMutableSet", "NSSet", "NSObject"])
    static let orderedSet = ArchivedClass("NSOrderedSet")
    static let mutableOrderedSet = ArchivedClass("NSMutableOrderedSet", superclasses: ["NSOrderedSet", "NSObject"])
    static let mutableString = ArchivedClass("NSMutableString", superclasses: ["NSString", "NSObject"])
    static let mutableData = ArchivedClass("NSMutableData", superclasses: ["NSData", "NSObject"])
    static let date = ArchivedClass("NSDate")
    static let null = ArchivedClass("NSNull")
}

/// The global class name mappings, for archivers and unarchivers without their own.
final class ArchiveClassNames: Sendable {
    static let shared = ArchiveClassNames()

    private struct Names {
        var archived: NameTable<String> = [:]
        var types: NameTable<any KeyedCoding.Type> = [:]
    }

    private let names = Mutex(Names())

    func name(forClass className: String) -> String? { names.withLock { $0.archived[className] } }

    func setName(_ name: String?, forClass className: String) { names.withLock { $0.archived[className] = name } }

    func type(forClassName name: String) -> (any KeyedCoding.Type)? { names.withLock { $0.types[name] } }

    func setType(_ type: (any KeyedCoding.Type)?, forClassName name: String) {
        names.withLock { $0.types[name] = type }
    }
}

/// An array or set of an archive, with an identity.
package final class ArchivedCollection {
    /// The kinds of collections.
    package enum Kind: Sendable, Hashable {
        /// NSArray.
        case array
        /// NSSet.
        case set
        /// NSOrderedSet.
        case orderedSet
        /// A set with a count for each element; always mutable.
        case countedSet
    }

    /// The kind of collection.
    package let kind: Kind
    /// Whether the class is the mutable one.
    package let isMutable: Bool
    /// The elements in the archive's order; nil stands for nil.
    package var elements: [ArchiveValue?]
    /// The counts of a counted set, by index; empty for other kinds.
    package var counts: [Int]

    /// Creates a collection; only a counted set has counts.
    package init(_ kind: Kind = .array, isMutable: Bool = false, elements: [ArchiveValue?] = [], counts: [Int] = []) {
        self.kind = kind
        self.isMutable = isMutable
        self.elements = elements
        self.counts = counts
    }

    deinit {
        ReferenceChain.free(takeReferences())
    }

    /// The collection's class in an archive.
    package var archivedClass: ArchivedClass {
        switch kind {
        case .array: isMutable ? .mutableArray : .array
        case .set: isMutable ? .mutableSet : .set
        case .orderedSet: isMutable ? .mutableOrderedSet : .orderedSet
        case .countedSet: .countedSet
        }
    }
}

/// A dictionary of an archive. Keys may be any object and are ordered.
package final class ArchivedDictionary {
    /// A key and its value.
    package struct Entry {
        /// The key; nil for a null reference.
        package var key: ArchiveValue?
        /// The value; nil for a null reference.
        package var value: ArchiveValue?

        /// Creates an entry.
        package init(key: ArchiveValue?, value: ArchiveValue?) {
            self.key = key
            self.value = value
        }
    }

    /// Whether the class is the mutable one.
    package let isMutable: Bool
    /// The entries, in the archive's order.
    package var entries: [Entry]

    /// Creates a dictionary.
    package init(isMutable: Bool = false, entries: [Entry] = []) {
        self.isMutable = isMutable
        self.entries = entries
    }

    deinit {
        ReferenceChain.free(takeReferences())
    }

    /// The dictionary's class in an archive.
    package var archivedClass: ArchivedClass { isMutable ? .mutableDictionary : .dictionary }
}

/// A mutable string of an archive, with an identity.
package final class ArchivedMutableString {
    /// The text.
    package var text: String

    /// Creates an object with a text.
    package init(_ text: String) {
        self.text = text
    }
}

/// Mutable data of an archive, with an identity.
package final class ArchivedMutableData {
    /// The bytes.
    package var bytes: [UInt8]

    /// Creates an object with bytes.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// Releases long chains of objects iteratively: a recursive release needs one stack frame for each link, and an archive
/// may have a chain of any length.
enum ReferenceChain {
    /// Releases the references of an object in its deinit.
    static func free(_ references: [AnyObject]) {
        var pending = references
        while var object = pending.popLast() {
            guard isKnownUniquelyReferenced(&object) else { continue }
            if let holder = object as? any ReferenceHolder { pending.append(contentsOf: holder.takeReferences()) }
        }
    }
}

/// An object of an archive that refers to others.
protocol ReferenceHolder: AnyObject {
    /// Removes and returns the references to objects that may have references of their own.
    func takeReferences() -> [AnyObject]
}

extension ArchivedCollection: ReferenceHolder {
    func takeReferences() -> [AnyObject] {
        let references = elements.compactMap { $0?.holder }
        if !references.isEmpty { elements = [] }
        return references
    }
}

extension ArchivedDictionary: ReferenceHolder {
    func takeReferences() -> [AnyObject] {
        let references = entries.flatMap { [$0.key?.holder, $0.value?.holder] }.compactMap { $0 }
        if !references.isEmpty { entries = [] }
        return references
    }
}

extension ArchivedObject: ReferenceHolder {
    func takeReferences() -> [AnyObject] {
        var references: [AnyObject] = []
        for field in fields {
            field.value.forEachReference { value in
                if let holder = value?.holder { references.append(holder) }
            }
        }
        if !references.isEmpty { fields = [] }
        return references
    }
}

extension ArchiveValue {
    /// The referenced object, if it can have references.
    var holder: AnyObject? {
        switch self {
        case .mutableString, .mutableData: nil
        default: identity
        }
    }
}

extension ArchiveValue {
    /// Removes the references of an object of an archive, so that cycles are released, too.
    package func removeReferences() {
        switch self {
        case .collection(let object): object.elements = []
        case .dictionary(let object): object.entries = []
        case .unknown(let object): object.fields = []
        default: break
        }
    }
}

extension ArchiveGraph {
    /// Removes the references of every object, so that cycles are released, too. It is called when the graph is no
    /// longer needed; objects retained elsewhere are empty afterwards.
    package func dismantle() {
        for value in objects() { value.removeReferences() }
        top = []
        unreferenced = []
    }
}
