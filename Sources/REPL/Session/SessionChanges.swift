import Items
import PropertyList

/// The times of the last changes to items' fields during this session: an item does not store its own.
///
/// The number of times is limited. After a commit of many items, or after many commits, all are discarded: an outdated
/// time must not be shown.
final class SessionChanges: ItemCommitObserver {
    private static let limit = 1000

    private var dates: NameTable<PropertyListDate> = [:]

    func itemStore(_ store: ItemStore, didCommit commit: ItemStoreCommit) {
        guard commit.count <= Self.limit, dates.count <= Self.limit else { return dates.removeAll() }
        let milliseconds = (PropertyListDate.now().secondsSinceReferenceDate * 1000).rounded(.down)
        let now = PropertyListDate(secondsSinceReferenceDate: milliseconds / 1000)
        for change in commit where change.kind != .move { dates[change.itemKey] = now }
    }

    /// The time of an item's last change; nil if it is unknown.
    func date(of item: Item) -> PropertyListDate? { (try? item.itemKey).flatMap { dates[$0] } }
}
