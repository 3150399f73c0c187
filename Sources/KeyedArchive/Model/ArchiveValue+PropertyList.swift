public import PropertyList

extension ArchiveValue {
    /// Converts a property-list value: an array to NSArray, a dictionary to NSDictionary with sorted keys, null to
    /// NSNull. Nil for a UID, which has no meaning outside its archive.
    public init?(propertyList value: PropertyListValue) {
        switch value {
        case .null: self = .null
        case .uid: return nil
        case .array(let elements):
            self = .collection(ArchivedCollection(.array, elements: elements.map { ArchiveValue(propertyList: $0) }))
        case .set(let elements):
            self = .collection(ArchivedCollection(.set, elements: elements.map { ArchiveValue(propertyList: $0) }))
        case .dictionary(let entries):
            self = .dictionary(
                ArchivedDictionary(
                    entries: entries.sortedEntries.map {
                        ArchivedDictionary.Entry(
                            key: ArchiveValue(propertyList: $0.key), value: ArchiveValue(propertyList: $0.value))
                    }))
        default:
            guard let leaf = ArchiveValue(leaf: value) else { return nil }
            self = leaf
        }
    }
}
