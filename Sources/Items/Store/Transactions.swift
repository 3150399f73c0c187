import ColumnEngine
package import PropertyList

extension ItemStore {
    /// Whether a transaction or a dry run is in progress.
    package var isInTransaction: Bool { columns.depth > 0 }

    /// Runs a body once as a transaction.
    private func attempt<Result>(_ body: () throws -> Result) throws -> Result {
        // A transaction is sent to the server separately: earlier changes have other conflict rules.
        if replica.isShared, !isInTransaction {
            try commit()
            // Own commits made after those of others would be mistaken for theirs.
            if isConnected { try applyRemoteCommits() }
        }
        beginTransaction()
        let result: Result
        do {
            result = try body()
        } catch {
            rollBackSavepoint()
            throw error
        }
        try endTransaction()
        return result
    }

    /// A transaction of the store's own steps.
    func change<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        try StoreError.answering { try attempt(body) }
    }

    /// Begins a transaction, or a savepoint within one. Earlier changes become a separate step of `undo`.
    package func beginTransaction() {
        if columns.depth == 0 {
            if !columns.hasChanges, changeHistory.hasAttachmentChanges {
                changeHistory.record(.change, from: columns)
                settle(.change)
            }
            columns.seal()
            if replica.recordsReads { columns.beginReads() }
        }
        openSavepoint()
    }

    /// Ends the innermost transaction, and commits the outermost.
    ///
    /// - Throws: `noTransaction`; errors of ``commit()``, after rolling back.
    package func endTransaction() throws(StoreError) {
        guard let start = columns.savepoint else { throw Self.noTransaction }
        guard columns.depth == 1, !replica.isSending else { return closeSavepoint() }
        do throws(StoreError) {
            try attachments?.prepareToCommit()
        } catch {
            rollBackSavepoint()
            throw error
        }
        let reads = replica.recordsReads ? columns.takeReads() : nil
        columns.closeSavepoint()
        let isStep: Bool
        do throws(StoreError) {
            isStep = try write(.change, reads: reads)
        } catch {
            columns.unseal(behind: start)
            rollBack(to: start)
            attachments?.rollBackSavepoint()
            throw didTakeBack(after: error)
        }
        let changes = attachments?.closeSavepoint() ?? []
        if !changes.isEmpty, !isStep || !changeHistory.addToNewest(changes) {
            changes.forEach { changeHistory.record($0) }
            changeHistory.record(.change, from: columns)
        }
        settle(.change)
        publishCommits()
    }

    /// Rolls the innermost transaction back.
    ///
    /// - Throws: `noTransaction`.
    package func rollBackTransaction() throws(StoreError) {
        if columns.depth == 0 { throw Self.noTransaction }
        rollBackSavepoint()
    }

    /// Determines the changes that a body would make: runs it, and rolls its changes back.
    ///
    /// - Throws: errors of the body, after rolling back.
    package func dryRun(_ body: () throws -> Void) throws -> ItemStoreDiff {
        beginTransaction()
        defer { rollBackSavepoint() }
        // The result includes the positions of items.
        columns.recordWholeRead()
        let start = columns.changeCount
        try body()
        var diff = ItemStoreDiff(columns, columns.changes[start...])
        if let attachments { diff.add(attachments.changedFiles, columns) }
        return diff
    }

    /// Runs a body as a transaction, and gives the changes that it commits.
    ///
    /// - Parameters:
    ///   - report: takes the difference, before the commit.
    ///   - body: changes items.
    /// - Throws: errors of the body and of the commit, after rolling back.
    package func transaction(reporting report: (ItemStoreDiff) -> Void, _ body: () throws -> Void) throws {
        try transaction {
            let start = columns.changeCount
            try body()
            report(ItemStoreDiff(columns, columns.changes[start...]))
        }
    }

    private static let noTransaction = StoreError(.noTransaction, "no transaction is under way: begin one first")

    func checkNoTransaction(_ verb: String) throws(StoreError) {
        if replica.isSending {
            throw StoreError(
                .transactionInProgress, "\(verb) is not possible while a commit is on its way to the server")
        }
        if isInTransaction {
            throw StoreError(
                .transactionInProgress, "\(verb) is not possible within a transaction: end it or let it fail first")
        }
    }

    // MARK: Savepoints

    func openSavepoint() {
        columns.openSavepoint()
        attachments?.openSavepoint()
    }

    func closeSavepoint() {
        columns.closeSavepoint()
        attachments?.closeSavepoint().forEach { changeHistory.record($0) }
    }

    /// Runs a body whose changes are taken back if it throws.
    func allOrNone<Result>(_ body: () throws -> Result) rethrows -> Result {
        openSavepoint()
        do {
            let result = try body()
            closeSavepoint()
            return result
        } catch {
            rollBackSavepoint()
            throw error
        }
    }

    func rollBackSavepoint() {
        guard let start = columns.closeSavepoint() else { return }
        rollBack(to: start)
        attachments?.rollBackSavepoint()
    }

    /// Rolls back the log's changes from `start` on, newest first.
    func rollBack(to start: Int, publishes: Bool = true) {
        let taken = columns.rollBack(to: start)
        replica.restoreOrder()
        if !columns.hasChanges { attachments?.shared?.didRollBack() }
        if !taken.isEmpty, publishes, !publisher.observers.isEmpty {
            publishMany(ItemStoreChanges(.rollback, taken).inverted)
        }
    }
}

/// Transactions on a shared collection.
extension ItemStore {
    /// Which remote commits conflict with a transaction; the raw value is the name for scripts.
    public enum Isolation: String, Sendable, CaseIterable {
        /// Any change of data that it read.
        case serializable
        /// A change of the same fields.
        case snapshot
    }

    /// The default number of retries of a transaction.
    @usableFromInline package static let defaultRetries = 10

    /// After this many conflicts, the next attempt keeps others out.
    private static let attemptsBeforeHolding = 3

    /// Runs a body whose changes are committed or rolled back as a whole: an error of the body rolls back its changes,
    /// including order and removals, and is rethrown. Transactions nest as savepoints. The end of the outermost one is
    /// a commit; if that fails, the changes are rolled back as well.
    ///
    /// With an isolation the body runs again if others changed data that it read in the meantime; it runs once in an
    /// unshared store, and within another transaction.
    ///
    /// - Parameters:
    ///   - isolation: which remote commits conflict with it; nil to run the body once.
    ///   - retries: the maximum number of retries; without an isolation there are none.
    ///   - body: changes items; it may run more than once.
    /// - Returns: the result of the body.
    /// - Throws: errors of the body; `StoreError` with `conflict` after the last attempt.
    public func transaction<Result>(
        isolation: Isolation? = nil, retries: Int = defaultRetries, _ body: () throws -> Result
    ) throws -> Result {
        guard let isolation, replica.isShared, !isInTransaction else { return try attempt(body) }
        // Earlier changes are not part of the transaction, and not rolled back with it.
        try commit()
        replica.isolation = isolation
        defer { replica.isolation = .serializable }
        var attempts = 0
        while true {
            if attempts == Self.attemptsBeforeHolding { try replica.remote?.hold() }
            defer { replica.remote?.release() }
            try applyRemoteCommits()
            do { return try attempt(body) } catch let error as StoreError {
                guard error.code == .conflict, attempts < retries, !isInTransaction else { throw error }
                attempts += 1
            }
        }
    }
}

/// Commits.
extension ItemStore {
    /// Whether there are changes since the last commit, including attachments.
    package var hasUncommittedChanges: Bool { columns.hasChanges || changeHistory.hasAttachmentChanges }

    /// Passes all changes since the last commit to the persistence as one commit; does nothing within a transaction.
    /// The host calls it at the end of each chunk, handler and timer.
    ///
    /// - Returns: whether there was anything to write.
    /// - Throws: `StoreError`: `conflict` if the collection has conflicting changes since, `invalidValue` if its server cannot
    ///   have a value: the store's changes are then rolled back; `inputOutput`: they are kept, and the next commit tries again.
    @discardableResult
    public func commit() throws(StoreError) -> Bool {
        defer { publishCommits() }
        return try commit(.change)
    }

    /// Commits as part of a group: even with `CommitDurability.power` the record only survives the process, until the
    /// next commit outside of a group, or ``endGroup()``, makes all of the group's records survive a power cut at once.
    ///
    /// - Returns: whether there was anything to write.
    /// - Throws: as ``commit()``.
    @discardableResult
    package func commitInGroup() throws(StoreError) -> Bool {
        defer { publishCommits() }
        return try commit(.change, waits: false)
    }

    /// Makes a group's records as durable as ``durability`` requires. Costs nothing if they are.
    package func endGroup() throws(StoreError) {
        guard durability == .power, columns.depth == 0 else { return }
        try replica.persistence.synchronize()
        attachments?.synchronize()
    }

    /// Commits without notifying observers; the caller does that when the commit is complete.
    @discardableResult
    func commit(_ kind: CommitKind, waits: Bool = true) throws(StoreError) -> Bool {
        // Changes by a handler while a commit is being sent are part of the next one.
        guard columns.depth == 0, !replica.isSending else { return false }
        defer { settle(kind, waits: waits) }
        do throws(StoreError) {
            return try write(kind, waits: waits)
        } catch {
            if error.isLoss {
                columns.unseal()
                rollBack(to: 0)
                applyUnappliedCommits()
            }
            throw error
        }
    }

    /// Passes the log on as one commit, and moves it to the history. ``settle(_:waits:)`` must follow.
    func write(_ kind: CommitKind, waits: Bool = true, reads: ItemReads? = nil) throws(StoreError) -> Bool {
        guard columns.hasChanges else {
            // An undo step without anything for the journal.
            if changeHistory.hasAttachmentChanges { changeHistory.record(kind, from: columns) }
            return false
        }
        try appendLog(durable: waits && durability == .power, reads: reads)
        recordCommit(cause(of: kind), columns.changes)
        changeHistory.record(kind, from: columns)
        return true
    }

    private func cause(of kind: CommitKind) -> ItemStoreCommit.Cause {
        switch kind {
        case .change: publisher.cause
        case .undo: .undo
        case .redo: .redo
        }
    }

    /// Passes the log's changes to the persistence.
    func appendLog(durable: Bool, reads: ItemReads? = nil) throws(StoreError) {
        if replica.isShared {
            try attachments?.adoptLooseBytes()
            try send(reads: reads)
        } else {
            replica.revision = try replica.persistence.append(replica.nextCommit(), durable: durable)
        }
        document.didCommit()
    }

    /// Makes all commits survive a power cut.
    package func synchronize() throws(StoreError) {
        try replica.persistence.synchronize()
        attachments?.synchronize()
    }
}

/// The net result of a sequence of changes: the differences between the states before and after.
package struct ItemStoreDiff: Sendable, Hashable, CustomStringConvertible {
    /// A field with another value.
    package struct Update: Sendable, Hashable {
        /// The item's key.
        package var itemKey: String
        /// The item's name.
        package var name: String
        /// The field's name.
        package var field: String
        /// The old value; nil for none.
        package var old: PropertyListValue?
        /// The new value; nil for none.
        package var new: PropertyListValue?
        /// Whether the values are words for pictures.
        fileprivate var isPicture = false

        /// `"red" → nil`, `a picture → none`.
        fileprivate var text: String {
            let texts = [old, new].map { value in
                isPicture ? value?.text ?? "none" : FieldValidation.describe(value)
            }
            return texts.joined(separator: " → ")
        }
    }

    /// An item that moved.
    package struct Move: Sendable, Hashable {
        /// The item's key.
        package var itemKey: String
        /// The item's name.
        package var name: String
        /// The position before the move, counted from 0.
        package var from: Int
        /// The position after the move, counted from 0.
        package var to: Int
    }

    /// The new items in their final state.
    package var inserted: [ItemFields] = []
    /// The removed items in their last state.
    package var removed: [ItemFields] = []
    /// The fields with changed values.
    package var updated: [Update] = []
    /// The moved items.
    package var moved: [Move] = []
    /// The names of the fields of which something else is declared, or nothing any more.
    package private(set) var declared: [String] = []

    /// The field that an item is named by; nil for none.
    private let title: String?
    /// The number of changes that ``description`` has one by one.
    private static let shown = 10

    /// `2 inserted, 1 removed, 3 fields changed, 0 moved`, then the first changes, each in a line.
    package var description: String {
        let counts =
            "\(inserted.count) inserted, \(removed.count) removed, \(updated.count) "
            + "\(updated.count.word("field")) changed, \(moved.count) moved"
            + (declared.isEmpty ? "" : ", \(declared.count.counted("field")) declared")
        var lines = inserted.prefix(Self.shown).map { "+ \(name(of: $0))" }
        lines += removed.prefix(Self.shown).map { "- \(name(of: $0))" }
        lines += updated.prefix(Self.shown).map { update in
            "  \(Self.label(update.name, update.itemKey)): \(Self.line(update.field)) \(update.text)"
        }
        lines += moved.prefix(Self.shown).map { "  \(Self.label($0.name, $0.itemKey)): \($0.from + 1) → \($0.to + 1)" }
        lines += declared.prefix(Self.shown).map { "  \(Self.line($0)) is declared" }
        let all = inserted.count + removed.count + updated.count + moved.count + declared.count
        let rest = all - min(lines.count, Self.shown)
        return
            ([counts] + lines.prefix(Self.shown).map(VisibleText.line)
            + (rest > 0 ? ["  and \(rest.grouped) more"] : []))
            .joined(separator: "\n")
    }

    private func name(of fields: ItemFields) -> String {
        guard let title, case .string(let name)? = fields.values[title] else {
            return Self.label("", fields.itemKey ?? "")
        }
        return Self.label(name, fields.itemKey ?? "")
    }

    private static func label(_ name: String, _ key: String) -> String { line(name.isEmpty ? key : name) }

    private static func line(_ text: String) -> String { VisibleText.line(text.shortened(to: 60)) }

    init(_ store: ColumnStore, _ changes: ArraySlice<Change>) {
        title = store.titleField.map { store.name(of: $0) }
        var insertedRows: [UInt32] = []
        var isInserted: Set<UInt32> = []
        var removedRows: [UInt32] = []
        var seen: Set<ChangedField> = []
        for change in changes {
            switch change.kind {
            case .append, .insert:
                for row in change.rows where isInserted.insert(row).inserted { insertedRows.append(row) }
            case .remove:
                if !isInserted.contains(change.row) { removedRows.append(change.row) }
            case .set:
                let field = ItemField(rawValue: change.field)
                guard !isInserted.contains(change.row), store.isLive(change.row),
                    seen.insert(change.changedField).inserted
                else { continue }
                let old = store.value(change.cell)
                let new = store.value(change.row, field)
                if old != new {
                    updated.append(
                        Update(
                            itemKey: store.keyString(change.row),
                            name: store.title(change.row) ?? "",
                            field: store.shownName(of: field),
                            old: old, new: new))
                }
            case .move:
                guard !isInserted.contains(change.row), store.isLive(change.row) else { continue }
                moved.append(
                    Move(
                        itemKey: store.keyString(change.row),
                        name: store.title(change.row) ?? "", from: Int(change.position),
                        to: Int(change.field)))
            case .declare: continue
            }
        }
        if let first = changes.first(where: { $0.kind == .declare }) {
            let (old, new) = (store.declarations(ofVersion: first.position), store.declarations)
            let names = new.all.map(\.name) + old.all.map(\.name).filter { new[$0] == nil }
            declared = names.filter { old[$0] != new[$0] }
        }
        inserted = insertedRows.filter { store.isLive($0) }.map { store.fields(of: $0) }
        removed = removedRows.filter { store.isRemoved($0) }.map { store.fields(of: $0) }
    }

    /// Adds changes of pictures that are in no record, as those of the field `image`.
    fileprivate mutating func add(
        _ files: [(itemKey: String, isThere: (before: Bool, after: Bool))], _ store: ColumnStore
    ) {
        let field = FieldTable.shownName(of: FieldTable.attachmentName)
        let known = NameSet(updated.lazy.filter { $0.field == field }.map(\.itemKey))
        for file in files where !known.contains(file.itemKey) {
            guard let row = store.row(ofKey: file.itemKey), file.isThere.before || file.isThere.after else { continue }
            updated.append(
                Update(
                    itemKey: file.itemKey, name: store.title(row) ?? "", field: field,
                    old: file.isThere.before ? .string("a picture") : nil,
                    new: file.isThere.after ? .string(file.isThere.before ? "another picture" : "a picture") : nil,
                    isPicture: true))
        }
    }
}
