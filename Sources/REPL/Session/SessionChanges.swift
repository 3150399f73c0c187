import Items
import PropertyList

/// When fields of the items were last changed, as far as this session has seen it: an item has no such field.
///
/// Few are remembered. After a commit of many items, or after many commits, nothing is known of any item: a time that is
/// no longer the last must not be shown.
final class SessionChanges: ItemCommitObserver {
    private static let limit = 1000

    private var dates: [String: PropertyListDate] = [:]

    func itemStore(_ store: ItemStore, didCommit commit: ItemStoreCommit) {
        guard commit.count <= Self.limit, dates.count <= Self.limit else { return dates.removeAll() }
        let now = PropertyListDate.now()
        for change in commit where change.kind != .move { dates[change.itemKey] = now }
    }

    /// When an item was last changed; nil where that is not known.
    func date(of item: Item) -> PropertyListDate? { (try? item.itemKey).flatMap { dates[$0] } }
}
