import ColumnEngine
import KeyedArchive
import PropertyList

/// An application's archive as it was opened, if it has content beyond the store's fields: objects of the application's
/// own classes, mutable or shared values, absent values, several arrays. A save edits it only where items have changed,
/// so that everything else stays the same, object for object.
package final class OriginalArchive: Sendable {
    /// Larger archives are rewritten from the fields and the foreign ones.
    static let maximumBytes = 64 << 20

    private let reader: BinaryPropertyListReader
    private let identity: ArchiveIdentity
    private let schema: ItemSchema

    /// Fails for an archive that cannot be edited in this way.
    init?(_ reader: BinaryPropertyListReader, _ identity: ArchiveIdentity, _ schema: ItemSchema) {
        guard reader.storage.bytes.count <= Self.maximumBytes else { return nil }
        self.reader = reader
        self.identity = identity
        self.schema = schema
        guard let graph = try? graph() else { return nil }
        defer { graph.dismantle() }
        guard let known = try? known(), let places = ItemPlaces(graph, known.keys.elements, schema),
            places.hasPlaceForItems
        else {
            return nil
        }
    }

    /// The archive updated with the items of a snapshot.
    func encoded(with snapshot: ItemSnapshot, _ form: ArchiveSchema) throws(ArchiveError) -> [UInt8] {
        let graph = try graph()
        defer { graph.dismantle() }
        let known: Known
        do throws(PropertyListError) { known = try self.known() } catch { throw ArchiveError(error) }
        guard let places = ItemPlaces(graph, known.keys.elements, schema) else {
            throw ArchiveError(code: .readCorrupt, message: "the archive that was opened is not what it was")
        }
        var items: [(key: String, object: ArchivedObject)] = []
        for index in 0..<snapshot.count {
            let fields = snapshot.values(at: index)
            let key = snapshot.keyString(index)
            let object: ArchivedObject
            if let existing = places.objects[ExactText(key)], let old = known.store.row(ofKey: key) {
                var editor = ItemObjectEditor(existing, form)
                let values = known.values(old)
                editor.update(from: values, to: fields, hasKey: known.keys.contained.contains(ExactText(key)))
                object = existing
            } else {
                object = ArchivedObject(ArchivedClass(form.className, superclasses: form.superclasses))
                var editor = ItemObjectEditor(object, form)
                editor.fill(with: fields)
                if let source = snapshot.source(ofCopy: key), let model = places.objects[ExactText(source)],
                    let old = known.store.row(ofKey: source)
                {
                    let values = known.values(old)
                    editor.takeUnusualForms(of: model, with: values, for: fields)
                    editor.takeForeignFields(of: model, besides: values)
                }
            }
            items.append((key, object))
        }
        places.put(items, into: graph)
        return try graph.encoded(as: .binary)
    }

    private func graph() throws(ArchiveError) -> ArchiveGraph {
        try ArchiveGraph(KeyedArchiveReader(reader, acceptsAnyArchiver: true))
    }

    /// The store's content when the archive was opened.
    private struct Known {
        let store: ColumnStore
        let keys: ItemArchiveReport.Keys

        /// The fields of an item as in a snapshot.
        func values(_ row: UInt32) -> PropertyListFields {
            store.dictionary(of: row, keepsAttachment: true, marksAbsent: true)
        }

    }

    private func known() throws(PropertyListError) -> Known {
        let store = ColumnStore(schema)
        var items = ItemArchiveReader(ItemLoader(store), reader, identity, .itemsAndKeys)
        try items.read()
        guard items.report.damage.isEmpty, let keys = items.report.keys else {
            throw .corruptArchive("the archive is damaged")
        }
        return Known(store: store, keys: keys)
    }
}

extension OriginalArchive: Hashable {
    package static func == (left: OriginalArchive, right: OriginalArchive) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Fields of items with objects of an application's own classes, such as a UIImage: kept unchanged, and written back
/// with their items.
///
/// This application does not see them as fields, except for a decimal in a field of every item, which it reads as a
/// number. A custom field of the same name replaces one, and so does another value of a field of every item.
package struct ForeignFields: Sendable, Hashable {
    /// A keyed archive of the objects, by number.
    private var archive: [UInt8] = []
    /// By `itemKey` and field, the number of the object.
    private var fields: [ExactText: [ExactText: String]] = [:]

    init() {}

    var isEmpty: Bool { fields.isEmpty }

    /// A field found by a reader: its item, its name, and its object in the archive.
    struct Field {
        let itemKey: String
        let row: UInt32
        let name: String
        let uid: UInt32
    }

    /// Extracts the objects from an archive.
    ///
    /// - Parameters:
    ///   - found: the fields.
    ///   - reader: the archive.
    ///   - items: the objects that are items: an object that refers back to one cannot be extracted.
    /// - Returns: the fields that could not be kept, and the reason why one cannot be read.
    /// - Throws: `ArchiveError` when none can be extracted.
    mutating func take(
        _ found: [Field], from reader: KeyedArchiveReader, items: Set<UInt32>
    ) throws(ArchiveError) -> [(field: Field, reason: ArchiveError?)] {
        let objects = found.enumerated().map { (key: String($0.offset), uid: $0.element.uid) }
        let (bytes, keys, unreadable) = try reader.extract(objects, without: items)
        archive = bytes
        var left: [(field: Field, reason: ArchiveError?)] = []
        for (index, field) in found.enumerated() {
            if keys.contains(String(index)) {
                fields[ExactText(field.itemKey), default: [:]][ExactText(field.name)] = String(index)
            } else {
                left.append((field, unreadable[String(index)]))
            }
        }
        return left
    }

    /// The objects, for writing them: shared ones are one object again.
    func objects() throws(ArchiveError) -> Objects {
        guard !isEmpty else { return Objects(fields: [:], values: [:], graph: nil) }
        let graph = try ArchiveGraph(archive)
        var values: [String: ArchiveValue] = [:]
        for field in graph.top {
            if case .object(let value?) = field.value { values[field.key] = value }
        }
        return Objects(fields: fields, values: values, graph: graph)
    }

    /// The objects of the fields, in memory.
    final class Objects {
        private let fields: [ExactText: [ExactText: String]]
        private let values: [String: ArchiveValue]
        private let graph: ArchiveGraph?

        init(fields: [ExactText: [ExactText: String]], values: [String: ArchiveValue], graph: ArchiveGraph?) {
            self.fields = fields
            self.values = values
            self.graph = graph
        }

        deinit { graph?.dismantle() }

        var isEmpty: Bool { fields.isEmpty }

        /// The foreign fields of an item, by name.
        func fields(ofItem key: String) -> [ExactText: ArchiveValue] {
            fields[ExactText(key)]?.compactMapValues { values[$0] } ?? [:]
        }
    }
}
