public import ColumnEngine
package import PropertyList

/// A commit of this host, made while the server did not respond, that conflicts with another host's changes.
///
/// The items contain none of its changes. It is kept until it is resolved, by ``ItemStore/keepMine(_:)`` or
/// ``ItemStore/keepTheirs(_:)``.
public struct ItemConflict: Sendable, Hashable {
    /// The commit's change to one field of an item, or to an item as a whole.
    package struct Change: Sendable, Hashable {
        /// The kind of this host's change.
        package var kind: ItemChange.Kind
        /// The item's key.
        package var itemKey: String
        /// The item's name after the commit.
        package var name: String
        /// The field; nil for an inserted, removed or moved item. `$image` is the SHA-256 of its picture.
        package var field: String?
        /// The field's name for people.
        package var shownField: String? { field.map { FieldTable.shownName(of: $0) } }
        /// The value before the commit: of a field, or all fields of an item that it removed.
        package var base: PropertyListValue?
        /// The commit's value: of a field, or all fields of a new item.
        package var mine: PropertyListValue?
        /// The amount by which the commit incremented the field; nil if it assigned the value.
        package var increment: PropertyListValue?
        /// The current value: of the field, or all fields; nil for none.
        package var theirs: PropertyListValue?
        /// Whether the item currently exists.
        package var isPresent: Bool
        /// Why the commit's values do not hold what is declared now, for people; nil if they do.
        package var problem: String?

        /// Whether the current value is neither the one before the commit nor the commit's, or the item is missing.
        package var isConflicting: Bool {
            if problem != nil { return true }
            if increment != nil { return !isPresent || !Increment.isPossible(on: theirs) }
            return kind == .move ? !isPresent : theirs != base && theirs != mine || field != nil && !isPresent
        }
    }

    /// Identifies the conflict across runs.
    package let identifier: [UInt8]
    /// The date of the commit.
    package let date: PropertyListDate
    /// The name of the other host; empty if unknown.
    package let host: String
    /// The commit's changes, one per field, conflicting ones first.
    package let changes: [Change]
}

extension ItemConflict {
    init(_ commit: PendingCommit, _ store: ItemStore) {
        (identifier, date, host) = (commit.identifier, commit.date, commit.host)
        var changes: [Change] = []
        for change in commit.changes.lazy.map(\.change) {
            let same = changes.firstIndex { $0.itemKey == change.itemKey && $0.field == change.field }
            if let same, change.kind == .update {
                changes[same].increment = Increment.total(changes[same].increment, change.increment)
                changes[same].mine = change.new
                continue
            }
            // A field of an item that the commit inserted is part of the insertion.
            if change.kind == .update,
                let whole = changes.firstIndex(where: { $0.itemKey == change.itemKey && $0.kind == .insert }),
                var values = changes[whole].mine?.fields
            {
                values[change.field ?? ""] = change.new
                changes[whole].mine = .fields(values)
                continue
            }
            changes.append(Self.change(change, store))
        }
        for place in changes.indices { changes[place].problem = Self.problem(changes[place], store) }
        // A stable order: the conflicting ones first.
        self.changes = changes.filter(\.isConflicting) + changes.filter { !$0.isConflicting }
    }

    private static func problem(_ change: Change, _ store: ItemStore) -> String? {
        let columns = store.columns
        switch change.kind {
        case .update: return columns.problem(change.mine, ofField: change.field ?? "", itemKey: change.itemKey)
        case .insert:
            let values = change.mine?.fields
            return store.declarations.all.lazy.compactMap { declaration in
                columns.problem(values?[declaration.name], ofField: declaration.name, itemKey: change.itemKey)
            }.first
        case .remove, .move, .declare: return nil
        }
    }

    private static func change(_ change: ItemChange, _ store: ItemStore) -> Change {
        let item = store.item(forKey: change.itemKey)
        let values = item.map { store.columns.storedValues(of: $0.row) }
        let all = values.map { PropertyListValue.fields($0) }
        var result = Change(
            kind: change.kind, itemKey: change.itemKey, name: change.name, field: change.field,
            isPresent: item != nil)
        switch change.kind {
        case .update:
            (result.base, result.mine, result.increment) = (change.old, change.new, change.increment)
            result.theirs = values?[change.field ?? ""]
        case .insert: (result.mine, result.theirs) = (change.values.map { .fields($0) }, all)
        case .remove: (result.base, result.theirs) = (change.values.map { .fields($0) }, all)
        case .declare:
            (result.base, result.mine, result.theirs) = (change.old, change.new, store.declarations.record)
            result.isPresent = true
        case .move: break
        }
        return result
    }
}

extension ItemConflict: CustomStringConvertible {
    /// A description for people: date and other host, followed by the values side by side.
    public var description: String { lines.joined(separator: "\n") }

    private var lines: [String] {
        let other = host.isEmpty ? "what the collection is now" : VisibleText.line(host)
        let head = "the commit of \(date.text) did not follow \(other)"
        var rows = [["item", "field", "mine", "theirs", "base"]]
        for change in changes { rows += Self.rows(of: change) }
        let widths = (0..<5).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return [head]
            + rows.map { row in
                let cells = zip(row, widths).map { $0.padded(to: $1) }
                return "  " + Self.trimmed(cells.joined(separator: "  "))
            } + changes.compactMap { $0.problem.map { "  " + VisibleText.line($0) } }
    }

    /// A change as a row; an inserted or removed item has one per field whose values differ.
    private static func rows(of change: Change) -> [[String]] {
        let item = label(change)
        switch change.kind {
        case .update:
            return [
                [
                    item, change.shownField ?? "", mine(change),
                    change.isPresent ? text(change.theirs) : "(removed)", text(change.base),
                ]
            ]
        case .insert: return [[item, "", "(new)", change.isPresent ? "(new, too)" : "", ""]]
        case .remove: return [[item, "", "(removed)", change.isPresent ? "(changed)" : "(removed)", ""]]
        case .declare: return declarationRows(of: change)
        case .move: return [[item, "", "(moved)", change.isPresent ? "" : "(removed)", ""]]
        }
    }

    /// The commit's value of a field, or `+5` for an increment.
    private static func mine(_ change: Change) -> String {
        guard let amount = change.increment else { return text(change.mine) }
        let shown = text(amount)
        return shown.hasPrefix("-") ? shown : "+" + shown
    }

    /// A row for each field about which the commit declares something else.
    private static func declarationRows(of change: Change) -> [[String]] {
        func declared(_ record: PropertyListValue?) -> FieldDeclarations {
            (try? FieldDeclarations(record: record)) ?? FieldDeclarations()
        }
        let (mine, theirs, base) = (declared(change.mine), declared(change.theirs), declared(change.base))
        func text(_ declarations: FieldDeclarations, _ name: String) -> String {
            VisibleText.line(declarations[name]?.constraints ?? "(free)")
        }
        let fields = mine.names(differingFrom: base).map { name in
            ["(declared)", VisibleText.line(name), text(mine, name), text(theirs, name), text(base, name)]
        }
        let steps = mine.steps.filter { !base.steps.contains($0) }.map { step in
            ["(migration)", VisibleText.line(step), "run", theirs.steps.contains(step) ? "run" : "", ""]
        }
        return fields + steps
    }

    private static func label(_ change: Change) -> String {
        let key = change.itemKey.count > 12 ? change.itemKey.prefix(8) + "…" : change.itemKey[...]
        return VisibleText.line(change.name.isEmpty ? "\(key)" : "\(key) \(change.name.prefix(24))")
    }

    private static func text(_ value: PropertyListValue?) -> String {
        VisibleText.line(value == nil ? "nothing" : FieldValidation.describe(value))
    }

    private static func trimmed(_ line: String) -> String {
        var line = line
        while line.hasSuffix(" ") { line.removeLast() }
        return line
    }
}

/// Resolution of commits that conflict with other hosts' changes: see ``ItemConflict``.
extension ItemStore {
    /// The unresolved commits, oldest first, compared with the current items.
    public var conflicts: [ItemConflict] { replica.conflicts.map { ItemConflict($0, self) } }

    /// Repeats a commit over the changes of other hosts, as a new commit.
    ///
    /// - Throws: `StoreError`, as a transaction does; the conflict is then kept.
    public func keepMine(_ conflict: ItemConflict) throws(StoreError) { try resolve(conflict, [:]) }

    /// Leaves the items unchanged, and discards the commit.
    ///
    /// - Throws: `StoreError` with `itemRemoved` if it is already resolved.
    public func keepTheirs(_ conflict: ItemConflict) throws(StoreError) {
        try checkNoTransaction("settling a conflict")
        try replica.end(try pendingCommit(conflict))
    }

    /// Repeats a commit with other values for some fields.
    ///
    /// - Parameters:
    ///   - conflict: discarded afterwards.
    ///   - values: by item key, values by field name that replace the commit's.
    /// - Throws: `StoreError`, as a transaction does; the conflict is then kept.
    package func resolve(
        _ conflict: ItemConflict, _ values: [String: PropertyListFields]
    ) throws(StoreError) {
        try checkNoTransaction("settling a conflict")
        let commit = try pendingCommit(conflict)
        try change { () throws(StoreError) in
            for change in conflict.changes { try redo(change, commit, values[change.itemKey] ?? [:]) }
            for (key, fields) in values {
                guard let item = item(forKey: key) else {
                    throw StoreError(.itemRemoved, "no item has the itemKey \(key), which is to get the values")
                }
                for (field, value) in fields { try item.setValue(value, forField: field) }
            }
        }
        try replica.end(commit)
    }

    /// Repeats one change of a commit on the current items.
    ///
    /// - Parameters:
    ///   - change: the change.
    ///   - commit: its commit.
    ///   - replacements: by field, the values that take the place of the commit's.
    /// - Throws: `StoreError` for values that are not possible any more.
    private func redo(
        _ change: ItemConflict.Change, _ commit: PendingCommit, _ replacements: PropertyListFields
    ) throws(StoreError) {
        let present = item(forKey: change.itemKey)
        switch change.kind {
        case .remove: try present?.remove()
        case .insert:
            guard var values = change.mine?.fields else { return }
            for (field, value) in replacements where field != "itemKey" { values[field] = value }
            guard let present else { return try insert(values) }
            for (field, value) in values where field != "itemKey" { try set(present, field, value) }
        case .update:
            // Another value for it is set later: the commit's may not be possible any more.
            if present != nil, replacements[change.field ?? ""] != nil { return }
            if let present, let amount = change.increment {
                try increment(change.field ?? "", of: present.reference, by: amount)
                return
            }
            if let present { return try set(present, change.field ?? "", change.mine) }
            // Another host removed it: restore it as it was here, if known.
            if let values = commit.lostItems[change.itemKey] { try insert(values) }
            guard let item = item(forKey: change.itemKey) else {
                throw StoreError(
                    .itemRemoved,
                    "the item \(change.itemKey) was removed by another host: keep theirs, or create it anew")
            }
            try set(item, change.field ?? "", change.mine)
        case .declare:
            let (mine, base) = (try FieldDeclarations(record: change.mine), try FieldDeclarations(record: change.base))
            let names = mine.names(differingFrom: base)
            try StoreError.answering {
                try declare(
                    names.compactMap { mine[$0] },
                    freeing: names.filter { mine[$0] == nil && declarations[$0] != nil })
            }
            for step in mine.steps where !base.steps.contains(step) && !migrations.contains(step) { record(step: step) }
        case .move: break
        }
    }

    private func insert(_ values: PropertyListFields) throws(StoreError) {
        var values = values
        let attachments = values.removeValue(forKey: FieldTable.attachmentName)
        try setAttachments(attachments, of: try createItem(ItemFields(stored: values, schema)))
    }

    private func set(_ item: Item, _ field: String, _ value: PropertyListValue?) throws(StoreError) {
        if field == FieldTable.attachmentName { return try setAttachments(value, of: item) }
        if try item.value(forField: field) != value { try item.setValue(value, forField: field) }
    }

    private func pendingCommit(_ conflict: ItemConflict) throws(StoreError) -> PendingCommit {
        guard let found = replica.conflicts.first(where: { $0.identifier == conflict.identifier }) else {
            throw StoreError(.itemRemoved, "the conflict is settled already")
        }
        return found
    }
}
