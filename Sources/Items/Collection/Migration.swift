public import ColumnEngine
public import PropertyList

/// A step by which the items of an earlier version of a program become those of this one. It has a name, which the store
/// keeps once the step has run: it runs once, in a shared collection once for all hosts.
///
/// ```swift
/// let database = try ItemDatabase(
///     ArchivePersistence(folder: folder),
///     migrations: [
///         Migration("minutes are numbers") { try $0.retype("minutes", to: .integer, of: "Film") },
///         Migration("names in two") { items in
///             try items.split("fullName", of: "Person") { value in
///                 guard case .string(let text) = value, let space = text.firstIndex(of: " ") else { return ["family": value] }
///                 return ["given": .string(String(text[..<space])), "family": .string(String(text[space...].dropFirst()))]
///             }
///         },
///     ])
/// ```
///
/// Steps that a store has not run yet are run in the order of the list, all in one transaction, which ``ItemDatabase/undo()``
/// takes back. A store that has run a step that is not in the list belongs to a newer program: nothing is changed in it.
public struct Migration: Sendable {
    /// Its name; two steps of a program have two names, and a step keeps its own for ever.
    package let name: String
    let body: @Sendable (ItemMigrator) throws -> Void

    /// - Parameters:
    ///   - name: the name.
    ///   - body: changes the items. An error takes all steps back.
    public init(_ name: String, _ body: @escaping @Sendable (ItemMigrator) throws -> Void) {
        (self.name, self.body) = (name, body)
    }
}

extension ItemStore {
    /// The names of the migrations that have run here, in their order.
    public var migrations: [String] { columns.declarations.steps }

    /// Runs the steps that have not run here, as one transaction.
    ///
    /// - Parameter migrations: all steps of the program, in order.
    /// - Throws: `StoreError`: that of a step, with its name, and nothing is changed; `readOnly` if steps are to run and
    ///   the store cannot be changed; `disconnected` for a shared collection without its server: others could run the
    ///   same step meanwhile.
    public func migrate(_ migrations: [Migration]) throws(StoreError) {
        let names = NameSet(migrations.map(\.name))
        guard names.count == migrations.count else {
            throw StoreError(.invalidValue(field: "migrations"), "two migrations have the same name: each has its own")
        }
        let unknown = self.migrations.filter { !names.contains($0) }
        guard unknown.isEmpty else {
            replica.denial = StoreError(
                .readOnly,
                "a newer program has changed the items by “\(VisibleText.line(unknown[0].shortened(to: 200)))”, which this one does not know: "
                    + "they are only read here, until it is brought up to date")
            isReadOnly = replica.isReadOnly
            return
        }
        guard let first = steps(of: migrations).first else { return }
        if let denial = replica.remote?.declaringDenial { throw StoreError(.readOnly, denial) }
        // Another host may run them at the same time: then they are not run again here.
        for attempt in 1... {
            guard isConnected else {
                throw StoreError(
                    .disconnected,
                    "the migration “\(first.name)” needs the collection's server, so that no other host runs it, too")
            }
            if isReadOnly {
                throw StoreError(
                    .readOnly,
                    "the migration “\(first.name)” has not run here, and the items are only read: open them for writing once"
                )
            }
            do throws(StoreError) {
                return try change { () throws(StoreError) in try run(steps(of: migrations)) }
            } catch {
                guard error.code == .conflict, attempt < 3 else { throw error }
            }
        }
    }

    private func steps(of migrations: [Migration]) -> [Migration] {
        let known = NameSet(self.migrations)
        return migrations.filter { !known.contains($0.name) }
    }

    private func run(_ steps: [Migration]) throws(StoreError) {
        for step in steps {
            do throws(StoreError) {
                try StoreError.answering { try step.body(ItemMigrator(self)) }
            } catch {
                throw StoreError(
                    error.code, "the migration “\(step.name)” failed, and no item is changed: \(error.message)")
            }
            record(step: step.name)
        }
    }

    /// Records that a step has run, with the declarations of fields: committed, undone and sent to other hosts with them.
    func record(step: String) {
        var next = columns.declarations
        next.steps.append(step)
        keepCommitBeforeChange()
        columns.declare(next)
    }
}

/// The items of a store for a ``Migration``: what most of its steps do. Each method is O(items), and changes all items or
/// none; ``store`` has everything else.
public struct ItemMigrator {
    /// The store of the items.
    public let store: ItemStore

    init(_ store: ItemStore) { self.store = store }

    private var columns: ColumnStore { store.columns }

    /// Gives a field another name, and what is declared of it with it.
    ///
    /// - Parameters:
    ///   - field: the name.
    ///   - name: the new name.
    ///   - kind: the kind of the items; nil for all items. What is declared stays with the former name as well if items of
    ///     other kinds have the field.
    /// - Returns: the number of items.
    /// - Throws: `StoreError`: `invalidValue` if an item has a value of the new name already; `readOnlyField` for a field
    ///   that every item has.
    @discardableResult
    public func rename(_ field: String, to name: String, of kind: String? = nil) throws(StoreError) -> Int {
        let (former, new) = (try changeable(field), try changeable(name))
        let rows = rows(kind, former)
        for row in rows {
            guard let present = columns.value(row, new) else { continue }
            throw StoreError(
                .invalidValue(field: name),
                "\(columns.label(row)) has \(name) already, \(FieldValidation.describe(present)), and gets that of \(field): "
                    + "one of them would be lost")
        }
        let declaration = columns.declarations[field]
        let isFreed = declaration != nil && rows.count == self.rows(nil, former).count
        if isFreed { try declare([], freeing: [field]) }
        for row in rows {
            let value = columns.value(row, former)
            try store.set(row, former, nil)
            try store.set(row, new, value)
        }
        if let declaration, columns.declarations[name] == nil { try declare([declaration.renamed(name)]) }
        return rows.count
    }

    /// Converts the values of a field, such as texts that are numbers; if the field is declared, as the new kind from now
    /// on.
    ///
    /// - Parameters:
    ///   - field: the name.
    ///   - type: the new kind of its values.
    ///   - kind: the kind of the items; nil for all items.
    /// - Returns: the number of items whose value is another now.
    /// - Throws: `StoreError` with `unfittingItems` if values cannot be converted without loss, with the first three.
    @discardableResult
    public func retype(
        _ field: String, to type: FieldDeclaration.Kind, of kind: String? = nil
    ) throws(StoreError) -> Int {
        let number = try changeable(field)
        let target = FieldDeclaration(field, type)
        var changes: [(row: UInt32, value: PropertyListValue?)] = []
        var misfits: [String] = []
        for row in rows(kind, number) {
            guard let value = columns.value(row, number) else { continue }
            if let fitted = try? target.fitted(value), fitted == value { continue }
            if let converted = type.converted(value) {
                changes.append((row, converted))
            } else {
                misfits.append("\(FieldValidation.describe(value)) in \(columns.label(row))")
            }
        }
        guard misfits.isEmpty else {
            throw StoreError(
                .unfittingItems(field: field),
                "\(misfits.count.counted("value")) of \(field) cannot become \(type.named): \(misfits.listed(3))")
        }
        let declaration = columns.declarations[field]
        if declaration != nil { try declare([], freeing: [field]) }
        for change in changes { try store.set(change.row, number, change.value) }
        if var declaration {
            declaration.kind = type
            try declare([declaration])
        }
        return changes.count
    }

    /// Gives items without a value of a field one.
    ///
    /// - Parameters:
    ///   - field: the name.
    ///   - kind: the kind of the items; nil for all items.
    ///   - value: called with the fields of an item; nil for none.
    /// - Returns: the number of items that have got one.
    /// - Throws: errors of `value`; `StoreError` with `invalidValue` for one that is not possible.
    @discardableResult
    public func fill(
        _ field: String, of kind: String? = nil, with value: (PropertyListFields) throws -> PropertyListValue?
    ) throws -> Int {
        let number = columns.field(named: field)
        var count = 0
        for row in rows(kind, nil) {
            guard columns.value(row, number).map(FieldDeclaration.isBlank) ?? true,
                let new = try value(columns.dictionary(of: row))
            else { continue }
            try store.set(row, number, new)
            count += 1
        }
        return count
    }

    /// Makes other fields of the value of a field, which is then removed, unless it is among them.
    ///
    /// - Parameters:
    ///   - field: the name.
    ///   - kind: the kind of the items; nil for all items.
    ///   - parts: called with each value; gives the new fields, nil for one without a value.
    /// - Returns: the number of items.
    /// - Throws: errors of `parts`; as ``rename(_:to:of:)``.
    @discardableResult
    public func split(
        _ field: String, of kind: String? = nil, by parts: (PropertyListValue) throws -> [String: PropertyListValue?]
    ) throws -> Int {
        let number = columns.field(named: field)
        let rows = rows(kind, number)
        for row in rows {
            guard let value = columns.value(row, number) else { continue }
            let new = try parts(value)
            if new[field] == nil { try store.set(row, try changeable(field), nil) }
            for (name, part) in new.sorted(by: { $0.key < $1.key }) {
                let target = columns.field(named: name)
                if name != field, let present = columns.value(row, target), !FieldDeclaration.isBlank(present) {
                    throw StoreError(
                        .invalidValue(field: name),
                        "\(columns.label(row)) has \(name) already, \(FieldValidation.describe(present)): it would be lost"
                    )
                }
                try store.set(row, target, part)
            }
        }
        return rows.count
    }

    /// Removes the values of a field, and what is declared of it if no item has it any more.
    ///
    /// - Returns: the number of items.
    @discardableResult
    public func remove(_ field: String, of kind: String? = nil) throws(StoreError) -> Int {
        let number = try changeable(field)
        let rows = rows(kind, number)
        if columns.declarations[field] != nil, rows.count == self.rows(nil, number).count {
            try declare([], freeing: [field])
        }
        for row in rows { try store.set(row, number, nil) }
        return rows.count
    }

    /// Changes the items of a kind by a function of all their fields.
    ///
    /// - Parameters:
    ///   - kind: the kind; nil for all items.
    ///   - body: gets an item, which it may change.
    /// - Throws: errors of `body`.
    public func forEach(of kind: String? = nil, _ body: (Item) throws -> Void) throws {
        for row in rows(kind, nil) { try body(store.item(row: row)) }
    }

    // MARK: Rows

    /// The items of a kind, with a value of a field.
    private func rows(_ kind: String?, _ field: ItemField?) -> [UInt32] {
        columns.slots.filter { row in
            row != ItemOrder.hole && columns.isLive(row) && (kind == nil || columns.kind(row) == kind)
                && (field.map { columns.value(row, $0) != nil } ?? true)
        }
    }

    /// A field that not every item has.
    private func changeable(_ name: String) throws(StoreError) -> ItemField {
        guard !store.schema.has(name), name != "itemKey", name != ItemKind.fieldName else {
            throw StoreError(
                .readOnlyField(field: name), "every item has the field \(name), under this name: fill or split sets it")
        }
        return columns.field(named: name)
    }

    private func declare(_ declarations: [FieldDeclaration], freeing freed: [String] = []) throws(StoreError) {
        try StoreError.answering { try store.declare(declarations, freeing: freed) }
    }
}
