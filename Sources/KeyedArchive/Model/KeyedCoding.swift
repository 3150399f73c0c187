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
