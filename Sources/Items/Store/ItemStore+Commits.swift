import ColumnEngine

extension ItemStore {
    /// Adds a commit observer, retained until removed. It does not slow down changes.
    public func addCommitObserver(_ observer: any ItemCommitObserver) {
        commitObservers.append(observer)
    }

    /// Removes a commit observer.
    public func removeCommitObserver(_ observer: any ItemCommitObserver) {
        commitObservers.removeAll { $0 === observer }
    }

    /// Runs a body as a transaction. An outermost one is a separate commit, with a cause.
    func transaction<Result>(_ cause: ItemStoreCommit.Cause, _ body: () throws -> Result) throws -> Result {
        if isInTransaction { return try transaction(body) }
        return try tellingCommitsAtEnd {
            try commit()
            commitCause = cause
            defer { commitCause = .script }
            return try transaction(body)
        }
    }

    /// Runs a body and reports its commits at the end, so that work belonging to a commit can follow it.
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

    /// Records the log's changes, just committed, for ``tellCommits()``.
    func noteCommit(_ cause: ItemStoreCommit.Cause) {
        noteCommit(cause, columns.changes)
    }

    /// The same for changes outside of the log.
    func noteCommit(_ cause: ItemStoreCommit.Cause, _ changes: [Change], host: String? = nil) {
        commitCounter?(cause, ItemCommitTally(changes))
        guard !commitObservers.isEmpty else { return }
        let commit = ItemStoreCommit(columns, changes, cause, generation: commitGeneration(), host: host)
        untoldCommits.append(commit)
        latestCommit = commit
        isWatched = true
    }

    /// Reports the recorded commits in order, including those made meanwhile.
    func tellCommits() {
        guard !untoldCommits.isEmpty, !isTellingCommits, tellingDelays == 0 else { return }
        isTellingCommits = true
        defer { isTellingCommits = false }
        while !untoldCommits.isEmpty {
            let commit = untoldCommits.removeFirst()
            for observer in commitObservers { observer.itemStore(self, didCommit: commit) }
        }
    }

    /// Before the store changes, copies the latest commit's values if an observer holds the commit.
    @inline(never)
    func keepLatestCommit() {
        latestCommit?.keep()
        latestCommit = nil
        isWatched = !observers.isEmpty
    }
}
