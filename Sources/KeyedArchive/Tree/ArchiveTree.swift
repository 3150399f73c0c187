public import PropertyList

/// Any property list or keyed archive as a tree to look at: references resolved, classes named, what is shared or holds
/// itself told apart. Nothing is decoded but what is asked for, and damage is met where it is.
///
/// Objects are named by their identity: in a keyed archive the UID, in another property list the number of a container.
public final class ArchiveTree {
    /// A place in the tree: where a value is stored, or a reference to it.
    public struct Node: Sendable, Hashable {
        /// The number in the property list.
        let number: Int
        /// The UID, for a node that is an entry of `$objects` and not a place that refers to one.
        var uid: UInt32?
    }

    /// How a value is found below another.
    public enum Label: Sendable, Hashable {
        case key(String)
        case index(Int)
        /// The key, and the value, of the entry of a dictionary whose keys are objects.
        case entryKey(Int)
        case entryValue(Int)
    }

    public struct Child: Sendable, Hashable {
        public let label: Label
        public let node: Node
    }

    /// The property list itself.
    package let propertyList: BinaryPropertyListReader
    /// The form that the bytes were in.
    public let format: PropertyListFormat
    /// The keyed archive, or nil for a property list that is none.
    public let archive: KeyedArchiveReader?
    let unarchiver: KeyedUnarchiver?
    private lazy var sharing = Sharing(self)

    /// Opens bytes in binary or XML form.
    ///
    /// - Throws: `notAnArchive` when they are no property list.
    package convenience init(
        _ storage: PropertyListStorage, limits: ArchiveLimits = .standard
    ) throws(ArchiveError) {
        let format = PropertyListFormat(detecting: storage.bytes) ?? .binary
        let reader = try lifted { () throws(PropertyListError) in
            try BinaryPropertyListReader(detecting: storage, limits: limits.propertyList)
        }
        self.init(reader, format: format, limits: limits)
    }

    /// Looks at a property list that is open already.
    ///
    /// - Parameters:
    ///   - reader: the property list.
    ///   - format: the form that it was in.
    ///   - limits: how much to take.
    package init(
        _ reader: BinaryPropertyListReader, format: PropertyListFormat = .binary, limits: ArchiveLimits = .standard
    ) {
        propertyList = reader
        self.format = format
        archive = try? KeyedArchiveReader(reader, format: format, limits: limits, acceptsAnyArchiver: true)
        unarchiver = archive.map { KeyedUnarchiver(reader: $0) }
    }

    /// The values at the top: those encoded outside any object, by key; the one value of another property list has no
    /// label.
    public var roots: [(label: Label?, node: Node)] {
        guard let archive else { return [(nil, Node(number: propertyList.topObject))] }
        return archive.top.map { (.key(ArchiveKey.given($0.key)), Node(number: $0.number)) }
    }

    /// How many objects there are: entries of `$objects`, or objects of the binary form.
    public var objectCount: Int { archive?.objectCount ?? propertyList.objectCount }

    /// The node of an entry of `$objects`; nil outside it, and when this is no keyed archive.
    public func node(ofObject uid: UInt32) -> Node? {
        guard let number = try? archive?.number(of: uid) else { return nil }
        return Node(number: number, uid: uid)
    }

    /// The number in the property list of the object that a node is or refers to.
    package func objectNumber(of node: Node) -> Int { (try? resolve(node).number) ?? node.number }

    /// Whether more than one place refers to an object.
    public func isShared(_ identity: Int) -> Bool { sharing.isShared(identity) }

    /// The instances and leaves of a keyed archive that nothing refers to.
    package var unreferenced: [(uid: UInt32, node: Node)] {
        sharing.unreferenced.compactMap { uid in node(ofObject: uid).map { (uid, $0) } }
    }
}
