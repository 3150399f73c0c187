public import ColumnEngine
import Files
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
        /// Why the commit's values do not hold what is declared now, or why the server refused them, for people; nil if they do,
        /// and it did not.
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
    /// Why the server refused the commit; nil if it did not, and other hosts' commits are the reason.
    package let denial: String?
    /// The commit's changes, one per field, conflicting ones first.
    package let changes: [Change]
}

extension ItemConflict {
    init(_ commit: PendingCommit, _ store: ItemStore) {
        (identifier, date, host, denial) = (commit.identifier, commit.date, commit.host, commit.denial)
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
        if let denial, !changes.isEmpty { changes[0].problem = denial }
        // A stable order: the conflicting ones first.
        self.changes = changes.filter(\.isConflicting) + changes.filter { !$0.isConflicting }
    }

    /// Refuses a field of an item that the commit neither changes nor makes.
    func checkChanges(_ field: String, of key: String) throws(StoreError) {
        let changes = changes.filter { $0.itemKey == key }
        if changes.contains(where: { $0.kind == .insert || $0.field == field }) { return }
        let names = changes.compactMap(\.shownField).sorted().joined(separator: ", ")
        throw StoreError(
            .invalidValue(field: field),
            "the commit does not change \(field) of the item \(key): "
                + (names.isEmpty ? "it sets no field of that" : "it changes \(names)"))
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
        let head =
            denial == nil
            ? "the commit of \(date.text) did not follow \(other)" : "the server refused the commit of \(date.text)"
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
            var cells = texts([change.mine, change.theirs, change.base])
            if let amount = change.increment { cells[0] = increment(amount) }
            if !change.isPresent { cells[1] = "(removed)" }
            return [[item, change.shownField ?? ""] + cells]
        case .insert:
            return [[item, "", "(new)", change.isPresent ? "(new, too)" : "", ""]]
                + differences(change.mine, change.theirs).map { field, mine, theirs in
                    ["", FieldTable.shownName(of: field)] + texts([mine, theirs]) + [""]
                }
        case .remove:
            return [[item, "", "(removed)", change.isPresent ? "(changed)" : "(removed)", ""]]
                + differences(change.theirs, change.base).map { field, theirs, base in
                    ["", FieldTable.shownName(of: field), ""] + texts([theirs, base])
                }
        case .declare: return declarationRows(of: change)
        case .move: return [[item, "", "(moved)", change.isPresent ? "" : "(removed)", ""]]
        }
    }

    /// `+5` for an increment by 5.
    private static func increment(_ amount: PropertyListValue) -> String {
        let shown = FieldValidation.describe(amount)
        return shown.hasPrefix("-") ? shown : "+" + shown
    }

    /// The fields of an item in which two states of it differ; none if one of them is that it is not there.
    private static func differences(
        _ first: PropertyListValue?, _ second: PropertyListValue?
    ) -> [(field: String, first: PropertyListValue?, second: PropertyListValue?)] {
        guard let first = first?.fields, let second = second?.fields else { return [] }
        return first.merging(second) { $1 }.keys.sorted().filter { first[$0] != second[$0] }.map {
            ($0, first[$0], second[$0])
        }
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

    private static func texts(_ values: [PropertyListValue?]) -> [String] {
        ComparedValues.texts(values).map(VisibleText.line)
    }

    private static func trimmed(_ line: String) -> String { String(line.reversed().drop { $0 == " " }.reversed()) }
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
    ///   - values: by item key, values by field name that replace the commit's; null for none.
    /// - Throws: `StoreError`, as a transaction does, and for a field that the commit does not change; the conflict is then
    ///   kept.
    package func resolve(
        _ conflict: ItemConflict, _ values: NameTable<PropertyListFields>
    ) throws(StoreError) {
        try checkNoTransaction("settling a conflict")
        let commit = try pendingCommit(conflict)
        for (key, fields) in values { for field in fields.keys { try conflict.checkChanges(field, of: key) } }
        try change { () throws(StoreError) in
            for change in conflict.changes { try redo(change, commit, values[change.itemKey] ?? [:]) }
            for (key, fields) in values {
                guard let item = item(forKey: key) else {
                    throw StoreError(.itemRemoved, "no item has the itemKey \(key), which is to get the values")
                }
                for (field, value) in fields { try item.setValue(value == .null ? nil : value, forField: field) }
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
            for (field, value) in replacements where field != "itemKey" {
                values[field] = value == .null ? nil : value
            }
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

/// Values side by side in short texts that differ where the values do: by them a user decides between two hosts.
enum ComparedValues {
    /// The most characters of a value, and those of them before the first difference.
    private static let (length, lead) = (40, 12)

    /// The texts of values, nil for none, in the same order. A long one is cut, and has the place where the first two differ.
    static func texts(_ values: [PropertyListValue?]) -> [String] {
        let all = values.map { $0.map(text) ?? "nothing" }
        guard all.count > 1, all.contains(where: { $0.count > length }) else { return all }
        // Where two are equal, the third one is what differs.
        let other = all[0] == all[1] ? all[all.count - 1] : all[1]
        let common = zip(all[0], other).prefix { $0 == $1 }.count
        return all.map { cut($0, from: max(common - lead, 0)) }
    }

    private static func cut(_ text: String, from start: Int) -> String {
        if text.count <= length { return text }
        // An unlike third one may be shorter.
        let start = start < text.count ? start : text.count - length
        let shown = text.dropFirst(start).prefix(length)
        return (start > 0 ? "…" : "") + shown + (start + length < text.count ? "…" : "")
    }

    /// A value whole: tables as in scripts, bytes in hexadecimal.
    private static func text(_ value: PropertyListValue) -> String {
        switch value {
        case .string(let text): return "\"\(text)\""
        case .utf16: return "\"\(value.text ?? "")\""
        case .data(let bytes): return "data of \(bytes.count.counted("byte")): \(bytes.hexadecimal)"
        case .array(let elements): return list(elements.map(text))
        case .set(let elements): return "a set of " + list(elements.map(text).sorted())
        case .dictionary(let entries):
            return list(entries.sortedEntries.map { "\($0.key.keyText) = \(text($0.value))" })
        default: return FieldValidation.describe(value)
        }
    }

    private static func list(_ parts: [String]) -> String { "{\(parts.joined(separator: ", "))}" }
}
