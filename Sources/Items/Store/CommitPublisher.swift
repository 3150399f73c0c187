import ColumnEngine
public import PropertyList

/// A store's observers, and what they have not been told yet: changes of a bulk change, and commits.
///
/// It calls nobody itself: observers may change the store, and with it this value, while they are called.
struct CommitPublisher {
    private(set) var observers: [any ItemStoreObserver] = []
    private(set) var commitObservers: [any ItemCommitObserver] = []
    /// Whether changes need extra work: there are observers, or a commit refers to the values.
    private(set) var isWatched = false
    /// The cause of the next commit.
    var cause = ItemStoreCommit.Cause.script
    /// The number of preceding commits in the next commit's chain of reactions; called when it is made.
    var generation: () -> Int = { 0 }
    /// Called with the item counts of each commit.
    var counter: ((ItemStoreCommit.Cause, ItemCommitTally) -> Void)?

    /// Commits not yet published, oldest first.
    private var pendingCommits: [ItemStoreCommit] = []
    private var isPublishing = false
    /// The number of running bodies that delay publishing until their end.
    private var delays = 0
    /// The latest commit, while an observer retains it: until the next change its values are those of the store.
    private weak var latestCommit: ItemStoreCommit?
    private var bulkDepth = 0
    private var bulkChanges = ItemStoreChanges(.bulkChange, [])

    // MARK: Observers

    mutating func add(_ observer: any ItemStoreObserver) {
        observers.append(observer)
        isWatched = true
    }

    mutating func remove(_ observer: any ItemStoreObserver) {
        observers.removeAll { $0 === observer }
        isWatched = !observers.isEmpty || latestCommit != nil
    }

    mutating func add(_ observer: any ItemCommitObserver) { commitObservers.append(observer) }

    mutating func remove(_ observer: any ItemCommitObserver) { commitObservers.removeAll { $0 === observer } }

    // MARK: Bulk changes

    mutating func beginBulkChange() {
        if bulkDepth == 0 { bulkChanges = ItemStoreChanges(.bulkChange, []) }
        bulkDepth += 1
    }

    /// Ends a bulk change.
    ///
    /// - Returns: what is to be published after the outermost one.
    mutating func endBulkChange() -> ItemStoreChanges? {
        bulkDepth -= 1
        return bulkDepth == 0 ? bulkChanges : nil
    }

    /// Counts changes within a bulk change.
    ///
    /// - Returns: false outside of one: they are to be published now.
    @discardableResult
    mutating func collect(_ count: (inout ItemStoreChanges) -> Void) -> Bool {
        guard bulkDepth > 0 else { return false }
        count(&bulkChanges)
        return true
    }

    // MARK: Commits

    /// Queues a commit for publishing.
    mutating func queue(_ commit: ItemStoreCommit) {
        pendingCommits.append(commit)
        latestCommit = commit
        isWatched = true
    }

    /// The latest commit, whose values the store is about to change; nil if nobody has it.
    mutating func takeLatestCommit() -> ItemStoreCommit? {
        defer {
            latestCommit = nil
            isWatched = !observers.isEmpty
        }
        return latestCommit
    }

    mutating func delayPublishing() { delays += 1 }

    mutating func endDelay() { delays -= 1 }

    /// Begins to publish, unless there is nothing, or it is not the time.
    mutating func beginPublishing() -> Bool {
        guard !pendingCommits.isEmpty, !isPublishing, delays == 0 else { return false }
        isPublishing = true
        return true
    }

    /// The next commit to publish; ends publishing if there is none.
    mutating func next() -> ItemStoreCommit? {
        if pendingCommits.isEmpty {
            isPublishing = false
            return nil
        }
        return pendingCommits.removeFirst()
    }
}

/// Observers of changes.
extension ItemStore {
    /// Adds an observer of changes, retained until removed.
    public func addObserver(_ observer: any ItemStoreObserver) { publisher.add(observer) }

    /// Removes an observer.
    public func removeObserver(_ observer: any ItemStoreObserver) { publisher.remove(observer) }

    /// Runs a body and notifies observers of its changes once, by `didChangeMany`, at its end. The `will…` methods are
    /// called as usual. Bulk changes nest: the outermost one notifies.
    package func performBulkChange<Result>(_ body: () throws -> Result) rethrows -> Result {
        publisher.beginBulkChange()
        defer { if let changes = publisher.endBulkChange() { publishMany(changes) } }
        return try body()
    }

    /// Calls each observer in a separate savepoint: if one throws, its changes are rolled back, and the change is
    /// refused.
    func askObservers(_ ask: (any ItemStoreObserver) throws -> Void) throws(StoreError) {
        for observer in publisher.observers {
            do { try allOrNone { try ask(observer) } } catch {
                if let error = error as? StoreError, case .vetoed = error.code { throw error }
                let reason = "\(error)"
                throw StoreError(.vetoed(reason: reason), "the change was refused: \(reason)", cause: error)
            }
        }
    }

    func publishInserted(_ row: UInt32) {
        if publisher.collect({ $0.inserted += 1 }) { return }
        let item = item(row: row)
        for observer in publisher.observers { observer.itemStore(self, didInsert: item) }
    }

    func publishMany(_ changes: ItemStoreChanges) {
        guard !changes.isEmpty else { return }
        for observer in publisher.observers { observer.itemStore(self, didChangeMany: changes) }
    }
}

/// Observers of commits.
extension ItemStore {
    /// Adds a commit observer, retained until removed. It does not slow down changes.
    public func addCommitObserver(_ observer: any ItemCommitObserver) { publisher.add(observer) }

    /// Removes a commit observer.
    public func removeCommitObserver(_ observer: any ItemCommitObserver) { publisher.remove(observer) }

    /// Called with the item counts of each commit, for a prompt to show. Counting takes O(changes).
    package var commitCounter: ((ItemStoreCommit.Cause, ItemCommitTally) -> Void)? {
        get { publisher.counter }
        set { publisher.counter = newValue }
    }

    /// The number of preceding commits in the next commit's chain of reactions; called when it is made.
    package var commitGeneration: () -> Int {
        get { publisher.generation }
        set { publisher.generation = newValue }
    }

    /// Runs a body as a transaction. An outermost one is a separate commit, with a cause, and runs again as one with the
    /// isolation does.
    func transaction<Result>(
        _ cause: ItemStoreCommit.Cause, isolation: Isolation, _ body: () throws -> Result
    ) throws -> Result {
        if isInTransaction { return try transaction(body) }
        delayPublishing()
        defer { publishDelayed() }
        try commit()
        publisher.cause = cause
        defer { publisher.cause = .script }
        return try transaction(isolation: isolation, body)
    }

    /// Delays the reports of commits until ``publishDelayed()``, so that work belonging to a commit can follow it.
    package func delayPublishing() { publisher.delayPublishing() }

    package func publishDelayed() {
        publisher.endDelay()
        publishCommits()
    }

    /// Records changes, just committed, for ``publishCommits()``.
    func recordCommit(_ cause: ItemStoreCommit.Cause, _ changes: [Change], host: String? = nil) {
        publisher.counter?(cause, ItemCommitTally(changes))
        if publisher.commitObservers.isEmpty { return }
        publisher.queue(
            ItemStoreCommit(columns, changes, cause, generation: publisher.generation(), host: host))
    }

    /// Reports the recorded commits in order, including those made meanwhile.
    func publishCommits() {
        guard publisher.beginPublishing() else { return }
        while let commit = publisher.next() {
            for observer in publisher.commitObservers { observer.itemStore(self, didCommit: commit) }
        }
    }

    /// Before the store changes, copies the latest commit's values if an observer holds the commit.
    @inline(__always)
    func keepCommitBeforeChange() {
        if publisher.isWatched { keepLatestCommit() }
    }

    @inline(never)
    func keepLatestCommit() {
        publisher.takeLatestCommit()?.keep()
    }
}

/// An observer of a store's changes, called before and after each; it may refuse or rewrite a change.
///
/// A `will…` method that throws refuses the change: changes that it made itself are rolled back, and the change throws
/// `vetoed`. Within `performBulkChange` the `did…` methods of single changes are not called; `didChangeMany` is, once.
/// A change by undo, redo or a rollback is only reported by `didChangeMany`.
public protocol ItemStoreObserver: AnyObject {
    /// An item is about to be appended. Its fields can be read and set; it is not in the store yet.
    func itemStore(_ store: ItemStore, willInsert item: Item) throws
    /// An item was added.
    func itemStore(_ store: ItemStore, didInsert item: Item)
    /// A field is about to change. `new` may be rewritten; it is validated again.
    func itemStore(
        _ store: ItemStore, willUpdate item: Item, field: String, old: PropertyListValue?, new: inout PropertyListValue?
    ) throws
    /// A field of an item has changed.
    func itemStore(
        _ store: ItemStore, didUpdate item: Item, field: String, old: PropertyListValue?, new: PropertyListValue?)
    /// An item is about to be removed; throwing an error refuses the removal.
    func itemStore(_ store: ItemStore, willRemove item: Item) throws
    /// An item was removed: reading it throws, so its last fields are passed.
    func itemStore(_ store: ItemStore, didRemove item: Item, fields: ItemFields)
    /// Many items changed at once.
    func itemStore(_ store: ItemStore, didChangeMany changes: ItemStoreChanges)
}

extension ItemStoreObserver {
    public func itemStore(_ store: ItemStore, willInsert item: Item) throws {}
    public func itemStore(_ store: ItemStore, didInsert item: Item) {}
    public func itemStore(
        _ store: ItemStore, willUpdate item: Item, field: String, old: PropertyListValue?, new: inout PropertyListValue?
    ) throws {}
    public func itemStore(
        _ store: ItemStore, didUpdate item: Item, field: String, old: PropertyListValue?, new: PropertyListValue?
    ) {}
    public func itemStore(_ store: ItemStore, willRemove item: Item) throws {}
    public func itemStore(_ store: ItemStore, didRemove item: Item, fields: ItemFields) {}
    public func itemStore(_ store: ItemStore, didChangeMany changes: ItemStoreChanges) {}
}

/// An observer of committed changes.
///
/// An ``ItemStoreObserver`` is notified of every change immediately, including those of a dry run or of a transaction
/// that fails later. A commit observer is notified once per commit, in order, after the changes are in the journal. Use
/// a commit observer to maintain a copy elsewhere.
///
/// ```swift
/// final class Mirror: ItemCommitObserver {
///     func itemStore(_ store: ItemStore, didCommit commit: ItemStoreCommit) {
///         for change in commit where change.kind == .remove { forget(change.itemKey) }
///     }
/// }
/// store.addCommitObserver(mirror)
/// ```
public protocol ItemCommitObserver: AnyObject {
    /// Called when a commit is in the journal. Changes by the observer are part of the next commit, reported later.
    func itemStore(_ store: ItemStore, didCommit commit: ItemStoreCommit)
}

/// The counts of changes by a bulk change, an undo, a redo or a rollback.
public struct ItemStoreChanges: Sendable, Hashable {
    /// The cause of a bulk notification.
    package enum Cause: String, Sendable {
        /// One call changed them, such as an import.
        case bulkChange
        /// A step was undone.
        case undo
        /// A step was redone.
        case redo
        /// A transaction was rolled back.
        case rollback
    }

    /// The cause of the changes.
    package var cause: Cause
    /// The number of added items.
    public var inserted = 0
    /// The number of changed fields.
    public var updated = 0
    /// The number of removed items.
    public var removed = 0
    /// The number of moved items.
    package var moved = 0

    /// Whether nothing changed.
    package var isEmpty: Bool { inserted + updated + removed + moved == 0 }

    init(_ cause: Cause, _ changes: some Sequence<Change>) {
        self.cause = cause
        add(changes)
    }

    mutating func add(_ changes: some Sequence<Change>) {
        for change in changes {
            switch change.kind {
            case .append, .insert: inserted += change.rows.count
            case .remove: removed += 1
            case .set: updated += 1
            case .move: moved += 1
            case .declare: break
            }
        }
    }

    /// The counts of the inverse changes.
    var inverted: ItemStoreChanges {
        var inverted = self
        (inverted.inserted, inverted.removed) = (removed, inserted)
        return inverted
    }
}
