package import PropertyList

/// The declared fields of a store: their versions in this process, and what the current one demands of each field.
///
/// The log and the history name a version by its number: each is kept as long as the process runs.
struct DeclaredFields {
    /// All versions, oldest first; the first declares nothing.
    private(set) var versions = [FieldDeclarations()]
    /// The number of the current version.
    private(set) var current: UInt32 = 0
    /// What is declared of each field, by number; empty if nothing is declared.
    private(set) var rules: [FieldRule?] = []
    /// The rules of unique fields.
    private(set) var unique: [FieldRule] = []
    /// The rules of fields that refer to items.
    private(set) var references: [FieldRule] = []
    /// The field with the items' kinds; nil for items without.
    private(set) var kindField: ItemField?
    /// The field with the ids within the kinds.
    private(set) var idField: ItemField?
    /// The first field of strings, which names items that have no fields by themselves.
    private(set) var title: ItemField?
    /// The rules that a new item is checked by as a whole: of required fields, and of those with a default.
    private(set) var whole: [FieldRule] = []
    /// By a field with the ids of items within their kinds, the items whose keys do not have them.
    private(set) var identities: [UniqueIndex] = []
    /// The drafts that were given a key, while items have kinds.
    private(set) var draftsWithKey: Set<UInt32> = []

    var declarations: FieldDeclarations { versions[Int(current)] }

    /// The number of a version with these declarations.
    mutating func version(of declarations: FieldDeclarations) -> UInt32 {
        if let known = versions.firstIndex(of: declarations) { return UInt32(known) }
        versions.append(declarations)
        return UInt32(versions.count - 1)
    }

    mutating func use(_ version: UInt32, _ rules: [FieldRule]) {
        (kindField, idField) = (nil, nil)
        current = version
        self.rules = []
        for rule in rules {
            let number = Int(rule.field.rawValue)
            while self.rules.count <= number { self.rules.append(nil) }
            self.rules[number] = rule
        }
        unique = rules.filter { $0.index != nil }
        references = rules.filter { $0.declaration.references != nil }
        title = rules.first { $0.declaration.kind == .string && $0.declaration.name != ItemKind.fieldName }?.field
        whole = rules.filter { rule in
            rule.declaration.isRequired || rule.declaration.initial != nil
                || rule.isOfEveryItem && rule.declaration.format == .day
        }
    }

    /// Has items identified by a kind, and an id within it.
    mutating func identify(by kindField: ItemField, _ idField: ItemField) {
        (self.kindField, self.idField) = (kindField, idField)
    }

    /// Has items found by an index of ids.
    mutating func identify(by index: UniqueIndex) { identities.append(index) }

    /// Remembers that a draft was given a key, where one without gets that of its kind and id.
    mutating func recordKey(of row: UInt32) {
        if kindField != nil { draftsWithKey.insert(row) }
    }

    /// Called when a draft is inserted or discarded.
    @inline(__always)
    mutating func forgetKey(of row: UInt32) {
        if !draftsWithKey.isEmpty { draftsWithKey.remove(row) }
    }
}

/// What is declared of one field of a store.
final class FieldRule {
    let field: ItemField
    let declaration: FieldDeclaration
    /// The items by their values, if the field is unique.
    let index: UniqueIndex?
    /// Whether every item has the field: then an empty text is no value.
    let isOfEveryItem: Bool

    init(_ declaration: FieldDeclaration, _ field: ItemField, in store: ColumnStore) {
        (self.declaration, self.field) = (declaration, field)
        index = declaration.isUnique ? UniqueIndex(store, field) : nil
        isOfEveryItem = field.rawValue < store.keyField.rawValue
    }

    /// The value in the form that the field stores.
    func fitted(_ value: PropertyListValue?) throws(StoreError) -> PropertyListValue? {
        if isOfEveryItem, !declaration.isRequired, value.map(FieldDeclaration.isBlank) ?? true { return value }
        return try declaration.fitted(value)
    }

    /// Whether a stored value, or its absence, could be assigned.
    func fits(_ value: PropertyListValue?) -> Bool {
        if isOfEveryItem, !declaration.isRequired, value.map(FieldDeclaration.isBlank) ?? true { return true }
        return declaration.fits(value)
    }
}

extension ColumnStore {
    /// The declared fields.
    package var declarations: FieldDeclarations { declared.declarations }

    /// Whether a field is declared; O(1).
    package var hasDeclarations: Bool { !declared.rules.isEmpty }

    /// Whether a field is declared to have days.
    package func hasDays(_ name: String) -> Bool { hasDeclarations && declarations[name]?.format == .day }

    /// What is declared of a field; nil for a free one.
    package func declaration(of field: ItemField) -> FieldDeclaration? { rule(field)?.declaration }

    @inline(__always)
    func rule(_ field: ItemField) -> FieldRule? {
        Int(field.rawValue) < declared.rules.count ? declared.rules[Int(field.rawValue)] : nil
    }

    // MARK: Declaring

    /// Declares fields in the place of all declarations, as a logged change. The items are not looked at.
    package func declare(_ declarations: FieldDeclarations) {
        let (old, new) = (declared.current, declared.version(of: declarations))
        if old == new { return }
        use(new)
        log.record(Change(kind: .declare, row: 0, field: new, position: old))
        log.didChange()
    }

    /// Makes a version the current one, unlogged.
    func use(_ version: UInt32) {
        let rules = declared.versions[Int(version)].all.map { declaration in
            FieldRule(declaration, fields.field(named: declaration.name), in: self)
        }
        declared.use(version, rules)
        guard let kindField = kindField(rules) else { return }
        declared.identify(by: kindField, fields.field(named: ItemKind.idName))
    }

    /// The field with the items' kinds: it is declared, or others are that refer to items of a kind.
    private func kindField(_ rules: [FieldRule]) -> ItemField? {
        if let rule = rules.first(where: { $0.declaration.name == ItemKind.fieldName }) {
            return rule.declaration.kind == .string ? rule.field : nil
        }
        return declared.references.isEmpty ? nil : fields.field(named: ItemKind.fieldName)
    }

    /// The declarations of a version of the log, as a record has them.
    package func declarations(ofVersion version: UInt32) -> FieldDeclarations { declared.versions[Int(version)] }

    // MARK: Checking

    /// The value in the form that a declared field stores; the value itself for a free field.
    package func fitted(
        _ value: PropertyListValue?, for field: ItemField
    ) throws(StoreError) -> PropertyListValue? {
        guard let rule = rule(field) else { return value }
        return try rule.fitted(value)
    }

    /// Checks a new item as a whole: gives it the defaults, and refuses one that lacks a required value, or has one
    /// that another item has.
    func checkWhole(_ row: UInt32) throws(StoreError) {
        for rule in declared.whole {
            if let initial = rule.declaration.initial, table.cell(row, rule.field).isAbsent {
                table.setCell(row, rule.field, cell(initial, for: rule.field))
            }
            // A new item's time of creation was set without a check.
            if rule.declaration.format == .day, case .date(let date)? = heap.value(table.cell(row, rule.field)) {
                table.setCell(row, rule.field, .date(date.startOfDay.secondsSinceReferenceDate))
            }
            if rule.declaration.isRequired {
                let cell = table.cell(row, rule.field)
                if cell.isAbsent || cell.isText && cell.withText({ $0.isEmpty }) {
                    _ = try rule.declaration.fitted(nil)
                }
            }
        }
        for rule in declared.unique { try checkUnique(row, rule, table.cell(row, rule.field)) }
        for rule in declared.references { try checkReference(row, rule.field, value(row, rule.field), replacing: nil) }
    }

    /// Refuses a value that another item has, for a unique field.
    @inline(__always)
    package func checkUnique(_ row: UInt32, _ field: ItemField, _ cell: Cell) throws(StoreError) {
        if declared.unique.isEmpty { return }
        guard let rule = rule(field), rule.index != nil else { return }
        try checkUnique(row, rule, cell)
    }

    private func checkUnique(_ row: UInt32, _ rule: FieldRule, _ cell: Cell) throws(StoreError) {
        guard let other = rule.index?.holder(of: cell, except: row) else { return }
        recordRead(other)
        throw rule.declaration.duplicate(heap.value(cell), of: label(other))
    }

    // MARK: After changes of other hosts

    /// The unique fields.
    package var uniqueFields: [ItemField] { declared.unique.map(\.field) }

    /// Why a value of an item does not hold what is declared of its field, for people.
    ///
    /// - Parameters:
    ///   - value: the value; nil for none.
    ///   - name: the field's name.
    ///   - key: the item's key; an item that is not in the store has one, too.
    /// - Returns: the reason; nil if it does.
    package func problem(_ value: PropertyListValue?, ofField name: String, itemKey key: String) -> String? {
        guard hasDeclarations, let field = existingField(named: name), let rule = rule(field) else { return nil }
        if let error = misfit(value, rule) { return error.message }
        if rule.declaration.references != nil,
            let lost = value?.referredIDs.first(where: { target($0, rule.declaration) == nil })
        {
            return rule.declaration.dangling(lost).message
        }
        guard let value, let index = rule.index else { return nil }
        var text = key
        let row = text.withUTF8 { self.row(forKey: $0) }
        let holders = ItemValueIndex(store: self, index: index)
        return holders.row(with: value) { $0 != row }.map { rule.declaration.duplicate(value, of: label($0)).message }
    }

    /// The first of the values that changes set which does not hold what is declared: one that another item has, one that
    /// refers to no item, or one that does not fit. Of declarations among the changes, the first item that does not fit
    /// them; of removals, the first item that refers to a removed one.
    ///
    /// - Parameters:
    ///   - changes: of the log.
    ///   - checksFit: whether to look for values that do not fit, and not only for equal ones of a unique field.
    /// - Returns: the error; nil if all is well.
    package func violation(of changes: [Change], checksFit: Bool) -> StoreError? {
        if declared.rules.isEmpty { return nil }
        for change in changes {
            let found: StoreError?
            switch change.kind {
            case .append, .insert:
                found = change.rows.lazy.compactMap { self.violation($0, self.declared.rules, checksFit) }.first
            case .set:
                let old = change.cell == .archived ? nil : heap.value(change.cell)
                found = violation(
                    change.row, [rule(ItemField(rawValue: change.field))], checksFit, old: old)
            case .declare: found = violation(ofDeclarationsAfter: change.position)
            case .remove, .move: found = nil
            }
            if let found { return found }
        }
        return violation(removing: changes.filter { $0.kind == .remove && !isLive($0.row) }.map(\.row))
    }

    /// The error of the first item that refers to a removed one. O(n) if items refer to those of its kind.
    private func violation(removing rows: [UInt32]) -> StoreError? {
        for rule in declared.references {
            let declaration = rule.declaration
            var removed: [PropertyListValue: UInt32] = [:]
            for row in rows where isOf(declaration.references?.kind ?? "", row) {
                for id in ids(row).flatMap(ItemKind.values) where target(id, declaration) == nil { removed[id] = row }
            }
            if removed.isEmpty { continue }
            _ = materialise(rule.field)
            for row in order.slots where row != ItemOrder.hole {
                guard let target = value(row, rule.field)?.referredIDs.lazy.compactMap({ removed[$0] }).first else {
                    continue
                }
                return StoreError(
                    .referenced(field: declaration.name),
                    "\(label(target)) is the \(declaration.name) of \(label(row)): it is not removed")
            }
        }
        return nil
    }

    private func violation(
        _ row: UInt32, _ rules: [FieldRule?], _ checksFit: Bool, old: PropertyListValue? = nil
    ) -> StoreError? {
        guard isLive(row) else { return nil }
        for case let rule? in rules {
            do throws(StoreError) {
                try checkReference(row, rule.field, value(row, rule.field), replacing: old)
            } catch {
                return error
            }
            if checksFit, let error = misfit(value(row, rule.field), rule) { return error }
            let cell = table.cell(row, rule.field)
            if let other = rule.index?.holder(of: cell, except: row) {
                return rule.declaration.duplicate(heap.value(cell), of: label(other))
            }
        }
        return nil
    }

    /// The error of the first item that does not fit what was declared since a version.
    private func violation(ofDeclarationsAfter version: UInt32) -> StoreError? {
        let former = declared.versions[Int(version)]
        for declaration in declarations.all where former[declaration.name] != declaration {
            let misfits = unfitting(fields.field(named: declaration.name))
            guard misfits.count > 0 else { continue }
            return StoreError(
                .unfittingItems(field: declaration.name),
                "\(misfits.count == 1 ? "1 item does" : "\(misfits.count) items do") not fit what is declared of "
                    + "\(declaration.name): \(misfits.examples.joined(separator: ", "))")
        }
        return nil
    }

    private func misfit(_ value: PropertyListValue?, _ rule: FieldRule) -> StoreError? {
        if rule.fits(value) { return nil }
        do throws(StoreError) {
            _ = try rule.fitted(value)
            // It would be converted.
            return StoreError(
                .invalidValue(field: rule.declaration.name),
                "\(rule.declaration.name) is declared as \(rule.declaration.kind.named): "
                    + "\(FieldValidation.describe(value)) is not one")
        } catch {
            return error
        }
    }

    /// Whether a value, or its absence, would fit a declaration that need not be one of the store's.
    package func fits(_ value: PropertyListValue?, _ declaration: FieldDeclaration) -> Bool {
        let isBlank = value.map(FieldDeclaration.isBlank) ?? true
        return isBlank && !declaration.isRequired && schema.has(declaration.name) || declaration.fits(value)
    }

    /// Finds items by their values of a field, which need not be declared; valid until the next change of the store.
    package func valueIndex(_ name: String) -> ItemValueIndex {
        let field = fields.field(named: name)
        return ItemValueIndex(store: self, index: rule(field)?.index ?? UniqueIndex(self, field))
    }

    // MARK: Counting

    /// The items whose value of a field, or its absence, does not fit what is declared: how many, and the first
    /// three, with their values. O(items).
    package func unfitting(_ field: ItemField) -> DeclaredMisfits {
        recordWholeRead()
        var misfits = DeclaredMisfits()
        guard let rule = rule(field) else { return misfits }
        _ = materialise(field)
        for row in order.slots where row != ItemOrder.hole {
            let value = self.value(row, field)
            let isDuplicate =
                rule.index?.holder(of: table.cell(row, field)) { order.slot(of: $0) < order.slot(of: row) } != nil
            let isDangling = value.map { self.isDangling($0, rule.declaration) } ?? false
            if rule.fits(value), !isDuplicate, !isDangling { continue }
            misfits.count += 1
            if misfits.examples.count < 3 {
                misfits.examples.append(
                    "\(FieldValidation.describe(value)) in \(label(row))\(isDuplicate ? ", which another item has" : "")"
                        + (isDangling ? ", which no item has as its id" : "")
                )
            }
        }
        return misfits
    }
}

/// Finds items by their values of a field.
package struct ItemValueIndex {
    fileprivate let store: ColumnStore
    fileprivate let index: UniqueIndex

    /// The row of an item with a value, of those for which a condition holds. O(1), except for the first of a field that
    /// is not unique.
    package func row(with value: PropertyListValue, where isCandidate: (UInt32) -> Bool) -> UInt32? {
        let cell = store.cell(value)
        defer { store.discard(cell) }
        return index.holder(of: cell, where: isCandidate)
    }
}

/// The items that do not fit what is declared of a field.
package struct DeclaredMisfits: Sendable, Hashable {
    /// How many.
    package internal(set) var count = 0
    /// The first three, with their values, in words.
    package internal(set) var examples: [String] = []
}
