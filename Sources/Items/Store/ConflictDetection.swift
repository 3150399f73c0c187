import ColumnEngine
import PropertyList

/// Determines which waiting commits conflict with changes that other hosts made meanwhile.
///
/// A commit conflicts as a whole, so that related changes stay together. Commits that build on a conflicting one
/// conflict, too.
struct PendingConflicts {
    /// A commit that conflicts or agrees with the remote changes.
    struct Found {
        var commit: PendingCommit
        /// The other host's name.
        var host: String
        /// Whether other hosts made the same changes, so that there is nothing to resolve.
        var isAgreement = false
        /// Items changed by the commit and removed by other hosts.
        var removedItems: NameSet = []
        /// Items also moved by a later commit that does not conflict: they keep its position.
        var movedLater: NameSet = []
    }

    /// Remote changes to an item.
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
    /// The last remote declaration of fields.
    private var declared: (host: String, record: PropertyListValue?)?
    /// Whether a conflicting commit declares fields: each later declaration has its declarations, too.
    private var isDeclarationDoubtful = false
    /// What is declared, against the values of both sides; nil if nothing is.
    private var rules: PendingDeclarations?

    init(_ pending: [PendingCommit], _ commits: [RemoteCommit], _ columns: ColumnStore) {
        for commit in commits { for change in commit.changes { record(change.change, commit.host) } }
        guard !theirs.isEmpty || declared != nil else { return }
        rules = PendingDeclarations(pending, commits, columns)
        for commit in pending { judge(commit) }
        guard var index = found.indices.last else { return }
        var moved: NameSet = []
        for commit in pending.reversed() {
            if commit.identifier == found[index].commit.identifier {
                found[index].movedLater = moved
                if index == 0 { return }
                index -= 1
            } else {
                for change in commit.changes where change.change.kind == .move { moved.insert(change.change.itemKey) }
            }
        }
    }

    private mutating func record(_ change: ItemChange, _ host: String) {
        switch change.kind {
        case .declare:
            declared = (host, change.new)
            return
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

    private mutating func judge(_ commit: PendingCommit) {
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
        if let host = rules?.add(commit) {
            conflicts += 1
            if result.host.isEmpty { result.host = host }
        }
        guard conflicts + agreements > 0 else { return }
        rules?.removeLast()
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
            case .declare: isDeclarationDoubtful = true
            }
        }
    }

    /// The host that changed data read by a serializable transaction; nil if there is none.
    private func overtakenRead(_ reads: ItemReads?) -> String? {
        switch reads {
        case nil: return nil
        case .whole: return theirs.first?.value.host ?? declared?.host ?? (doubtful.isEmpty ? nil : "")
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
        if change.kind == .declare {
            guard let declared else { return isDeclarationDoubtful ? .conflicts(host: "") : .follows }
            return declared.record == change.new ? .agrees : .conflicts(host: declared.host)
        }
        if let fields = doubtful[change.itemKey] {
            switch change.kind {
            case .insert, .remove: return .conflicts(host: "")
            case .update where fields?.contains(change.field ?? "") ?? true: return .conflicts(host: "")
            case .move where fields == nil: return .conflicts(host: "")
            case .update, .move, .declare: break
            }
        }
        guard let theirs = theirs[change.itemKey] else { return .follows }
        switch change.kind {
        case .remove where theirs.isRemoved && !theirs.isInserted: return .agrees
        case .insert, .remove: return .conflicts(host: theirs.host)
        case .move: return theirs.isRemoved ? .conflicts(host: theirs.host) : .follows
        case .declare: return .follows
        case .update:
            if theirs.isRemoved || theirs.isInserted { return .conflicts(host: theirs.host) }
            guard let value = theirs.fields[change.field ?? ""], value != change.new else { return .follows }
            return .conflicts(host: theirs.host)
        }
    }
}

/// The subjects of the uncommitted changes.
struct LocalChanges {
    /// By key, the changed fields; nil for an inserted or removed item.
    private var fields: NameTable<NameSet?> = [:]
    /// Whether they declare fields.
    private var declares = false

    init(_ columns: ColumnStore) {
        for change in columns.changes {
            switch change.kind {
            case .append:
                for row in change.row..<change.row + UInt32(change.count) {
                    fields[columns.keyString(row)] = .some(nil)
                }
            case .insert, .remove: fields[columns.keyString(change.row)] = .some(nil)
            case .set:
                let key = columns.keyString(change.row)
                // Insertion and removal affect all fields.
                guard let known = fields[key, default: []] else { continue }
                fields[key] = known.union([columns.name(of: ItemField(rawValue: change.field))])
            case .move:
                if fields[columns.keyString(change.row)] == nil { fields[columns.keyString(change.row)] = .some([]) }
            case .declare: declares = true
            }
        }
    }

    /// Returns an error if these changes conflict with a commit of another host.
    func conflict(with commit: RemoteCommit, _ columns: ColumnStore) -> StoreError? {
        for change in commit.changes.lazy.map(\.change) {
            if change.kind == .declare, declares {
                return StoreError(
                    .conflict,
                    "fields were declared by \(commit.host), and here: these changes were rolled back; declare again what "
                        + "is still wanted (items:fields() shows what is declared now)")
            }
            guard let own = fields[change.itemKey] else { continue }
            let name = Self.name(change.itemKey, columns)
            guard let own else {
                return Self.conflict("\(name) was changed by \(commit.host), and came or left here")
            }
            switch change.kind {
            case .insert, .remove: return Self.conflict("\(name) was removed by \(commit.host)")
            // Of two moves, the later one wins.
            case .move, .declare: continue
            case .update:
                guard let field = change.field, own.contains(field) else { continue }
                var key = change.itemKey
                let row = key.withUTF8 { columns.row(forKey: $0) }
                if field == FieldTable.attachmentName {
                    if row.flatMap(columns.attachments) == change.new { continue }
                    return Self.conflict("the image of \(name) was changed by \(commit.host), and here")
                }
                let mine = row.flatMap { row in columns.existingField(named: field).flatMap { columns.value(row, $0) } }
                if mine == change.new { continue }
                return Self.conflict(
                    "\(field) of \(name) was set to \(Self.text(change.new)) by \(commit.host), and to \(Self.text(mine)) here"
                )
            }
        }
        return nil
    }

    private static func name(_ key: String, _ columns: ColumnStore) -> String {
        var bytes = key
        let name = bytes.withUTF8({ columns.row(forKey: $0) }).flatMap(columns.title) ?? ""
        return name.isEmpty ? "the item \(key)" : "the item \(key), \(name),"
    }

    private static func text(_ value: PropertyListValue?) -> String {
        value == nil ? "nothing" : FieldValidation.describe(value)
    }

    private static func conflict(_ what: String) -> StoreError {
        StoreError(.conflict, "\(what): these changes were rolled back; make them again on the items as they are now")
    }
}
