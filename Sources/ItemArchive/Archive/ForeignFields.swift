import ColumnEngine
import KeyedArchive

/// Fields of items that hold objects of an application's own classes, such as a UIImage: kept as they are, and written
/// back with their items.
///
/// They are no fields to this application. A custom field of the same name takes the place of one.
public struct ForeignFields: Sendable, Hashable {
    /// A keyed archive of the objects, by number.
    private var archive: [UInt8] = []
    /// By `itemKey` and field, the number of the object.
    private var fields: [String: [String: String]] = [:]

    init() {}

    var isEmpty: Bool { fields.isEmpty }

    /// A field as a reader meets it: whose, what it is called, and which object of the archive it holds.
    struct Field {
        let itemKey: String
        let name: String
        let uid: UInt32
    }

    /// Takes the objects out of an archive.
    ///
    /// - Parameters:
    ///   - found: the fields.
    ///   - reader: the archive.
    ///   - items: the objects that are items: what leads back to one cannot be kept apart from it.
    /// - Returns: the fields that could not be kept.
    /// - Throws: `ArchiveError` for objects that cannot be read.
    mutating func take(
        _ found: [Field], from reader: KeyedArchiveReader, items: Set<UInt32>
    ) throws(ArchiveError) -> [Field] {
        let objects = found.enumerated().map { (key: String($0.offset), uid: $0.element.uid) }
        let (bytes, keys) = try reader.extract(objects, without: items)
        archive = bytes
        var left: [Field] = []
        for (index, field) in found.enumerated() {
            if keys.contains(String(index)) {
                fields[field.itemKey, default: [:]][field.name] = String(index)
            } else {
                left.append(field)
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
        private let fields: [String: [String: String]]
        private let values: [String: ArchiveValue]
        private let graph: ArchiveGraph?

        init(fields: [String: [String: String]], values: [String: ArchiveValue], graph: ArchiveGraph?) {
            self.fields = fields
            self.values = values
            self.graph = graph
        }

        deinit { graph?.dismantle() }

        var isEmpty: Bool { fields.isEmpty }

        /// The foreign fields of an item, by name.
        func fields(ofItem key: String) -> [(name: String, value: ArchiveValue)] {
            guard let names = fields[key] else { return [] }
            return names.sorted { $0.key < $1.key }.compactMap { name, number in
                values[number].map { (name, $0) }
            }
        }
    }
}
