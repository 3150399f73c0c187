public import PropertyList

/// Any property list or keyed archive as a tree for inspection: references are resolved, classes named, shared and
/// cyclic objects marked. Nodes are decoded on access, and damage affects only the damaged node.
///
/// Objects have an identity: the UID in a keyed archive, the number of a container in another property list.
public final class ArchiveTree {
    /// A position in the tree: a stored value, or a reference to one.
    public struct Node: Sendable, Hashable {
        /// The number in the property list.
        let number: Int
        /// The UID of a node that is an entry of `$objects` and not a reference to one.
        var uid: UInt32?
    }

    /// The relation of a value to its parent.
    public enum Label: Sendable, Hashable {
        /// The value of an object's key.
        case key(String)
        /// An element, by its place from 0.
        case index(Int)
        /// The key, or the value, of an entry of a dictionary with objects as keys.
        case entryKey(Int)
        /// The value of a dictionary's entry, by its place from 0.
        case entryValue(Int)
        /// A field of an instance that is shown by its value, its elements or its entries, and whose class does not read
        /// the field. What would have the same name as one before it has the stored key, with its place behind a `#` if
        /// that is there twice, too.
        case field(String)

        /// Whether it is the label of a key with these bytes.
        func isKey(_ text: String) -> Bool {
            if case .key(let key) = self { key.hasSameBytes(as: text) } else { false }
        }

        /// Whether it is the label of a field, beside what an instance is shown by, with these bytes.
        func isField(_ text: String) -> Bool {
            if case .field(let key) = self { key.hasSameBytes(as: text) } else { false }
        }
    }

    /// A node below another.
    public struct Child: Sendable, Hashable {
        /// Its relation to its parent.
        public let label: Label
        /// The node.
        public let node: Node
        /// How often a counted set counts the element.
        public var count: Node?
    }

    /// The property list itself.
    package let propertyList: BinaryPropertyListReader
    /// The form of the bytes.
    public let format: PropertyListFormat
    /// The keyed archive, or nil for another property list.
    public let archive: KeyedArchiveReader?
    /// Why a property list that claims to be an archive is none.
    package let archiveError: ArchiveError?
    let unarchiver: KeyedUnarchiver?
    private lazy var sharing = Sharing(self)
    let limits: ArchiveLimits
    /// The number of enclosing archives.
    let level: Int
    /// The contents of data, by the data's number.
    var embeddings: [Int: Result<ArchiveTree, ArchiveError>] = [:]
    /// The size of the opened data, in bytes.
    var embeddedBytes = 0

    /// Opens bytes in binary or XML form.
    ///
    /// - Throws: `notAnArchive` when the bytes are not a property list.
    package convenience init(
        _ storage: PropertyListStorage, limits: ArchiveLimits = .standard, level: Int = 0
    ) throws(ArchiveError) {
        let format = PropertyListFormat(detecting: storage.bytes) ?? .binary
        let reader = try lifted { () throws(PropertyListError) in
            try BinaryPropertyListReader(detecting: storage, limits: limits.propertyList)
        }
        self.init(reader, format: format, limits: limits, level: level)
    }

    /// Opens an open property list as a tree.
    ///
    /// - Parameters:
    ///   - reader: the property list.
    ///   - format: its form.
    ///   - limits: the limits.
    ///   - level: the number of enclosing archives.
    package init(
        _ reader: BinaryPropertyListReader, format: PropertyListFormat = .binary, limits: ArchiveLimits = .standard,
        level: Int = 0
    ) {
        propertyList = reader
        self.format = format
        self.limits = limits
        self.level = level
        do throws(ArchiveError) {
            archive = try KeyedArchiveReader(reader, format: format, limits: limits, acceptsAnyArchiver: true)
            archiveError = nil
        } catch {
            archive = nil
            archiveError = ArchiveCheck.claimsToBeAnArchive(reader) ? error : nil
        }
        unarchiver = archive.map { KeyedUnarchiver(reader: $0) }
    }

    /// The values at the top: those of an archive by key; the value of another property list has no label.
    public var roots: [(label: Label?, node: Node)] {
        guard let archive else { return [(nil, Node(number: propertyList.topObject))] }
        return archive.top.map { (.key(ArchiveKey.given($0.key)), Node(number: $0.number)) }
    }

    /// What an archive has in its outermost dictionary beside its objects, its top, its version and its archiver's name.
    package var outerEntries: [Child] {
        guard archive != nil, let root = try? propertyList.container(at: propertyList.topObject) else { return [] }
        var known: NameSet = ["$archiver", "$objects", "$top", "$version"]
        return (0..<root.count).flatMap { index in
            let key = propertyList.reference(index, in: root)
            let node = Node(number: propertyList.valueReference(index, in: root))
            guard let text = try? propertyList.string(at: key) else {
                return [
                    Child(label: .entryKey(index), node: Node(number: key)),
                    Child(label: .entryValue(index), node: node),
                ]
            }
            return known.remove(text) == nil ? [Child(label: .key(text), node: node)] : []
        }
    }

    /// The number of objects: entries of `$objects`, or objects of the binary form.
    public var objectCount: Int { archive?.objectCount ?? propertyList.objectCount }

    /// An upper bound for the references and the bytes of long leaves of a file whose objects do not share bytes. A
    /// small hostile file could have enough of them for hours of work.
    var referenceBudget: Int { 4 * propertyList.storage.bytes.count + (1 << 16) }

    /// The node of an entry of `$objects`; nil outside of it, and for another property list.
    public func node(ofObject uid: UInt32) -> Node? {
        guard let number = try? archive?.number(of: uid) else { return nil }
        return Node(number: number, uid: uid)
    }

    /// The number of a node's object in the property list.
    package func objectNumber(of node: Node) -> Int { (try? resolve(node).number) ?? node.number }

    /// Whether more than one place refers to an object.
    public func isShared(_ identity: Int) -> Bool { sharing.isShared(identity) }

    /// The objects of a keyed archive that nothing at the top leads to, without those that others of them lead to. Class
    /// descriptions of no object are among them.
    package var unreferenced: [(uid: UInt32, node: Node)] {
        sharing.unreferenced.compactMap { uid in node(ofObject: uid).map { (uid, $0) } }
    }
}
