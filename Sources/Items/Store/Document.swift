import ColumnEngine
package import Platform

/// What a store was opened from: what its loading found, whether its archive lacks commits, and the save under way.
final class Document {
    private let columns: ColumnStore
    /// The persistence, if it maintains an archive of all items.
    private let persistence: (any DocumentPersistence)?
    /// Whether there are commits that the archive does not have; false without an archive.
    private(set) var lacksCommits = false
    /// When the last commit was made; nil before the first one.
    private(set) var lastCommit: MonotonicTime?
    private var isSaving = false
    /// The result of opening, with the damage found since.
    private(set) var loadReport = ItemLoadReport()
    /// Called with a text for the user if a part of the mapped archive turns out to be unreadable.
    var onDamage: ((String) -> Void)?

    init(_ persistence: (any DocumentPersistence)?, of columns: ColumnStore) {
        (self.persistence, self.columns) = (persistence, columns)
        // Weak: it has the columns, and a persistence may have them, too.
        columns.document.remembersCopies = { [weak self] in self?.holdsMoreThanFields == true }
        columns.document.onDamage = { [weak self] text in
            self?.loadReport.notices.append(text)
            self?.onDamage?(text)
        }
    }

    /// Whether there is an archive to be written.
    var isArchived: Bool { persistence != nil }
    var archivePath: String? { persistence?.archivePath }
    /// Whether the archive stores more of an item than its fields.
    var holdsMoreThanFields: Bool { persistence?.holdsMoreThanFields == true }
    var canBeReplaced: Bool { persistence?.canReplace == true }
    var isJournalLong: Bool { !isSaving && persistence?.isJournalLong == true }

    /// What the archive has in fields of items and their values do not: see ``UnheldObjects``.
    func unheldObjects(of rows: [UInt32]) throws(StoreError) -> [UnheldObjects] {
        UnheldObjects.all(try persistence?.unheldObjects(of: rows, in: columns) ?? [], columns)
    }

    /// Records the result of opening.
    ///
    /// - Parameters:
    ///   - report: the result.
    ///   - isShared: whether the items may come from a server, so that an archive has yet to be made of them.
    func wasLoaded(_ report: ItemLoadReport, isShared: Bool) {
        loadReport = report
        guard let persistence else { return }
        let isNew = isShared && !persistence.hasArchive && columns.count > 0
        lacksCommits = report.replayedRecords > 0 || report.isSalvaged || isNew
    }

    /// Records a commit, which the archive does not have.
    func didCommit() {
        lacksCommits = persistence != nil
        lastCommit = .now()
    }

    func checkNotSaving() throws(StoreError) {
        if isSaving { throw StoreError(.inputOutput, "a save is under way: wait for its end") }
    }

    /// Takes a snapshot to be saved, of the committed items.
    ///
    /// - Returns: nil if the archive is up to date, or there is none.
    func beginSave(at revision: ItemRevision) throws(StoreError) -> ItemStoreSave? {
        guard let persistence, lacksCommits || !persistence.hasArchive, persistence.canReplace else { return nil }
        let replacement = try persistence.beginReplacement(ItemSnapshot(columns), at: revision)
        isSaving = true
        columns.beginSave()
        return ItemStoreSave(replacement: replacement, version: columns.version, count: columns.count)
    }

    /// Replaces the archive with the one that was written, or abandons it.
    func finish(_ save: ItemStoreSave, _ result: Result<Void, StoreError>) throws(StoreError) {
        guard isSaving else { return }
        isSaving = false
        var isDone = false
        defer { columns.endSave(succeeded: isDone) }
        switch result {
        case .failure(let error):
            persistence?.abandon(save.replacement)
            throw error
        case .success:
            try persistence?.finish(save.replacement)
            isDone = true
            // Changes made while the archive was written are in the new journal.
            if columns.version == save.version { lacksCommits = false }
        }
    }
}

/// A save in progress: ``write()`` may run on any thread.
package struct ItemStoreSave: Sendable {
    let replacement: any ItemReplacement
    let version: UInt64
    /// The number of saved items.
    package let count: Int

    /// Writes the new archive beside the old one. Accesses nothing else.
    package func write() -> Result<Void, StoreError> {
        do throws(StoreError) {
            try replacement.write()
            return .success(())
        } catch {
            return .failure(error)
        }
    }
}

extension ItemStore {
    /// The path of the archive; nil for a store without one.
    package var archivePath: String? { document.archivePath }

    /// The result of opening.
    package var loadReport: ItemLoadReport { document.loadReport }

    /// Whether there are changes, committed or not, that the archive does not have; without an archive, whether there
    /// are uncommitted changes.
    public var hasChanges: Bool { document.lacksCommits || columns.hasChanges }

    /// When this store made its last commit; nil before the first one.
    package var lastCommit: MonotonicTime? { document.lastCommit }

    /// Whether the journal is long enough to make rewriting the archive worthwhile: longer than 256 MB and than twice
    /// the archive.
    package var isJournalLong: Bool { document.isJournalLong }

    /// Records the source of a copy, if the archive stores more than its fields.
    ///
    /// - Returns: the key that the copy must get; nil for any.
    func recordCopy(of source: String) -> String? {
        guard document.holdsMoreThanFields else { return nil }
        let copy = columns.keySource.uuid().uuidString
        columns.document.recordCopy(of: source, as: copy)
        return copy
    }

    /// Writes all items to the archive, atomically and durably, and starts a new journal; waits until it is done.
    ///
    /// - Returns: whether there was anything to write: false if the archive is up to date, and for a store without one.
    /// - Throws: `StoreError`: `inputOutput`, `readOnly`, `transactionInProgress`. The old archive and the journal are
    ///   then intact, nothing is lost, and a later save may succeed.
    @discardableResult
    public func saveChanges() throws(StoreError) -> Bool {
        guard let save = try beginSave() else { return false }
        let result = save.write()
        try finish(save, result)
        return true
    }

    /// Takes a snapshot to be saved. Like ``saveChanges()``, for a host that writes the archive on another thread.
    /// Commits may be made meanwhile; ``finish(_:_:)`` ends the save.
    ///
    /// - Returns: nil if the archive is up to date, or the store has none.
    package func beginSave() throws(StoreError) -> ItemStoreSave? {
        // A shared collection is saved here even while it cannot be changed.
        if isReadOnly, !replica.isShared || columns.hasChanges || !document.canBeReplaced { throw readOnlyError }
        try checkNoTransaction("saving")
        try document.checkNotSaving()
        // Reported at the end: an observer's changes are not part of this save.
        defer { publishCommits() }
        try commit(.change)
        if isConnected { try applyRemoteCommits() }
        return try document.beginSave(at: revision)
    }

    /// Ends a save on the store's thread: replaces the old archive with the new one and starts its journal.
    ///
    /// - Throws: `StoreError` with `inputOutput`, including a failure to write.
    package func finish(_ save: ItemStoreSave, _ result: Result<Void, StoreError>) throws(StoreError) {
        try document.finish(save, result)
    }
}
