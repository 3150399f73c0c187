import Items
import PropertyList
import Testing

/// A copy of a store's items that knows nothing but the commits it is told of.
final class ItemMirror: ItemCommitObserver {
    private(set) var items: [ItemFields]
    private(set) var causes: [ItemStoreCommit.Cause] = []
    /// The commits as they were told, and the changes that were read of them at once.
    private(set) var told: [(commit: ItemStoreCommit, changes: [ItemChange])] = []
    /// Whether a commit is read when it is told; else by ``readAll()``.
    private let readsAtOnce: Bool

    init(of store: ItemStore, readsAtOnce: Bool = true) {
        items = store.allItems.compactMap { try? $0.allFields }
        self.readsAtOnce = readsAtOnce
        store.addCommitObserver(self)
    }

    func itemStore(_ store: ItemStore, didCommit commit: ItemStoreCommit) {
        causes.append(commit.cause)
        #expect(!commit.isEmpty)
        guard readsAtOnce else { return told.append((commit, [])) }
        let changes = Array(commit)
        told.append((commit, changes))
        changes.forEach(apply)
    }

    /// Reads what was told before.
    func readAll() {
        for (commit, _) in told { commit.forEach(apply) }
        told = []
    }

    private func apply(_ change: ItemChange) {
        switch change.kind {
        case .insert:
            if let position = change.position, let fields = change.fields { items.insert(fields, at: position) }
        case .remove:
            guard let position = change.position, items.indices.contains(position) else {
                Issue.record("\(change) is nowhere")
                return
            }
            #expect(items.remove(at: position) == change.fields)
        case .move:
            if let from = change.formerPosition, let to = change.position {
                #expect(items[from].itemKey == change.itemKey)
                items.insert(items.remove(at: from), at: to)
            }
        case .update:
            guard let field = change.field, let index = items.firstIndex(where: { $0.itemKey == change.itemKey }) else {
                Issue.record("\(change) is of no item")
                return
            }
            #expect(items[index].value(field) == change.old)
            items[index].assign(change.new, field)
        case .declare: #expect(change.old != change.new)
        }
    }
}

extension ItemFields {
    fileprivate func value(_ field: String) -> PropertyListValue? {
        switch field {
        case "name": .string(name)
        case "serialNumber": serialNumber.map(PropertyListValue.string)
        case "valueInDollars": .integer(valueInDollars)
        case "dateCreated": dateCreated.map(PropertyListValue.date)
        default: custom[field]
        }
    }

    fileprivate mutating func assign(_ value: PropertyListValue?, _ field: String) {
        if let value {
            do { try set(value, forField: field) } catch { Issue.record("\(error)") }
        } else if field == "serialNumber" {
            serialNumber = nil
        } else {
            custom[field] = nil
        }
    }
}
