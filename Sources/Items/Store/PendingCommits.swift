import ColumnEngine
import PropertyList

/// Commits that are kept while the collection's server does not respond, and sent when it is back.
extension ItemStore {
    /// The number of commits that wait for the server. 0 in a store without one.
    public var waitingCommits: Int { remote?.keptCommits.count ?? 0 }

    /// Keeps the log's changes as a commit, to be sent when the server is back.
    func keep(in remote: any RemotePersistence, reads: ItemReads?) throws(StoreError) {
        let commit = ItemCommit(columns, columns.changes, following: revision)
        let changes = KeptChanges(of: columns.changes, count: commit.count, in: columns, isForPeople: false)
        let count = commit.count
        try remote.keep(commit, (0..<count).map { changes[$0] }, reads: reads, durable: durability == .power)
        isMerged = false
    }

    /// Applies the commits that others made meanwhile, and sends the waiting ones. Conflicting ones are rolled back,
    /// and kept to be resolved.
    func sendKeptCommits(_ remote: any RemotePersistence) throws(StoreError) {
        (isSendingCommit, isReadOnly) = (true, true)
        defer { (isSendingCommit, isReadOnly) = (false, remote.isReadOnly) }
        try remote.settleDoubts()
        while true {
            var commits: [RemoteCommit] = []
            while remote.mayHaveCommits(after: commits.last?.revision ?? revision) {
                let more = try remote.takeCommits(after: commits.last?.revision ?? revision)
                if more.isEmpty { break }
                commits += more
            }
            try takeBack(KeptConflicts(remote.keptCommits, commits).found, remote)
            for commit in commits { try apply(commit, from: remote) }
            try moveAgain(itemsMovedBy: commits, remote)
            guard case .committed(let newest) = try remote.sendKeptCommits(after: revision) else { continue }
            revision = newest
            attachments?.shared?.settle()
            return
        }
    }

    /// An item's fields, and the digests of its attachments.
    func keptValues(of item: Item) -> PropertyListFields { keptValues(of: item.row) }

    func keptValues(of row: UInt32) -> PropertyListFields {
        columns.dictionary(of: row, keepsAttachment: true, marksAbsent: true)
    }

    /// Repeats the moves of waiting commits: if an item was moved twice, the later commit, the waiting one, wins.
    private func moveAgain(
        itemsMovedBy commits: [RemoteCommit], _ remote: any RemotePersistence
    ) throws(StoreError) {
        let moved = Set(commits.flatMap(\.changes).lazy.filter { $0.change.kind == .move }.map(\.change.itemKey))
        if moved.isEmpty { return }
        let applied = try columns.apart { () throws(StoreError) in
            for change in remote.keptCommits.lazy.flatMap(\.changes)
            where change.change.kind == .move && moved.contains(change.change.itemKey) {
                // A later change may have removed the item.
                guard item(forKey: change.change.itemKey) != nil else { continue }
                try columns.perform(remote.placed(change.forward, among: []))
                remote.didApply(change.forward)
            }
        }
        if !applied.isEmpty { endApplying(applied) }
    }

    /// Rolls back conflicting commits, newest first.
    private func takeBack(
        _ found: [KeptConflicts.Found], _ remote: any RemotePersistence
    ) throws(StoreError) {
        if found.isEmpty { return }
        for conflict in found where !conflict.isAgreement {
            var lost: [String: PropertyListFields] = [:]
            for key in conflict.removedItems { lost[key] = item(forKey: key).map(keptValues) }
            try remote.setAside(conflict.commit, host: conflict.host, lost: lost)
        }
        try remote.endKeptCommits(found.filter(\.isAgreement).map(\.commit))
        keepCommitBeforeChange()
        let applied: [Change]
        do throws(StoreError) {
            applied = try columns.apart { () throws(StoreError) in
                for conflict in found.reversed() {
                    for change in conflict.commit.changes.reversed() {
                        if change.change.kind == .move, conflict.movedLater.contains(change.change.itemKey) { continue }
                        let inverse = change.inverse
                        try columns.perform(remote.placed(inverse, among: []))
                        remote.didApply(inverse)
                    }
                }
            }
        } catch {
            let reason = StoreError(
                .inputOutput,
                "the commits that others were ahead of cannot be taken back (\(error.message)): start again; they are kept",
                cause: error)
            remote.stop(reason)
            throw reason
        }
        guard !applied.isEmpty else { return }
        noteCommit(.remote, applied, host: found.last?.host)
        keepCommitBeforeChange()
        endApplying(applied)
    }
}

/// Determines which waiting commits conflict with changes that other hosts made meanwhile.
///
/// A commit conflicts as a whole, so that related changes stay together. Commits that build on a conflicting one
/// conflict, too.
struct KeptConflicts {
    /// A commit that conflicts or agrees with the others' changes.
    struct Found {
        var commit: KeptCommit
        /// The other host's name.
        var host: String
        /// Whether the others made the same changes, so that there is nothing to resolve.
        var isAgreement = false
        /// Items changed by the commit and removed by others.
        var removedItems: NameSet = []
        /// Items also moved by a later commit that does not conflict: they keep its position.
        var movedLater: NameSet = []
    }

    /// The others' changes to an item.
    private struct Theirs {
        var host: String
        var isInserted = false
        var isRemoved = false
        var fields: NameTable<PropertyListValue?> = [:]
    }

    private enum Verdict { case follows, agrees, conflicts(host: String) }

    /// Oldest first.
    private(set) var found: [Found] = []
    private var theirs: NameTable<Theirs> = [:]
    /// By key, the fields changed by conflicting commits; nil for an item that one inserted or removed.
    private var doubtful: NameTable<NameSet?> = [:]

    init(_ kept: [KeptCommit], _ commits: [RemoteCommit]) {
        for commit in commits { for change in commit.changes { note(change.change, commit.host) } }
        guard !theirs.isEmpty else { return }
        for commit in kept { judge(commit) }
        guard var index = found.indices.last else { return }
        var moved: NameSet = []
        for commit in kept.reversed() {
            if commit.identifier == found[index].commit.identifier {
                found[index].movedLater = moved
                if index == 0 { return }
                index -= 1
            } else {
                for change in commit.changes where change.change.kind == .move { moved.insert(change.change.itemKey) }
            }
        }
    }

    private mutating func note(_ change: ItemChange, _ host: String) {
        switch change.kind {
        case .insert: theirs[change.itemKey, default: Theirs(host: host)].isInserted = true
        case .remove: theirs[change.itemKey, default: Theirs(host: host)].isRemoved = true
        case .update:
            theirs[change.itemKey, default: Theirs(host: host)].fields.updateValue(
                change.new, forKey: change.field ?? "")
        // Of two moves, the later one wins.
        case .move: break
        }
        theirs[change.itemKey, default: Theirs(host: host)].host = host
    }

    private mutating func judge(_ commit: KeptCommit) {
        var result = Found(commit: commit, host: "")
        var (agreements, conflicts) = (0, 0)
        for change in commit.changes.lazy.map(\.change) {
            switch verdict(change) {
            case .follows: break
            case .agrees: agreements += 1
            case .conflicts(let host):
                conflicts += 1
                if result.host.isEmpty { result.host = host }
            }
            if theirs[change.itemKey]?.isRemoved == true { result.removedItems.insert(change.itemKey) }
        }
        if let host = overtakenRead(commit.reads) {
            conflicts += 1
            if result.host.isEmpty { result.host = host }
        }
        guard conflicts + agreements > 0 else { return }
        result.isAgreement = conflicts == 0 && agreements == commit.changes.count
        if result.host.isEmpty { result.host = result.removedItems.first.flatMap { theirs[$0]?.host } ?? "" }
        found.append(result)
        for change in commit.changes.lazy.map(\.change) {
            switch change.kind {
            case .insert, .remove: doubtful[change.itemKey] = .some(nil)
            case .update:
                guard let known = doubtful[change.itemKey, default: []] else { continue }
                doubtful[change.itemKey] = known.union([change.field ?? ""])
            // A later removal of the item depends on this position.
            case .move: doubtful[change.itemKey] = doubtful[change.itemKey, default: []]
            }
        }
    }

    /// The host that changed data read by a serializable transaction; nil if there is none.
    private func overtakenRead(_ reads: ItemReads?) -> String? {
        switch reads {
        case nil: return nil
        case .whole: return theirs.first?.value.host ?? (doubtful.isEmpty ? nil : "")
        case .keys(let keys):
            for key in keys.lazy.map({ String(decoding: $0, as: UTF8.self) }) {
                if let change = theirs[key] { return change.host }
                // An earlier commit whose result it read is rolled back.
                if doubtful[key] != nil { return "" }
            }
            return nil
        }
    }

    private func verdict(_ change: ItemChange) -> Verdict {
        if let fields = doubtful[change.itemKey] {
            switch change.kind {
            case .insert, .remove: return .conflicts(host: "")
            case .update where fields?.contains(change.field ?? "") ?? true: return .conflicts(host: "")
            case .move where fields == nil: return .conflicts(host: "")
            case .update, .move: break
            }
        }
        guard let theirs = theirs[change.itemKey] else { return .follows }
        switch change.kind {
        case .remove where theirs.isRemoved && !theirs.isInserted: return .agrees
        case .insert, .remove: return .conflicts(host: theirs.host)
        case .move: return theirs.isRemoved ? .conflicts(host: theirs.host) : .follows
        case .update:
            if theirs.isRemoved || theirs.isInserted { return .conflicts(host: theirs.host) }
            guard let value = theirs.fields[change.field ?? ""], value != change.new else { return .follows }
            return .conflicts(host: theirs.host)
        }
    }
}
