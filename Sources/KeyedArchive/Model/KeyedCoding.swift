/// An object that can write itself into a keyed archive.
///
/// The class is the instance's own affair, so that classes made while the program runs can be archived as well as
/// Swift's.
public protocol KeyedEncodable: AnyObject {
    /// The class that the archive names for this instance.
    var classForKeyedArchiver: ArchivedClass { get }

    /// Whether instances may be written when secure coding is required; false unless the class says otherwise.
    var allowsSecureCoding: Bool { get }

    /// Encodes the instance's values by key. References to other objects are written later, so that graphs of any
    /// depth, and cycles, need no deep recursion.
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
    /// The class that the archive names for instances.
    static var archivedClass: ArchivedClass { get }

    /// Whether the class promises to check what it decodes: NSSecureCoding.
    static var supportsSecureCoding: Bool { get }

    /// Makes an instance from the values that `encode(with:)` wrote.
    ///
    /// An object that others may refer to while it is being decoded (a parent with children that point back) calls
    /// `coder.adopt(self)` before it decodes them.
    init(coder: KeyedUnarchiver) throws(ArchiveError)
}

extension KeyedCoding {
    public static var supportsSecureCoding: Bool { false }
    public var classForKeyedArchiver: ArchivedClass { Self.archivedClass }
    public var allowsSecureCoding: Bool { Self.supportsSecureCoding }
}
