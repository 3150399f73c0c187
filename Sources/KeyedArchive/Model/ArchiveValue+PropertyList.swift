public import PropertyList

extension ArchiveValue {
    /// The objects of a property-list value: arrays as NSArray, dictionaries as NSDictionary with sorted keys, null as
    /// NSNull. Nil for a UID, which has no meaning outside its own archive.
    public init?(propertyList value: PropertyListValue) {
        switch value {
        case .null: self = .null
        case .uid: return nil
        case .array(let elements):
            self = .collection(ArchivedCollection(.array, elements: elements.map { ArchiveValue(propertyList: $0) }))
        case .set(let elements):
            self = .collection(ArchivedCollection(.set, elements: elements.map { ArchiveValue(propertyList: $0) }))
        case .dictionary(let entries):
            let sorted = entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            self = .dictionary(
                ArchivedDictionary(
                    entries: sorted.map {
                        ArchivedDictionary.Entry(key: .string($0.key), value: ArchiveValue(propertyList: $0.value))
                    }))
        default:
            guard let leaf = ArchiveValue(leaf: value) else { return nil }
            self = leaf
        }
    }
}
