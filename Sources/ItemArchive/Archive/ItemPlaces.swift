import ColumnEngine
import KeyedArchive
import PropertyList

/// The locations of the items in an archive's graph.
struct ItemPlaces {
    /// An array of items, and its other elements.
    private struct List {
        var topIndex: Int
        /// The elements that are not items, with their indices.
        var others: [(index: Int, value: ArchiveValue?)] = []
    }

    /// The items by key.
    private(set) var objects: [ExactText: ArchivedObject] = [:]
    private var lists: [List] = []
    /// The array of an item, by the item's key.
    private var listOfItem: [ExactText: Int] = [:]
    /// The location of the one item outside of arrays.
    private var single: Int?

    /// Fails if both do not match, or if one object is two items.
    ///
    /// - Parameters:
    ///   - graph: the archive.
    ///   - elements: the keys of the elements in the reader's order; nil for an element that is not an item.
    init?(_ graph: ArchiveGraph, _ elements: [String?]) {
        var rest = elements[...]
        for (topIndex, field) in graph.top.enumerated() {
            guard case .object(let value?) = field.value else { continue }
            if let members = Self.elements(of: value) {
                var list = List(topIndex: topIndex)
                for (index, member) in members.enumerated() {
                    guard let key = rest.popFirst() else { return nil }
                    guard let key else {
                        list.others.append((index, member))
                        continue
                    }
                    guard case .unknown(let object)? = member, note(object, key) else { return nil }
                    listOfItem[ExactText(key)] = lists.count
                }
                lists.append(list)
            } else if case .unknown(let object) = value, ArchiveSchema.isItemClass(object.archivedClass.name) {
                guard let key = rest.popFirst(), let key, single == nil, note(object, key) else { return nil }
                single = topIndex
            }
        }
        guard rest.isEmpty, Set(objects.values.map(ObjectIdentifier.init)).count == objects.count else { return nil }
    }

    private mutating func note(_ object: ArchivedObject, _ key: String) -> Bool {
        objects.updateValue(object, forKey: ExactText(key)) == nil
    }

    /// Whether there is an array for new items, or one item that can become an array.
    var hasPlaceForItems: Bool { !lists.isEmpty || single != nil }

    /// Puts the items in order into the graph: each into its original array, new ones into the last.
    func put(_ items: [(key: String, object: ArchivedObject)], into graph: ArchiveGraph) {
        if lists.isEmpty, let single {
            if items.count == 1, objects[ExactText(items[0].key)] === items[0].object { return }
            let all = items.map { ArchiveValue?.some(.unknown($0.object)) }
            graph.top[single].value = .object(.collection(ArchivedCollection(elements: all)))
            return
        }
        var members: [[ArchiveValue?]] = Array(repeating: [], count: lists.count)
        var hasSingle = false
        for item in items {
            if let list = listOfItem[ExactText(item.key)] {
                members[list].append(.unknown(item.object))
            } else if objects[ExactText(item.key)] === item.object {
                hasSingle = true
            } else if let last = members.indices.last {
                members[last].append(.unknown(item.object))
            }
        }
        for (list, items) in zip(lists, members) {
            guard case .object(let value?) = graph.top[list.topIndex].value else { continue }
            Self.setElements(of: value, to: Self.merged(items, list.others))
        }
        if let single, !hasSingle { graph.top[single].value = .object(nil) }
    }

    /// Merges items with an array's other elements, which keep their indices as far as enough items precede them.
    private static func merged(
        _ items: [ArchiveValue?], _ others: [(index: Int, value: ArchiveValue?)]
    ) -> [ArchiveValue?] {
        var elements: [ArchiveValue?] = []
        elements.reserveCapacity(items.count + others.count)
        var next = 0
        for item in items {
            while next < others.count, others[next].index <= elements.count {
                elements.append(others[next].value)
                next += 1
            }
            elements.append(item)
        }
        return elements + others[next...].map(\.value)
    }

    /// The elements of an array; also of an array that is kept as an archived object.
    private static func elements(of value: ArchiveValue) -> [ArchiveValue?]? {
        switch value {
        case .collection(let collection) where collection.kind == .array: return collection.elements
        case .unknown(let object) where object.archivedClass.lineage.contains("NSArray"):
            guard case .objects(let elements)? = object["NS.objects"] else { return nil }
            return elements
        default: return nil
        }
    }

    private static func setElements(of value: ArchiveValue, to elements: [ArchiveValue?]) {
        switch value {
        case .collection(let collection): collection.elements = elements
        case .unknown(let object): object["NS.objects"] = .objects(elements)
        default: break
        }
    }
}
