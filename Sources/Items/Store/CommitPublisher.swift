import ColumnEngine

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
        guard bulkDepth > 0 else { return nil }
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
        beginBulkChange()
        defer { endBulkChange() }
        return try body()
    }

    /// Begins a bulk change; end it with ``endBulkChange()``.
    package func beginBulkChange() { publisher.beginBulkChange() }

    /// Ends a bulk change, and notifies observers after the outermost one.
    package func endBulkChange() {
        if let changes = publisher.endBulkChange() { publishMany(changes) }
    }

    /// Calls each observer in a separate savepoint: if one throws, its changes are rolled back, and the change is
    /// refused.
    func askObservers(_ ask: (any ItemStoreObserver) throws -> Void) throws(StoreError) {
        for observer in publisher.observers {
            openSavepoint()
            do {
                try ask(observer)
                closeSavepoint()
            } catch {
                rollBackSavepoint()
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

    /// Runs a body as a transaction. An outermost one is a separate commit, with a cause.
    func transaction<Result>(_ cause: ItemStoreCommit.Cause, _ body: () throws -> Result) throws -> Result {
        if isInTransaction { return try transaction(body) }
        delayPublishing()
        defer { publishDelayed() }
        try commit()
        publisher.cause = cause
        defer { publisher.cause = .script }
        return try transaction(body)
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
