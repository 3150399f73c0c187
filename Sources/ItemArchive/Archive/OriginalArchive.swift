import ColumnEngine
import KeyedArchive
import PropertyList

/// An application's archive as it was opened, if it has content beyond the store's fields: objects of the application's
/// own classes, mutable or shared values, absent values, several arrays. A save edits it only where items have changed,
/// so that everything else stays the same, object for object.
public final class OriginalArchive: Sendable {
    /// Larger archives are rewritten from the fields and the foreign ones.
    static let maximumBytes = 64 << 20

    private let reader: BinaryPropertyListReader
    private let identity: ArchiveIdentity

    /// Fails for an archive that cannot be edited in this way.
    init?(_ reader: BinaryPropertyListReader, _ identity: ArchiveIdentity) {
        guard reader.storage.bytes.count <= Self.maximumBytes else { return nil }
        self.reader = reader
        self.identity = identity
        guard let graph = try? graph() else { return nil }
        defer { graph.dismantle() }
        guard let known = try? known(), let places = ItemPlaces(graph, known.elements), places.hasPlaceForItems else {
            return nil
        }
    }

    /// The archive updated with the items of a snapshot.
    func encoded(with snapshot: ItemSnapshot, _ schema: ArchiveSchema) throws(ArchiveError) -> [UInt8] {
        let graph = try graph()
        defer { graph.dismantle() }
        let known: Known
        do throws(PropertyListError) { known = try self.known() } catch { throw ArchiveError(error) }
        guard let places = ItemPlaces(graph, known.elements) else {
            throw ArchiveError(code: .readCorrupt, message: "the archive that was opened is not what it was")
        }
        var items: [(key: String, object: ArchivedObject)] = []
        for index in 0..<snapshot.count {
            let fields = snapshot.values(at: index)
            let key = snapshot.keyString(index)
            let object: ArchivedObject
            if let existing = places.objects[ExactText(key)], let old = known.row(forKey: key) {
                var editor = ItemObjectEditor(existing, schema)
                let values = known.values(old)
                editor.update(from: values, to: fields, hasKey: known.keyed.contains(ExactText(key)))
                object = existing
            } else {
                object = ArchivedObject(ArchivedClass(schema.className, superclasses: schema.superclasses))
                var editor = ItemObjectEditor(object, schema)
                editor.fill(with: fields)
                if let source = snapshot.source(ofCopy: key), let model = places.objects[ExactText(source)],
                    let old = known.row(forKey: source)
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
        /// The keys of the items in the order of the archive; nil for an element that is not an item.
        var elements: [String?]
        /// The keys that the archive contains.
        var keyed: Set<ExactText>

        /// The fields of an item as in a snapshot.
        func values(_ row: UInt32) -> PropertyListFields {
            store.dictionary(of: row, keepsAttachment: true, marksAbsent: true)
        }

        func row(forKey key: String) -> UInt32? {
            var key = key
            return key.withUTF8 { store.row(forKey: $0) }
        }
    }

    private func known() throws(PropertyListError) -> Known {
        let store = ColumnStore(.domain)
        var items = ItemArchiveReader(ItemLoader(store), reader, identity)
        items.notesElements = true
        try items.read()
        guard items.damage.isEmpty else { throw .corruptArchive("the archive is damaged") }
        return Known(store: store, elements: items.elements, keyed: items.keyed)
    }
}

extension OriginalArchive: Hashable {
    public static func == (left: OriginalArchive, right: OriginalArchive) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
