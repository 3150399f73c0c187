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
        /// The fields of an item that they inserted.
        var values: PropertyListFields?
        var isRemoved = false
        var fields: NameTable<PropertyListValue?> = [:]
    }

    private enum Verdict { case follows, agrees, conflicts(host: String) }

    /// Oldest first.
    private(set) var found: [Found] = []
    private var theirs: NameTable<Theirs> = [:]
    /// By key, the fields changed by conflicting commits; nil for an item that one inserted or removed.
    private var doubtful: NameTable<NameSet?> = [:]
    /// By key, those of these fields that were assigned, and not only incremented.
    private var assigned: NameTable<NameSet> = [:]
    /// The last remote declaration of fields.
    private var declared: (host: String, record: PropertyListValue?)?
    /// Whether a conflicting commit declares fields: each later declaration has its declarations, too.
    private var isDeclarationDoubtful = false
    /// What is declared, against the values of both sides; nil if nothing is.
    private var rules: PendingDeclarations?
    /// What the increments of the waiting commits come to on the numbers of both sides; nil if there are none.
    private var increments: RepeatedIncrements?

    /// - Parameters:
    ///   - pending: the waiting commits, oldest first.
    ///   - commits: the remote ones.
    ///   - columns: the items with the waiting commits.
    ///   - denial: why the server refused the first waiting commit; nil if it did not.
    init(_ pending: [PendingCommit], _ commits: [RemoteCommit], _ columns: ColumnStore, denial: String? = nil) {
        for commit in commits { for change in commit.changes { record(change.change, commit.host) } }
        guard !theirs.isEmpty || declared != nil || denial != nil else { return }
        rules = PendingDeclarations(pending, commits, columns)
        let numbers = PendingIncrements(pending)
        if !numbers.isEmpty { increments = RepeatedIncrements(numbers, pending, after: commits, in: columns) }
        for (place, commit) in pending.enumerated() { judge(commit, place == 0 ? denial : nil) }
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
        if change.kind == .declare {
            declared = (host, change.new)
            return
        }
        theirs[change.itemKey, default: Theirs(host: host)].host = host
        switch change.kind {
        case .insert:
            theirs[change.itemKey]?.isInserted = true
            theirs[change.itemKey]?.values = change.values
        case .remove: theirs[change.itemKey]?.isRemoved = true
        case .update:
            theirs[change.itemKey]?.fields.updateValue(change.new, forKey: change.field ?? "")
            theirs[change.itemKey]?.values?[change.field ?? ""] = change.new
        // Of two moves, the later one wins.
        case .move, .declare: break
        }
    }

    private mutating func judge(_ commit: PendingCommit, _ denial: String?) {
        var result = Found(commit: commit, host: "")
        result.commit.denial = denial
        var (agreements, conflicts) = (0, denial == nil ? 0 : 1)
        func conflict(with host: String) {
            conflicts += 1
            if result.host.isEmpty { result.host = host }
        }
        for change in commit.changes.lazy.map(\.change) {
            switch verdict(change) {
            case .follows: break
            case .agrees: agreements += 1
            case .conflicts(let host): conflict(with: host)
            }
            if theirs[change.itemKey]?.isRemoved == true { result.removedItems.insert(change.itemKey) }
        }
        if let host = overtakenRead(commit.reads) { conflict(with: host) }
        var repeated = commit
        do throws(StoreError) { try increments?.add(&repeated) } catch {
            conflict(with: hostBeforeIncrements(of: commit))
            repeated = commit
        }
        if let host = rules?.add(repeated) { conflict(with: host) }
        guard conflicts + agreements > 0 else { return }
        rules?.removeLast()
        increments?.removeLast()
        result.isAgreement = conflicts == 0 && agreements == commit.changes.count
        if result.host.isEmpty { result.host = result.removedItems.first.flatMap { theirs[$0]?.host } ?? "" }
        found.append(result)
        for change in commit.changes.lazy.map(\.change) {
            switch change.kind {
            case .insert, .remove: doubtful[change.itemKey] = .some(nil)
            case .update:
                guard let known = doubtful[change.itemKey, default: []] else { continue }
                doubtful[change.itemKey] = known.union([change.field ?? ""])
                if change.increment == nil { assigned[change.itemKey, default: []].insert(change.field ?? "") }
            // A later removal of the item depends on this position.
            case .move: doubtful[change.itemKey] = doubtful[change.itemKey, default: []]
            case .declare: isDeclarationDoubtful = true
            }
        }
    }

    /// The host whose changes an increment cannot follow; empty if it is not known.
    private func hostBeforeIncrements(of commit: PendingCommit) -> String {
        for change in commit.changes.lazy.map(\.change) where change.increment != nil {
            if let theirs = theirs[change.itemKey] { return theirs.host }
        }
        return declared?.host ?? ""
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
            case .update where fields == nil: return .conflicts(host: "")
            case .update where change.increment != nil:
                if assigned[change.itemKey]?.contains(change.field ?? "") ?? false { return .conflicts(host: "") }
            case .update where fields?.contains(change.field ?? "") ?? true: return .conflicts(host: "")
            case .move where fields == nil: return .conflicts(host: "")
            case .update, .move, .declare: break
            }
        }
        guard let theirs = theirs[change.itemKey] else { return .follows }
        switch change.kind {
        case .remove where theirs.isRemoved && !theirs.isInserted: return .agrees
        case .insert where theirs.isInserted && !theirs.isRemoved && theirs.values == change.values: return .agrees
        case .insert, .remove: return .conflicts(host: theirs.host)
        case .move: return theirs.isRemoved ? .conflicts(host: theirs.host) : .follows
        case .declare: return .follows
        case .update:
            if theirs.isRemoved || theirs.isInserted { return .conflicts(host: theirs.host) }
            guard let field = change.field, let value = theirs.fields[field] else { return .follows }
            if change.increment != nil {
                return Increment.isPossible(on: value) ? .follows : .conflicts(host: theirs.host)
            }
            return Agreement.isPossible(value, change.new, of: field) ? .agrees : .conflicts(host: theirs.host)
        }
    }
}

/// Whether two hosts that gave a field the same value meant the same.
enum Agreement {
    /// Texts, truth values, dates and pictures are stated: both hosts said the same. Numbers and lists may be counted: two
    /// hosts that add 1 to the same number are two increments, of which one would be lost.
    static func isPossible(_ theirs: PropertyListValue?, _ mine: PropertyListValue?, of field: String) -> Bool {
        guard theirs == mine else { return false }
        if field == FieldTable.attachmentName { return true }
        switch mine {
        case nil, .null, .boolean, .string, .utf16, .date: return true
        default: return false
        }
    }
}

/// The subjects of the uncommitted changes.
struct LocalChanges {
    /// A change of another host to a field that is changed here as well.
    private struct Meeting {
        var key: String
        var field: String
        var value: PropertyListValue?
        var host: String
    }

    /// By key, the changed fields, and whether each was only incremented; nil for an inserted or removed item.
    private var fields: NameTable<NameTable<Bool>?> = [:]
    /// Whether they declare fields.
    private var declares = false
    /// Whether they are more than new values: they move, insert or remove items.
    private var isMore = false

    init(_ columns: ColumnStore) {
        for change in columns.changes {
            switch change.kind {
            case .append, .insert, .remove:
                for row in change.rows { fields[columns.keyString(row)] = .some(nil) }
                isMore = true
            case .set:
                let key = columns.keyString(change.row)
                // Insertion and removal affect all fields.
                guard var known = fields[key, default: [:]] else { continue }
                let name = columns.name(of: ItemField(rawValue: change.field))
                known[name] = columns.increment(of: change) != nil && known[name] ?? true
                fields[key] = known
            case .move:
                if fields[columns.keyString(change.row)] == nil { fields[columns.keyString(change.row)] = .some([:]) }
                isMore = true
            case .declare: declares = true
            }
        }
    }

    /// Returns an error if these changes conflict with commits of other hosts.
    ///
    /// A field that both gave the same value is no conflict if the others did all of what these changes do.
    func conflict(with commits: [RemoteCommit], _ columns: ColumnStore) -> StoreError? {
        var meetings: [Meeting] = []
        for commit in commits {
            for change in commit.changes.lazy.map(\.change) {
                if change.kind == .declare, declares {
                    return StoreError(
                        .conflict,
                        "fields were declared by \(commit.host), and here: these changes were rolled back; declare again "
                            + "what is still wanted (items:fields() shows what is declared now)")
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
                    guard let field = change.field, let isIncrement = own[field] else { continue }
                    if isIncrement, Increment.isPossible(on: change.new) { continue }
                    if field == FieldTable.attachmentName, isPicture(change.new, of: change.itemKey, columns) {
                        continue
                    }
                    // The last value counts.
                    meetings.removeAll { $0.key == change.itemKey && $0.field == field }
                    meetings.append(Meeting(key: change.itemKey, field: field, value: change.new, host: commit.host))
                }
            }
        }
        let other = meetings.first { !Agreement.isPossible($0.value, mine($0, columns), of: $0.field) }
        if let other { return conflict(other, columns) }
        let count = fields.values.reduce(0) { $0 + ($1?.count ?? 0) }
        if meetings.isEmpty || meetings.count == count && !isMore && !declares { return nil }
        return conflict(meetings[0], columns)
    }

    /// Whether an item has these pictures already: the same bytes, whoever has set them.
    private func isPicture(_ value: PropertyListValue?, of key: String, _ columns: ColumnStore) -> Bool {
        columns.row(ofKey: key).map { columns.attachments($0) == value } ?? false
    }

    /// The field's value here.
    private func mine(_ meeting: Meeting, _ columns: ColumnStore) -> PropertyListValue? {
        guard let row = columns.row(ofKey: meeting.key) else { return nil }
        if meeting.field == FieldTable.attachmentName { return columns.attachments(row) }
        return columns.existingField(named: meeting.field).flatMap { columns.value(row, $0) }
    }

    private func conflict(_ meeting: Meeting, _ columns: ColumnStore) -> StoreError {
        let (name, mine) = (Self.name(meeting.key, columns), mine(meeting, columns))
        if meeting.field == FieldTable.attachmentName {
            return Self.conflict("the image of \(name) was changed by \(meeting.host), and here")
        }
        let also = mine == meeting.value ? ", too" : ""
        let texts = ComparedValues.texts([meeting.value, mine])
        return Self.conflict(
            "\(meeting.field) of \(name) was set to \(texts[0]) by \(meeting.host), and to \(texts[1]) here\(also)")
    }

    private static func name(_ key: String, _ columns: ColumnStore) -> String {
        let name = columns.row(ofKey: key).flatMap(columns.title) ?? ""
        return name.isEmpty ? "the item \(key)" : "the item \(key), \(name),"
    }

    private static func conflict(_ what: String) -> StoreError {
        StoreError(.conflict, "\(what): these changes were rolled back; make them again on the items as they are now")
    }
}
