import ColumnEngine

extension ItemStore {
    /// Adds an observer of commits; kept until removed. Changes take no longer for it.
    public func addCommitObserver(_ observer: any ItemCommitObserver) {
        commitObservers.append(observer)
    }

    /// Removes a commit observer.
    public func removeCommitObserver(_ observer: any ItemCommitObserver) {
        commitObservers.removeAll { $0 === observer }
    }

    /// Runs a body as a transaction. The outermost one is a commit of its own, with a cause.
    func transaction<Result>(_ cause: ItemStoreCommit.Cause, _ body: () throws -> Result) throws -> Result {
        if isInTransaction { return try transaction(body) }
        return try tellingCommitsAtEnd {
            try commit()
            commitCause = cause
            defer { commitCause = .script }
            return try transaction(body)
        }
    }

    /// Runs a body, and tells of the commits that it makes at its end: for what belongs to a commit and follows it.
    package func tellingCommitsAtEnd<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        tellingDelays += 1
        defer {
            tellingDelays -= 1
            tellCommits()
        }
        return try body()
    }

    /// Notes the log's changes, which have just become a commit, to be told of by ``tellCommits()``.
    func noteCommit(_ cause: ItemStoreCommit.Cause) {
        noteCommit(cause, columns.changes)
    }

    /// The same for changes that are not the log's.
    func noteCommit(_ cause: ItemStoreCommit.Cause, _ changes: [Change], host: String? = nil) {
        commitCounter?(cause, ItemCommitTally(changes))
        guard !commitObservers.isEmpty else { return }
        let commit = ItemStoreCommit(columns, changes, cause, generation: commitGeneration(), host: host)
        untoldCommits.append(commit)
        latestCommit = commit
        isWatched = true
    }

    /// Tells of the commits that were noted, in order. What is committed meanwhile follows.
    func tellCommits() {
        guard !untoldCommits.isEmpty, !isTellingCommits, tellingDelays == 0 else { return }
        isTellingCommits = true
        defer { isTellingCommits = false }
        while !untoldCommits.isEmpty {
            let commit = untoldCommits.removeFirst()
            for observer in commitObservers { observer.itemStore(self, didCommit: commit) }
        }
    }

    /// Has the latest commit copy the values that it refers to, when an observer holds it: the store is about to change.
    @inline(never)
    func keepLatestCommit() {
        latestCommit?.keep()
        latestCommit = nil
        isWatched = !observers.isEmpty
    }
}
