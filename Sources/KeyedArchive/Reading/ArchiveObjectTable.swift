package import PropertyList

/// The `$objects` of a keyed archive, read in place. It resolves UIDs, and instances of Foundation's simple classes to
/// their leaves.
///
/// Objects are identified by their number in the property list, so that inline values and references are read alike. A
/// plain property list has no `$objects` and no references.
package struct ArchiveObjectTable: Sendable {
    package let propertyList: BinaryPropertyListReader
    /// Nil for a plain property list.
    package let objects: BinaryPropertyListContainer?
    /// The object that represents nil; -1 for none.
    package let nilNumber: Int
    /// The entries of `$top` in the archive's order, with stored keys.
    package let top: [(key: String, number: Int)]
    /// The name in `$archiver`.
    let archiver: String

    /// Opens a plain property list.
    package init(plain list: BinaryPropertyListReader) {
        self.init(list, nil)
    }

    /// Opens a keyed archive and checks its envelope. O(1).
    ///
    /// - Parameters:
    ///   - list: the archive.
    ///   - isForgiving: accept a damaged envelope with `$objects` and `$top`.
    /// - Throws: `readCorrupt` when the property list is not a keyed archive.
    package init(_ list: BinaryPropertyListReader, isForgiving: Bool = false) throws(PropertyListError) {
        let message = "the property list is not a keyed archive: its root"
        guard let root = try list.container(at: list.topObject), root.kind == .dictionary else {
            throw PropertyListError(code: .readCorrupt, message: "\(message) is not a dictionary")
        }
        func entry(_ key: StaticString) throws(PropertyListError) -> Int {
            if let value = try list.value(of: key, in: root) { return value }
            throw PropertyListError(code: .readCorrupt, message: "\(message) has no key “\(key)”")
        }
        func check(_ isRight: Bool, _ message: String) throws(PropertyListError) {
            if !isRight { throw PropertyListError(code: .readCorrupt, message: message) }
        }
        var archiver: String?
        if !isForgiving {
            let version = try list.number(at: try entry("$version"))
            try check(version == .integer(100_000), "the version of the keyed archive is not 100000")
            archiver = try list.string(at: try entry("$archiver"))
            try check(archiver != nil, "the name of the archiver is not a string")
        }
        let objects = try list.container(at: try entry("$objects"))
        guard let objects, objects.kind == .array, objects.count > 0, objects.count <= Int(UInt32.max),
            isForgiving || (try? list.isString(list.reference(0, in: objects), "$null")) == true
        else {
            let message = "the archive's $objects is not an array that begins with “$null”"
            throw PropertyListError(code: .readCorrupt, message: message)
        }
        guard let entries = try list.container(at: try entry("$top")), entries.kind == .dictionary else {
            throw PropertyListError(code: .readCorrupt, message: "the archive's $top is not a dictionary")
        }
        var top: [(key: String, number: Int)] = []
        for index in 0..<entries.count {
            let key = try list.string(at: list.reference(index, in: entries))
            try check(key != nil || isForgiving, "a key of the archive's $top is not a string")
            top.append((key ?? "", list.valueReference(index, in: entries)))
        }
        self.init(list, objects, top, archiver ?? "")
    }

    /// Finds the `$objects` of an archive whose root is lost: the array that begins with `$null`.
    package init?(withoutRoot list: BinaryPropertyListReader) {
        for number in 0..<list.objectCount {
            guard let found = try? list.container(at: number), found.kind == .array, found.count > 1,
                (try? list.isString(list.reference(0, in: found), "$null")) == true
            else { continue }
            self.init(list, found)
            return
        }
        return nil
    }

    private init(
        _ list: BinaryPropertyListReader, _ objects: BinaryPropertyListContainer?,
        _ top: [(key: String, number: Int)] = [], _ archiver: String = ""
    ) {
        propertyList = list
        self.objects = objects
        self.top = top
        self.archiver = archiver
        nilNumber = objects.map { list.reference(0, in: $0) } ?? -1
    }

    // MARK: References

    /// The object with a UID.
    @inline(__always)
    package func number(of uid: UInt32) throws(PropertyListError) -> Int {
        guard let objects, Int(uid) < objects.count else {
            throw .corruptArchive("a reference to object \(uid), of \(objects?.count ?? 0)")
        }
        return propertyList.reference(Int(uid), in: objects)
    }

    /// Resolves a value: the object of a reference, or the value itself.
    @inline(__always)
    package func resolve(_ value: Int) throws(PropertyListError) -> Int {
        guard objects != nil, let uid = try propertyList.uid(at: value) else { return value }
        return try number(of: uid)
    }

    /// Resolves a value of a dictionary.
    @inline(__always)
    package func value(at slot: Int, in container: BinaryPropertyListContainer) throws(PropertyListError) -> Int {
        try resolve(propertyList.valueReference(slot, in: container))
    }

    /// The object of an element of a list of references.
    @inline(__always)
    package func element(_ index: Int, of list: BinaryPropertyListContainer) throws(PropertyListError) -> Int {
        guard let uid = try propertyList.uid(at: propertyList.reference(index, in: list)) else {
            throw .corruptArchive("an element of a collection is not a reference to an object")
        }
        return try number(of: uid)
    }

    /// The dictionary with a number; nil for another object.
    @inline(__always)
    package func dictionary(at number: Int) throws(PropertyListError) -> BinaryPropertyListContainer? {
        guard let found = try propertyList.container(at: number), found.kind == .dictionary else { return nil }
        return found
    }

    // MARK: Leaves

    /// A string, or the text of an NSString object.
    package func string(at number: Int) throws(PropertyListError) -> String? {
        if let text = try propertyList.string(at: number) { return text }
        guard let leaf = try leaf(of: .string, at: number) else { return nil }
        if let text = try propertyList.string(at: leaf) { return text }
        return try propertyList.data(at: leaf).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// The text of a string or an NSString object as a value; half of a surrogate pair keeps its units.
    package func text(at number: Int) throws(PropertyListError) -> PropertyListValue? {
        if let text = try propertyList.text(at: number) { return text }
        guard let leaf = try leaf(of: .string, at: number) else { return nil }
        if let text = try propertyList.text(at: leaf) { return text }
        return try string(at: number).map { .string($0) }
    }

    /// Data, or the bytes of an NSData object.
    package func data(at number: Int) throws(PropertyListError) -> UnsafeRawBufferPointer? {
        try propertyList.data(at: try leaf(of: .data, at: number) ?? number)
    }

    /// A number, or that of an NSNumber object.
    package func number(at number: Int) throws(PropertyListError) -> BinaryPropertyListReader.Number? {
        if let value = try propertyList.number(at: number) { return value }
        return try propertyList.number(at: try leaf(of: .number, at: number) ?? number)
    }

    /// A date, or that of an NSDate object.
    package func date(at number: Int) throws(PropertyListError) -> PropertyListDate? {
        if let date = try propertyList.date(at: number) { return date }
        guard let leaf = try leaf(of: .date, at: number) else { return nil }
        switch try propertyList.number(at: leaf) {
        case .boolean?, .wideInteger?, nil: return nil
        case let seconds?: return PropertyListDate(secondsSinceReferenceDate: seconds.asDouble)
        }
    }

    /// The leaf of an instance of a wrapper class, inline or behind a reference.
    private func leaf(of wrapper: FoundationClass, at number: Int) throws(PropertyListError) -> Int? {
        guard objects != nil, let instance = try dictionary(at: number) else { return nil }
        for key in wrapper.leafKeys {
            if let value = try propertyList.value(of: key, in: instance) { return try resolve(value) }
        }
        return nil
    }
}

extension BinaryPropertyListReader {
    /// The slot of a key in a dictionary.
    func slot(of key: StaticString, in container: BinaryPropertyListContainer) throws(PropertyListError) -> Int? {
        guard container.kind == .dictionary else { return nil }
        for slot in 0..<container.count where try isString(reference(slot, in: container), key) { return slot }
        return nil
    }

    /// Whether an object is a reference, or a container that leads to one, directly or through containers in it.
    ///
    /// - Parameters:
    ///   - number: the object.
    ///   - known: what is known of containers, by number.
    ///   - depth: the levels above it.
    /// - Returns: whether it does.
    /// - Throws: `readCorrupt` for damaged objects, and for nesting beyond the limit.
    func holdsReference(
        _ number: Int, _ known: inout [Int: Bool], depth: Int = 0
    ) throws(PropertyListError) -> Bool {
        guard let container = try container(at: number) else { return try uid(at: number) != nil }
        if let known = known[number] { return known }
        if let excess = limits.excess(atDepth: depth) { throw .corruptArchive("containers nest \(excess)") }
        // A container that holds itself is refused when it is read.
        known[number] = false
        for index in 0..<container.count {
            if try holdsReference(reference(index, in: container), &known, depth: depth + 1) {
                known[number] = true
            } else if container.kind == .dictionary {
                let value = valueReference(index, in: container)
                known[number] = try holdsReference(value, &known, depth: depth + 1)
            }
            if known[number] == true { return true }
        }
        return false
    }

    /// The value of a key in a dictionary.
    func value(of key: StaticString, in container: BinaryPropertyListContainer) throws(PropertyListError) -> Int? {
        guard let slot = try slot(of: key, in: container) else { return nil }
        return valueReference(slot, in: container)
    }
}

extension PropertyListError {
    /// The error for an archive with invalid objects; ``ArchiveError`` has the matching code.
    package static func corruptArchive(_ message: String) -> PropertyListError {
        PropertyListError(code: Code(rawValue: ArchiveError.Code.readCorrupt.rawValue), message: message)
    }
}

/// The class descriptions of an archive, each read once.
struct ArchiveClassTable {
    private var classes: [UInt32: ArchivedClass] = [:]
    private let maximumNameBytes: Int
    /// The remaining bytes for class names: many descriptions may share one long list of names.
    private var nameBytesLeft: Int

    init(_ list: BinaryPropertyListReader, _ limits: ArchiveLimits) {
        maximumNameBytes = limits.maximumClassNameBytes
        nameBytesLeft = (1 << 16) + 64 * list.storage.bytes.count
    }

    /// The class description with a UID.
    ///
    /// - Throws: `readCorrupt` when the entry is not a class description.
    mutating func archivedClass(
        at uid: UInt32, in table: ArchiveObjectTable
    ) throws(PropertyListError) -> ArchivedClass {
        if let known = classes[uid] { return known }
        guard uid != 0, let container = try table.dictionary(at: try table.number(of: uid)) else {
            throw .corruptArchive("the class of an object is not a class description (object \(uid))")
        }
        let list = table.propertyList
        guard let found = try list.value(of: "$classname", in: container), let name = try list.string(at: found) else {
            throw .corruptArchive("a class description has no name (object \(uid))")
        }
        try spend(name)
        var archivedClass = ArchivedClass(
            name, superclasses: [], hints: try names("$classhints", container, list) ?? [])
        if let lineage = try names("$classes", container, list) {
            archivedClass.superclasses = lineage.first == name ? Array(lineage.dropFirst()) : lineage
        } else {
            archivedClass.listsSuperclasses = false
        }
        classes[uid] = archivedClass
        return archivedClass
    }

    private mutating func names(
        _ key: StaticString, _ container: BinaryPropertyListContainer, _ reader: BinaryPropertyListReader
    ) throws(PropertyListError) -> [String]? {
        guard let found = try reader.value(of: key, in: container) else { return nil }
        let message = "the superclasses of a class are not a list of names"
        guard let list = try reader.container(at: found), list.kind == .array, list.count <= 1024 else {
            throw .corruptArchive(message)
        }
        var names: [String] = []
        for index in 0..<list.count {
            guard let name = try reader.string(at: reader.reference(index, in: list)) else {
                throw .corruptArchive(message)
            }
            try spend(name)
            names.append(name)
        }
        return names
    }

    private mutating func spend(_ name: String) throws(PropertyListError) {
        guard name.utf8.count <= maximumNameBytes else {
            throw .corruptArchive("a class name has \(name.utf8.count) bytes, the limit is \(maximumNameBytes)")
        }
        nameBytesLeft -= name.utf8.count + 16
        guard nameBytesLeft >= 0 else {
            throw .corruptArchive("the names of the classes take more room than the archive")
        }
    }
}
