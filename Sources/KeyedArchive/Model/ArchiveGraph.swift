package import PropertyList

/// Any keyed archive, opened without the program's classes, to be inspected, changed and saved.
///
/// Collections, dates, mutable strings and leaves become Swift values; everything else is an `ArchivedObject`.
/// Unchanged objects are saved with the same classes, keys, references and sharing, including unreferenced ones.
package final class ArchiveGraph {
    /// The form of the archive, and the default form of `encoded(as:)`.
    package var format: PropertyListFormat
    /// The values encoded outside any object, in order.
    package var top: [ArchivedObject.Field]
    /// The unreferenced objects.
    package var unreferenced: [ArchiveValue]
    /// Their UIDs in the archive that was opened.
    package private(set) var unreferencedUIDs: [UInt32] = []
    /// The archive's `$archiver`.
    package var archiverName: String
    /// What the outermost dictionary has beside the objects, the top, the version and the archiver's name.
    package var outerEntries: [(key: PropertyListValue, value: PropertyListValue)] = []
    /// The classes of no object.
    package var unusedClasses: [ArchivedClass] = []

    /// Opens an archive in binary or XML form.
    package convenience init(_ bytes: [UInt8], limits: ArchiveLimits = .standard) throws(ArchiveError) {
        try self.init(KeyedArchiveReader(bytes, limits: limits, acceptsAnyArchiver: true))
    }

    /// Reads all objects of an archive.
    package init(_ reader: KeyedArchiveReader) throws(ArchiveError) {
        format = reader.format
        archiverName = reader.archiver
        let unarchiver = KeyedUnarchiver(reader: reader)
        unarchiver.keepsForm = true
        unarchiver.objects.visited = []
        var top: [ArchivedObject.Field] = []
        for entry in reader.top {
            let value = try unarchiver.fieldValue(at: entry.number)
            try unarchiver.fillAll()
            top.append(ArchivedObject.Field(key: ArchiveKey.given(entry.key), value: value))
        }
        self.top = top
        unreferenced = []
        for (uid, value) in try Self.unreferenced(unarchiver) {
            unreferenced.append(value)
            unreferencedUIDs.append(uid)
        }
        outerEntries = try Self.outerEntries(reader)
        unusedClasses = Self.unusedClasses(reader)
    }

    /// Makes a new graph.
    package convenience init(root: ArchiveValue?, format: PropertyListFormat = .binary) {
        self.init(top: [ArchivedObject.Field(key: KeyedArchiver.rootKey, value: .object(root))], format: format)
    }

    /// Makes a new graph with several values on top.
    package init(
        top: [ArchivedObject.Field], unreferenced: [ArchiveValue] = [], format: PropertyListFormat = .binary,
        archiverName: String = "NSKeyedArchiver"
    ) {
        self.top = top
        self.unreferenced = unreferenced
        self.format = format
        self.archiverName = archiverName
    }

    private static func unreferenced(
        _ unarchiver: KeyedUnarchiver
    ) throws(ArchiveError) -> [(uid: UInt32, value: ArchiveValue)] {
        var values: [(uid: UInt32, value: ArchiveValue)] = []
        let reader = unarchiver.reader
        var pace = InterruptionPace()
        for index in 1..<max(reader.objectCount, 1) {
            if pace.isDue() { throw .corrupt(Interruption.message) }
            guard let uid = UInt32(exactly: index), unarchiver.objects.visited?.contains(uid) == false,
                try !reader.isNil(uid)
            else { continue }
            // Class descriptions are not objects of the graph.
            let number = try reader.number(of: uid)
            if try reader.propertyList.container(in: number) != nil, try reader.record(at: uid) == nil { continue }
            guard let value = try unarchiver.object(of: uid) else { continue }
            try unarchiver.fillAll()
            values.append((uid, value))
            // One without identity is written anew, so it must not be one that a later object refers to.
            if value.identity == nil { unarchiver.objects.visited?.remove(uid) }
        }
        return values.filter { unarchiver.objects.visited?.contains($0.uid) != ($0.value.identity == nil) }
    }

    private static func outerEntries(
        _ reader: KeyedArchiveReader
    ) throws(ArchiveError) -> [(key: PropertyListValue, value: PropertyListValue)] {
        let list = reader.propertyList
        return try lifted { () throws(PropertyListError) in
            guard let root = try list.container(at: list.topObject), root.count > 4 else { return [] }
            var known: Set<PropertyListValue> = [
                .string("$archiver"), .string("$objects"), .string("$top"), .string("$version"),
            ]
            var entries: [(key: PropertyListValue, value: PropertyListValue)] = []
            var holders: [Int: Bool] = [:]
            for index in 0..<root.count {
                let key = try list.value(at: list.reference(index, in: root))
                if known.remove(key) != nil { continue }
                let value = list.valueReference(index, in: root)
                guard try !list.holdsReference(value, &holders) else {
                    throw .corruptArchive("“\(key.keyText)” beside $top refers to objects")
                }
                entries.append((key, try list.value(at: value)))
            }
            return entries
        }
    }

    /// The class descriptions that no object names.
    private static func unusedClasses(_ reader: KeyedArchiveReader) -> [ArchivedClass] {
        var unused: [UInt32: ArchivedClass] = [:]
        for index in 1..<max(reader.objectCount, 1) {
            guard let uid = UInt32(exactly: index), let number = try? reader.number(of: uid),
                (try? reader.propertyList.container(at: number))?.kind == .dictionary,
                case nil = try? reader.record(at: uid), let found = try? reader.archivedClass(at: uid)
            else { continue }
            unused[uid] = found
        }
        // As a rule the first objects name them all.
        for index in 1..<max(reader.objectCount, 1) where !unused.isEmpty {
            guard let uid = UInt32(exactly: index), let named = try? reader.record(at: uid)?.classUID() else {
                continue
            }
            unused[named] = nil
        }
        return unused.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The object under `root`, or under the only key.
    package var root: ArchiveValue? {
        get {
            guard let index = rootIndex, case .object(let value) = top[index].value else { return nil }
            return value
        }
        set {
            let field = ArchivedObject.Field(key: KeyedArchiver.rootKey, value: .object(newValue))
            if let index = rootIndex { top[index].value = field.value } else { top.append(field) }
        }
    }

    private var rootIndex: Int? {
        top.firstIndex { $0.key == KeyedArchiver.rootKey } ?? (top.count == 1 ? 0 : nil)
    }

    /// Every reachable object with an identity, each once, outermost first.
    package func objects() -> [ArchiveValue] {
        var found: [ArchiveValue] = []
        var seen: Set<ObjectIdentifier> = []
        func visit(_ value: ArchiveValue?) {
            guard let value, let identity = value.identity, seen.insert(ObjectIdentifier(identity)).inserted
            else { return }
            found.append(value)
        }
        for field in top { field.value.forEachReference(visit) }
        unreferenced.forEach(visit)
        var next = 0
        while next < found.count {
            found[next].forEachReference(visit)
            next += 1
        }
        return found
    }

    /// The archive's bytes, in its own form or another.
    package func encoded(as format: PropertyListFormat? = nil) throws(ArchiveError) -> [UInt8] {
        let archiver = KeyedArchiver()
        archiver.outputFormat = format ?? self.format
        archiver.archiverName = archiverName
        for field in top { try archiver.encode(topField: field) }
        // Values last: what an object refers to is not an entry of its own as well.
        for value in unreferenced where value.identity != nil { try archiver.encode(unreferenced: value) }
        for value in unreferenced where value.identity == nil { try archiver.encode(unreferenced: value) }
        for unused in unusedClasses { archiver.encode(unused: unused) }
        guard !outerEntries.isEmpty else { return try archiver.finishEncoding() }
        archiver.outputFormat = .binary
        let bytes = try archiver.finishEncoding()
        return try lifted { () throws(PropertyListError) in
            let binary = try withOuterEntries(bytes)
            return (format ?? self.format) == .xml ? try BinaryPropertyListReader(binary).xml() : binary
        }
    }

    /// The archive with the entries beside its objects.
    private func withOuterEntries(_ bytes: [UInt8]) throws(PropertyListError) -> [UInt8] {
        let reader = try BinaryPropertyListReader(bytes)
        guard let root = try reader.container(at: reader.topObject) else { return bytes }
        let writer = BinaryPropertyListWriter()
        let count = root.count + outerEntries.count
        let (number, references) = writer.dictionary(count: count)
        for index in 0..<root.count {
            let key = try writer.add(reader.reference(index, in: root), of: reader)
            writer.setReference(index, in: references, to: key)
            let value = try writer.add(reader.valueReference(index, in: root), of: reader)
            writer.setReference(count + index, in: references, to: value)
        }
        for (place, entry) in outerEntries.enumerated() {
            writer.setReference(root.count + place, in: references, to: try writer.add(entry.key))
            writer.setReference(count + root.count + place, in: references, to: try writer.add(entry.value))
        }
        return try writer.finish(topObject: number)
    }
}

extension ArchiveValue {
    /// Calls a function with each object that this one refers to directly.
    func forEachReference(_ body: (ArchiveValue?) -> Void) {
        switch self {
        case .collection(let collection): collection.elements.forEach(body)
        case .dictionary(let dictionary):
            for entry in dictionary.entries {
                body(entry.key)
                body(entry.value)
            }
        case .unknown(let object):
            for field in object.fields { field.value.forEachReference(body) }
        default: break
        }
    }
}

extension KeyedArchiver {
    /// Encodes a field of an archive's `$top`.
    func encode(topField field: ArchivedObject.Field) throws(ArchiveError) {
        let (kind, payload) = try written(field.value)
        try append(table.key(ArchiveKey.stored(field.key)), kind, payload)
        try drainOutside()
    }

    /// Encodes an unreferenced object: as an entry of its own, where an equal value without identity was written before.
    func encode(unreferenced value: ArchiveValue) throws(ArchiveError) {
        let next = record.entries.count
        let known = try uid(of: value)
        try drainOutside()
        if known != 0, known < next, value.identity == nil { _ = record.newUID(record.entries.get(known)) }
    }

    /// Writes the description of a class that may have no instance.
    func encode(unused archivedClass: ArchivedClass) {
        let number = classes.number(of: archivedClass)
        let (uid, isFirst) = classes.uid(of: number, in: record)
        if isFirst { record.write(classes.description(of: number), uid: uid) }
    }
}

extension ArchiveGraph {
    /// The graph as it would be archived now, written by `TreeJSON`.
    ///
    /// - Throws: `ArchiveError` when the graph cannot be archived, or unfolds too far.
    package func json() throws -> String {
        var writer = TreeJSON(try tree())
        var json: [UInt8] = []
        try writer.write { json += $0 }
        return String(decoding: json.dropLast(), as: UTF8.self)
    }

    private func tree() throws(ArchiveError) -> ArchiveTree {
        let bytes = try encoded(as: .binary)
        return ArchiveTree(try lifted { () throws(PropertyListError) in try BinaryPropertyListReader(bytes) })
    }

    /// The graph as it would be archived now, drawn by `TreeDrawing`.
    ///
    /// - Parameter leafText: the format of leaves.
    /// - Returns: terminated lines; the last one has the error when the graph cannot be archived.
    package func dump(_ leafText: LeafText = LeafText()) -> String {
        var text = ""
        do throws(ArchiveError) {
            var drawing = TreeDrawing(try tree(), leafText: leafText) { "at \($0)" }
            drawing.draw { line in
                for piece in line { text += piece.text }
                text += "\n"
            }
        } catch {
            text += "the graph cannot be archived as it is: \(error)\n"
        }
        return text
    }
}
