package import ColumnEngine
import Files

/// Follows the owner in read-only mode: its additions to the journal, and the new journal after a save.
extension ArchivePersistence: FollowingPersistence {
    package func takeOwnersCommits() throws(StoreError) -> [OwnersCommit]? {
        guard isReadOnly else { return [] }
        do {
            var commits: [OwnersCommit] = []
            if let tail { commits = try tail.commits(after: revision.rawValue) }
            if let last = commits.last { revision = last.revision }
            guard try layer.status(journalPath) != nil, try tail?.isInPlace(journalPath) != true else { return commits }
            // A new journal: the first one, or the one after a save.
            let next = try JournalTail(journalPath, using: layer)
            guard next.firstSequence <= revision.rawValue &+ 1 else { return nil }
            tail = next
            commits += try next.commits(after: revision.rawValue)
            if let last = commits.last { revision = last.revision }
            return commits
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.inputOutput, "\(error)", path: journalPath, cause: error)
        }
    }

    package func reopened() -> any FollowingPersistence {
        ArchivePersistence(
            folder: folder, using: layer, isReadOnly: true, className: schema.className, mappedFrom: mappedFrom)
    }

    package func goOn(from other: any FollowingPersistence) {
        guard let other = other as? ArchivePersistence else { return }
        (tail, revision) = (other.tail, other.revision)
    }
}
