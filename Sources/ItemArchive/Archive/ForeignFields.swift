import ColumnEngine
import KeyedArchive
import PropertyList

/// Fields of items with objects of an application's own classes, such as a UIImage: kept unchanged, and written back
/// with their items.
///
/// This application does not see them as fields, except for a decimal in a field of every item, which it reads as a
/// number. A custom field of the same name replaces one, and so does another value of a field of every item.
public struct ForeignFields: Sendable, Hashable {
    /// A keyed archive of the objects, by number.
    private var archive: [UInt8] = []
    /// By `itemKey` and field, the number of the object.
    private var fields: [ExactText: [ExactText: String]] = [:]

    init() {}

    var isEmpty: Bool { fields.isEmpty }

    /// A field found by a reader: its item, its name, and its object in the archive.
    struct Field {
        let itemKey: String
        let name: String
        let uid: UInt32
    }

    /// Extracts the objects from an archive.
    ///
    /// - Parameters:
    ///   - found: the fields.
    ///   - reader: the archive.
    ///   - items: the objects that are items: an object that refers back to one cannot be extracted.
    /// - Returns: the fields that could not be kept.
    /// - Throws: `ArchiveError` for unreadable objects.
    mutating func take(
        _ found: [Field], from reader: KeyedArchiveReader, items: Set<UInt32>
    ) throws(ArchiveError) -> [Field] {
        let objects = found.enumerated().map { (key: String($0.offset), uid: $0.element.uid) }
        let (bytes, keys) = try reader.extract(objects, without: items)
        archive = bytes
        var left: [Field] = []
        for (index, field) in found.enumerated() {
            if keys.contains(String(index)) {
                fields[ExactText(field.itemKey), default: [:]][ExactText(field.name)] = String(index)
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
