import ColumnEngine

/// The changes of one commit, oldest first, as reported to ``ItemCommitObserver``.
///
/// An immutable collection of `ItemChange`, whose elements are made on access. The store's values are copied when the
/// first element is read, or when the store changes while the commit is still retained: O(changes), once. A commit that
/// is released unread costs nothing. The store's thread owns it.
public final class ItemStoreCommit {
    /// The cause of a commit; the raw value is the name for scripts.
    public enum Cause: String, Sendable, CaseIterable {
        /// Code changed items.
        case script
        /// `undo` reverted a commit.
        case undo
        /// `redo` repeated a commit.
        case redo
        /// Items were imported from a file.
        case `import`
        /// Another user of a shared collection changed items.
        case remote
    }

    /// The cause of the changes.
    public let cause: Cause
    /// The name of the committing host; nil for this one.
    public let host: String?
    /// The number of changes.
    public private(set) lazy var count = changes.reduce(0) { $0 + ($1.kind == .append ? $1.count : 1) }
    /// The number of preceding commits in a chain in which each commit reacts to the one before it.
    package let generation: Int

    private var changes: [Change]
    /// The source of the values; nil once they are copied.
    private var store: ColumnStore?
    private var kept = KeptChanges()

    init(_ store: ColumnStore, _ changes: [Change], _ cause: Cause, generation: Int, host: String? = nil) {
        self.store = store
        self.changes = changes
        self.cause = cause
        self.generation = generation
        self.host = host
    }

    /// Copies the values that the changes refer to, before the store changes them.
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

    /// The change at a position counted from 0.
    public subscript(position: Int) -> ItemChange {
        precondition(position >= 0 && position < count, "a commit of \(count) changes has no change \(position)")
        keep()
        return kept[position]
    }
}
