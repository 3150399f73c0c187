package import PropertyList

/// Any property list or keyed archive as a tree for inspection: references are resolved, classes named, shared and
/// cyclic objects marked. Nodes are decoded on access, and damage affects only the damaged node.
///
/// Objects have an identity: the UID in a keyed archive, the number of a container in another property list.
package final class ArchiveTree {
    /// A position in the tree: a stored value, or a reference to one.
    package struct Node: Sendable, Hashable {
        /// The number in the property list.
        let number: Int
        /// The UID of a node that is an entry of `$objects` and not a reference to one.
        var uid: UInt32?
    }

    /// The relation of a value to its parent.
    package enum Label: Sendable, Hashable {
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
            if case .key(let key) = self { key == text } else { false }
        }

        /// Whether it is the label of a field, beside what an instance is shown by, with these bytes.
        func isField(_ text: String) -> Bool {
            if case .field(let key) = self { key == text } else { false }
        }
    }

    /// A node below another.
    package struct Child: Sendable, Hashable {
        /// Its relation to its parent.
        package let label: Label
        /// The node.
        package let node: Node
        /// How often a counted set counts the element.
        package var count: Node?
    }

    /// The property list itself.
    package let propertyList: BinaryPropertyListReader
    /// The form of the bytes.
    package let format: PropertyListFormat
    /// What a text form has and the values do not show.
    package let findings: [PropertyListFinding]
    /// The keyed archive, or nil for another property list.
    package let archive: KeyedArchiveReader?
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
        var findings: [PropertyListFinding] = []
        let reader = try lifted { () throws(PropertyListError) in
            try BinaryPropertyListReader(detecting: storage, limits: limits.propertyList, findings: &findings)
        }
        self.init(reader, format: format, limits: limits, level: level, findings: findings)
    }

    /// Opens an open property list as a tree.
    ///
    /// - Parameters:
    ///   - reader: the property list.
    ///   - format: its form.
    ///   - limits: the limits.
    ///   - level: the number of enclosing archives.
    ///   - findings: those of its text form.
    package init(
        _ reader: BinaryPropertyListReader, format: PropertyListFormat = .binary, limits: ArchiveLimits = .standard,
        level: Int = 0, findings: [PropertyListFinding] = []
    ) {
        propertyList = reader
        self.findings = findings
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
    package var roots: [(label: Label?, node: Node)] {
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
    package var objectCount: Int { archive?.objectCount ?? propertyList.objectCount }

    /// An upper bound for the references and the bytes of long leaves of a file whose objects do not share bytes. A
    /// small hostile file could have enough of them for hours of work.
    var referenceBudget: Int { 4 * propertyList.storage.bytes.count + (1 << 16) }

    /// The node of an entry of `$objects`; nil outside of it, and for another property list.
    package func node(ofObject uid: UInt32) -> Node? {
        guard let number = try? archive?.number(of: uid) else { return nil }
        return Node(number: number, uid: uid)
    }

    /// The number of a node's object in the property list.
    package func objectNumber(of node: Node) -> Int { (try? resolve(node).number) ?? node.number }

    /// Whether more than one place refers to an object.
    package func isShared(_ identity: Int) -> Bool { sharing.isShared(identity) }

    /// The objects of a keyed archive that nothing at the top leads to, without those that others of them lead to. Class
    /// descriptions of no object are among them.
    package var unreferenced: [(uid: UInt32, node: Node)] {
        sharing.unreferenced.compactMap { uid in node(ofObject: uid).map { (uid, $0) } }
    }
}

extension ArchiveTree {
    /// The number of instances of each class, including unreferenced ones and those of embedded archives.
    package var classCounts: NameTable<Int> {
        var counts: NameTable<Int> = [:]
        count(into: &counts)
        return counts
    }

    private func count(into counts: inout NameTable<Int>) {
        if let archive {
            for index in 1..<max(archive.objectCount, 1) {
                guard let uid = UInt32(exactly: index), let name = try? archive.record(at: uid)?.className() else {
                    continue
                }
                counts[name, default: 0] += 1
            }
        }
        for tree in embeddedTrees { tree.count(into: &counts) }
    }
}

extension ArchiveTree {
    /// The children of a node, in the order of the file. Empty for leaves and unreadable nodes.
    package func children(_ node: Node) -> [Child] {
        (try? readChildren(node)) ?? []
    }

    private func readChildren(_ node: Node) throws(ArchiveError) -> [Child] {
        let (uid, number) = try resolve(node)
        if uid == 0 { return [] }
        if archive != nil, let record = try record(number, uid: uid) { return try children(of: record) }
        guard let container = try propertyList.container(in: number) else { return [] }
        guard container.kind == .dictionary else {
            return (0..<container.count).map {
                Child(label: .index($0), node: Node(number: propertyList.reference($0, in: container)))
            }
        }
        var entries = Entries()
        for index in 0..<container.count {
            let key = propertyList.reference(index, in: container)
            let text = try? propertyList.string(at: key)
            entries.add(index, text, key: key, value: propertyList.valueReference(index, in: container))
        }
        return entries.children
    }

    /// The children of a dictionary or an instance. Readers use the first entry of a key; the others are shown, too.
    private struct Entries {
        private(set) var children: [Child] = []
        private var met: Set<ExactText> = []

        /// Adds an entry with its place, the text of its key if it is one, and the numbers of its key and its value.
        mutating func add(_ index: Int, _ text: String?, key: Int, value: Int) {
            if let text, met.insert(ExactText(text)).inserted {
                children.append(Child(label: .key(text), node: Node(number: value)))
            } else {
                children.append(Child(label: .entryKey(index), node: Node(number: key)))
                children.append(Child(label: .entryValue(index), node: Node(number: value)))
            }
        }
    }

    private func children(of record: ArchiveRecord) throws(ArchiveError) -> [Child] {
        let value = try describe(record)
        var children: [Child] = []
        switch value.content {
        case .list, .bag: children = try elements(of: record)
        case .dictionary: children = try entries(of: record)
        case .object: return fields(of: record)
        default: break
        }
        guard value.fieldCount > 0, let builtin = value.className.flatMap(FoundationClass.init(name:)) else {
            return children
        }
        var met: Set<ExactText> = []
        for slot in builtin.otherSlots(of: record) {
            let stored = record.shape.storedKeys[slot]
            let names = [ArchiveKey.given(stored), stored, "\(stored)#\(slot)"]
            let name = names.first { met.insert(ExactText($0)).inserted } ?? stored
            children.append(Child(label: .field(name), node: Node(number: record.number(at: slot))))
        }
        return children
    }

    private func elements(of record: ArchiveRecord) throws(ArchiveError) -> [Child] {
        let isCounted = try record.className() == FoundationClass.countedSet.rawValue
        func element(_ index: Int, _ number: Int) -> Child {
            let count = isCounted ? record.shape.slot(of: "NS.count\(index)") : nil
            return Child(
                label: .index(index), node: Node(number: number),
                count: count.map { Node(number: record.number(at: $0)) })
        }
        if let list = try list("NS.objects", record) {
            return (0..<list.count).map { element($0, list.number(at: $0)) }
        }
        let slots = FoundationClass.numberedSlots(record, FoundationClass.elementPrefixes)
        return slots.enumerated().map { element($0, record.number(at: $1)) }
    }

    private func fields(of record: ArchiveRecord) -> [Child] {
        var entries = Entries()
        for (slot, stored) in record.shape.storedKeys.enumerated() where slot != record.shape.classSlot {
            let key = propertyList.reference(slot, in: record.container)
            entries.add(slot, ArchiveKey.given(stored), key: key, value: record.number(at: slot))
        }
        return entries.children
    }

    private func entries(of record: ArchiveRecord) throws(ArchiveError) -> [Child] {
        let (keys, values) = try dictionaryNumbers(record)
        var entries = Entries()
        for (index, (key, value)) in zip(keys, values).enumerated() {
            entries.add(index, keyText(self.value(Node(number: key))), key: key, value: value)
        }
        return entries.children
    }

    /// The text of a string key of a dictionary; other keys are values of their own.
    private func keyText(_ value: TreeValue) -> String? {
        if case .leaf(.string(let text)) = value.content { text } else { nil }
    }
}

extension ArchiveTree {
    /// Maximum depth of opened archives in data.
    private static let maximumEmbedding = 8

    /// The archive or property list in a node's data, or the reason why it cannot be read; nil for other data and
    /// nodes.
    package func embedded(in node: Node) -> Result<ArchiveTree, ArchiveError>? {
        guard let number = try? dataNumber(of: node) else { return nil }
        return embedded(at: number)
    }

    /// The archives and property lists in all data, also in unreferenced ones.
    var embeddedTrees: [ArchiveTree] {
        (0..<propertyList.objectCount).compactMap { try? embedded(at: $0)?.get() }
    }

    /// The number of a node's data: its own, or the one in an NSData.
    private func dataNumber(of node: Node) throws(ArchiveError) -> Int? {
        let (uid, number) = try resolve(node)
        guard let record = try record(number, uid: uid) else { return number }
        guard let builtin = FoundationClass(name: try record.className()), builtin == .data || builtin == .mutableData
        else { return nil }
        guard let slot = record.shape.slot(of: "NS.data") ?? record.shape.slot(of: "NS.bytes") else { return nil }
        return try record.leaf(at: slot)
    }

    private func embedded(at number: Int) -> Result<ArchiveTree, ArchiveError>? {
        guard (try? propertyList.kind(of: number)) == .data else { return nil }
        if let known = embeddings[number] { return known }
        guard let bytes = try? propertyList.data(at: number), PropertyListFormat.isBeginning(of: bytes) else {
            return nil
        }
        let result = Result { () throws(ArchiveError) in try open(bytes) }
        embeddings[number] = result
        return result
    }

    private func open(_ bytes: UnsafeRawBufferPointer) throws(ArchiveError) -> ArchiveTree {
        guard level < Self.maximumEmbedding else {
            throw .corrupt("it is not opened, because it is in more than \(Self.maximumEmbedding) archives")
        }
        // Objects of a hostile file may share their bytes, so the opened data is limited by the file's size.
        embeddedBytes += bytes.count
        guard embeddedBytes <= propertyList.storage.bytes.count else {
            throw .corrupt("it is not opened, because its bytes are those of other data, too")
        }
        let storage = propertyList.storage
        let slice = PropertyListStorage(adopting: bytes) { _ in withExtendedLifetime(storage) {} }
        return try ArchiveTree(slice, limits: limits, level: level + 1)
    }
}
