/// The changes of one commit to a collection, with the models right after the commit.
public struct ItemCollectionChanges<Model: Codable & Sendable>: Sendable {
    /// The reason for the commit.
    public let cause: ItemStoreCommit.Cause
    /// New items, in order of insertion.
    public private(set) var inserted: [ItemEntry<Model>] = []
    /// Items with changed fields, each once.
    public private(set) var updated: [ItemEntry<Model>] = []
    /// The keys of removed items.
    public private(set) var removed: [String] = []
    /// Inserted and updated items that do not decode as models.
    public private(set) var problems: [ItemModelError] = []

    /// Whether nothing but the order of the items changed.
    public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && removed.isEmpty && problems.isEmpty }

    init(_ commit: ItemStoreCommit, _ collection: LocalItemCollection<Model>) {
        cause = commit.cause
        // An item's first and last change within the commit decide.
        var kinds: [String: (wasThere: Bool, isThere: Bool)] = [:]
        var keys: [String] = []
        for change in commit where change.kind != .move {
            if kinds[change.itemKey] == nil { keys.append(change.itemKey) }
            let wasThere = kinds[change.itemKey]?.wasThere ?? (change.kind != .insert)
            kinds[change.itemKey] = (wasThere, change.kind != .remove)
        }
        let reader = collection.reader()
        for key in keys {
            guard let (wasThere, isThere) = kinds[key] else { continue }
            guard isThere, let row = collection.row(key) else {
                if wasThere { removed.append(key) }
                continue
            }
            reader.row = row
            do throws(ItemModelError) {
                let entry = ItemEntry(key: key, model: try collection.coding.model(reader))
                if wasThere { updated.append(entry) } else { inserted.append(entry) }
            } catch {
                problems.append(error)
            }
        }
    }
}
