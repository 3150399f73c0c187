/// An object that can be archived.
///
/// The class is a property of the instance, so that classes made at run time can be archived as well as Swift's.
public protocol KeyedEncodable: AnyObject {
    /// The instance's class in an archive.
    var classForKeyedArchiver: ArchivedClass { get }

    /// Whether the instance may be encoded with secure coding; false by default.
    var allowsSecureCoding: Bool { get }

    /// Encodes the instance's values by key. Referenced objects are written later, so that deep graphs and cycles need
    /// no deep recursion.
    func encode(with archiver: KeyedArchiver) throws(ArchiveError)
}

extension KeyedEncodable {
    public var allowsSecureCoding: Bool { false }
}

/// A Swift class that archives itself: NSCoding.
///
/// ```swift
/// final class Item: KeyedCoding {
///     static let archivedClass = ArchivedClass("Item")
///     var name: String?
///     func encode(with archiver: KeyedArchiver) throws(ArchiveError) { try archiver.encode(name, forKey: "name") }
///     init(coder: KeyedUnarchiver) throws(ArchiveError) { name = try coder.decodeString(forKey: "name") }
/// }
/// ```
public protocol KeyedCoding: KeyedEncodable, SendableMetatype {
    /// The class in an archive.
    static var archivedClass: ArchivedClass { get }

    /// Whether the class validates the values that it decodes: NSSecureCoding.
    static var supportsSecureCoding: Bool { get }

    /// Decodes an instance from the values of `encode(with:)`.
    ///
    /// An object with back-references (a parent of children that point back) calls `coder.adopt(self)` before it
    /// decodes them.
    init(coder: KeyedUnarchiver) throws(ArchiveError)
}

extension KeyedCoding {
    public static var supportsSecureCoding: Bool { false }
    public var classForKeyedArchiver: ArchivedClass { Self.archivedClass }
    public var allowsSecureCoding: Bool { Self.supportsSecureCoding }
}

/// A registered key of an archiver, which needs no lookup.
package struct ArchiveKey: Sendable, Hashable {
    let number: UInt32

    /// The stored form of a program's key: a leading `$` is doubled.
    static func escaped(_ key: String) -> String {
        key.utf8.first == UInt8(ascii: "$") ? "$" + key : key
    }

    /// The displayed form of a stored key.
    ///
    /// The keys of unkeyed values are unchanged, and ambiguous keys stay escaped, so that `stored` is the inverse.
    package static func given(_ stored: String) -> String {
        stored.hasPrefix("$$") && !isNumber(stored) ? String(stored.dropFirst()) : stored
    }

    /// The inverse of `given`.
    static func stored(_ given: String) -> String {
        isNumber(given) ? given : escaped(given)
    }

    private static func isNumber(_ key: String) -> Bool {
        let rest = key.utf8.drop { $0 == UInt8(ascii: "$") }
        return !rest.isEmpty && rest.count < key.utf8.count && rest.allSatisfy { (0x30...0x39).contains($0) }
    }
}

/// An object that copies itself with everything it owns: NSCopying with deep copies.
public protocol KeyedCopying: KeyedEncodable {
    /// Makes a copy that shares no mutable object with this one. Owned objects are copied with the copier, which
    /// preserves sharing and terminates on cycles.
    func copy(with copier: KeyedCopier) throws(ArchiveError) -> Self
}

extension KeyedCopying {
    /// A deep copy.
    public func copy() throws(ArchiveError) -> Self {
        let value = try KeyedCopier().copy(self)
        return value
    }
}

/// Copies a graph of objects, each object once.
public final class KeyedCopier {
    private var copies: [ObjectIdentifier: ArchiveValue] = [:]
    /// Retains the originals, so that their addresses stay unique.
    private var originals: [AnyObject] = []
    private var depth = 0
    private static let maximumDepth = 512

    /// Creates a copier that has seen no object.
    package init() {}

    /// The copy of an object; always the same one.
    public func copy<Object: KeyedCopying>(_ object: Object) throws(ArchiveError) -> Object {
        if case .object(let known)? = copies[ObjectIdentifier(object)], let copy = known as? Object { return copy }
        try enter()
        defer { depth -= 1 }
        let copy = try object.copy(with: self)
        adopt(copy, for: object)
        return copy
    }

    /// Registers an object's copy before its contents are copied, for back-references.
    public func adopt(_ copy: any KeyedEncodable, for original: any KeyedEncodable) {
        if copies[ObjectIdentifier(original)] == nil { originals.append(original) }
        copies[ObjectIdentifier(original)] = .object(copy)
    }

    private func enter() throws(ArchiveError) {
        guard depth < Self.maximumDepth else {
            throw .invalid("objects nest deeper than \(Self.maximumDepth); they cannot be copied")
        }
        depth += 1
    }
}
