import ColumnEngine

/// The changes of one commit, oldest first: what ``ItemCommitObserver`` is told.
///
/// A collection of `ItemChange` that stays as it is for as long as it is held. Each element is made when it is read.
/// The store's values are copied when the first element is read, or when the store changes while the commit is still
/// held: O(changes), once. A commit that is dropped unread costs nothing. The store's thread owns it.
public final class ItemStoreCommit {
    /// Why a commit was made; the raw value is the name for scripts.
    public enum Cause: String, Sendable, CaseIterable {
        /// Code changed items.
        case script
        /// `undo` took a commit back.
        case undo
        /// `redo` made a commit again.
        case redo
        /// Items came from a file.
        case `import`
        /// Items came from another user of a shared collection.
        case remote
    }

    /// Why the items changed.
    public let cause: Cause
    /// The name of the host that made it; nil for this one.
    public let host: String?
    /// The number of changes.
    public private(set) lazy var count = changes.reduce(0) { $0 + ($1.kind == .append ? $1.count : 1) }
    /// How many commits came before in a chain of which each was made in answer to the one before it.
    package let generation: Int

    private var changes: [Change]
    /// Where the values are; nil when they are copied.
    private var store: ColumnStore?
    private var kept = KeptChanges()

    init(_ store: ColumnStore, _ changes: [Change], _ cause: Cause, generation: Int, host: String? = nil) {
        self.store = store
        self.changes = changes
        self.cause = cause
        self.generation = generation
        self.host = host
    }

    /// Copies the values that the changes refer to, before the store has others.
    func keep() {
        guard let store else { return }
        kept = KeptChanges(of: changes, count: count, in: store)
        self.store = nil
        changes = []
    }
}

extension ItemStoreCommit: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { count }

    /// The change at a position from 0.
    public subscript(position: Int) -> ItemChange {
        precondition(position >= 0 && position < count, "a commit of \(count) changes has no change \(position)")
        keep()
        return kept[position]
    }
}
