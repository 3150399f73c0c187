import KeyedArchive

/// Where the items are in an archive's graph.
struct ItemPlaces {
    /// An array of items, and what else it holds.
    private struct List {
        var topIndex: Int
        var keys: Set<String> = []
        /// The elements that are no items, and where they are.
        var others: [(index: Int, value: ArchiveValue?)] = []
    }

    /// The items by key.
    private(set) var objects: [String: ArchivedObject] = [:]
    private var lists: [List] = []
    /// Where the one item is that stands in no array.
    private var single: Int?

    /// - Parameters:
    ///   - graph: the archive.
    ///   - elements: the keys of what the reader met, in its order; nil for what is no item.
    /// - Returns: nil when both do not match, or one object is an item twice.
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
                    list.keys.insert(key)
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
        objects.updateValue(object, forKey: key) == nil
    }

    /// Whether there is an array that new items can go to, or one item that can become an array.
    var hasPlaceForItems: Bool { !lists.isEmpty || single != nil }

    /// Puts items where they belong, in their order: each into the array that it came from, new ones into the last.
    func put(_ items: [(key: String, object: ArchivedObject)], into graph: ArchiveGraph) {
        if lists.isEmpty, let single {
            if items.count == 1, objects[items[0].key] === items[0].object { return }
            let all = items.map { ArchiveValue?.some(.unknown($0.object)) }
            graph.top[single].value = .object(.collection(ArchivedCollection(elements: all)))
            return
        }
        for (position, list) in lists.enumerated() {
            var members: [ArchiveValue?] = items.filter { item in
                list.keys.contains(item.key)
                    || position == lists.count - 1 && !isAlone(item.key) && !lists.contains { $0.keys.contains(item.key) }
            }.map { .unknown($0.object) }
            for other in list.others { members.insert(other.value, at: min(other.index, members.count)) }
            guard case .object(let value?) = graph.top[list.topIndex].value else { continue }
            Self.setElements(of: value, to: members)
        }
        if let single, !items.contains(where: { isAlone($0.key) }) { graph.top[single].value = .object(nil) }
    }

    private func isAlone(_ key: String) -> Bool {
        guard let object = objects[key] else { return false }
        return !lists.contains { $0.keys.contains(key) } && single != nil && objects[key] === object
    }

    /// The elements of an array; also of one that is kept as it is, with its list in place.
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
