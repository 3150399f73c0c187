import ColumnEngine
import PropertyList

/// Which commits that waited for the server cannot follow what other hosts did meanwhile.
///
/// A commit is one as a whole, so that what belongs together happens together. Commits that build on one that cannot follow
/// cannot, either.
struct KeptConflicts {
    /// A commit, and why it cannot follow.
    struct Found {
        var commit: KeptCommit
        /// The other host's name.
        var host: String
        /// Whether the others did the same, so that there is nothing to settle.
        var isAgreement = false
        /// Items that it changed and the others removed.
        var removedItems: Set<String> = []
        /// Items that a later commit moved, which follows: they stay where that put them.
        var movedLater: Set<String> = []
    }

    /// What others did to an item.
    private struct Theirs {
        var host: String
        var isInserted = false
        var isRemoved = false
        var fields: [String: PropertyListValue?] = [:]
    }

    private enum Verdict { case follows, agrees, conflicts(host: String) }

    /// Oldest first.
    private(set) var found: [Found] = []
    private var theirs: [String: Theirs] = [:]
    /// By key, the fields that commits changed which cannot follow; nil for an item that came or left with one.
    private var doubtful: [String: Set<String>?] = [:]

    init(_ kept: [KeptCommit], _ commits: [RemoteCommit]) {
        for commit in commits { for change in commit.changes { note(change.change, commit.host) } }
        guard !theirs.isEmpty else { return }
        for commit in kept { judge(commit) }
        guard var index = found.indices.last else { return }
        var moved: Set<String> = []
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
        // Of two moves the later one counts.
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
            // Who takes the item out took it from there.
            case .move: doubtful[change.itemKey] = doubtful[change.itemKey, default: []]
            }
        }
    }

    /// Who changed what a serializable transaction read; nil when nobody did.
    private func overtakenRead(_ reads: ItemReads?) -> String? {
        switch reads {
        case nil: return nil
        case .whole: return theirs.first?.value.host ?? (doubtful.isEmpty ? nil : "")
        case .keys(let keys):
            for key in keys.lazy.map({ String(decoding: $0, as: UTF8.self) }) {
                if let change = theirs[key] { return change.host }
                // What it read of an earlier commit is taken back.
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
