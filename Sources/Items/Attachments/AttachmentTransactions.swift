import ColumnEngine
import Files
import PropertyList

/// Attachment changes within a transaction of the item store: they take effect at the commit. New files are placed
/// before their items are committed, replacements after.
///
/// The files of a commit with several come and go together, and with its items: they are moved to a folder, with a plan
/// that names the commit, before the first takes its place. After a crash the next opening completes the plan, or takes
/// the new files back if the journal does not have the commit. The only file of a commit needs no plan: a crash leaves
/// the old or the new bytes, and a superfluous file at worst, which a check reports.
extension ItemAttachments {
    /// The folder of the files that wait, and the plan in it: names that no attachment has.
    private var waitingFolder: String { PathText.join(folder, "items.journal.pictures") }
    private var planPath: String { PathText.join(waitingFolder, "items.journal") }
    private static let revisionKey = "Revision"
    private static let newKey = "New"
    private static let removedKey = "Removed"

    func openSavepoint() { transactions.append(AttachmentTransaction()) }

    /// Prepares the commit of the outermost transaction. This is the last chance to refuse it, which rolls it back.
    func prepareToCommit() throws(StoreError) {
        guard let innermost = transactions.indices.last else { return }
        do throws(FileError) {
            let actions = transactions[innermost].actions
            if actions.count > 1, shared == nil { return try prepareTogether(innermost) }
            for (key, action) in actions {
                guard let staged = action.stagedPath, !layer.exists(files.place(key)) else { continue }
                try layer.rename(staged, to: files.place(key))
                transactions[innermost].actions[key] = .placed
                // An item must not survive a power cut without its attachment.
                try layer.syncDirectory(folder)
            }
        } catch {
            throw StoreError(
                .inputOutput, "what goes with an item cannot be written: \(error.message)", path: error.path,
                cause: error)
        }
    }

    /// Moves the files of a commit to the folder where they wait, writes the plan, and places the new ones.
    private func prepareTogether(_ index: Int) throws(FileError) {
        FolderRemover.remove(waitingFolder, using: layer)
        try layer.makeDirectory(waitingFolder, permissions: 0o700)
        waiting = .plan
        var (new, removed) = (PropertyListFields(), PropertyListFields())
        for (key, action) in transactions[index].actions {
            let present = try layer.status(files.place(key))
            if let staged = action.stagedPath {
                let path = PathText.join(waitingFolder, key)
                try layer.rename(staged, to: path)
                transactions[index].actions[key] = .staged(path: path)
                if present == nil, let status = try layer.status(path) { new[key] = Self.identity(status) }
            } else if let present {
                removed[key] = Self.identity(present)
            }
        }
        var plan: PropertyListFields = [Self.newKey: .fields(new), Self.removedKey: .fields(removed)]
        // Without changes of items there is no record, and the plan itself is the commit.
        if columns?.hasChanges == true, let revision {
            plan[Self.revisionKey] = .integer(Int64(bitPattern: revision))
        } else {
            waiting = .commit
        }
        let bytes: [UInt8]
        do throws(PropertyListError) { bytes = try PropertyListValue.fields(plan).encoded(as: .binary) } catch {
            throw FileError(.write, planPath, code: FileLayerCode.invalid, reason: "\(error)")
        }
        try AtomicFile.write(bytes, to: planPath, using: layer)
        try layer.syncDirectory(folder)
        for (key, _) in new {
            try layer.rename(PathText.join(waitingFolder, key), to: files.place(key))
            transactions[index].actions[key] = .placed
        }
        // An item must not survive a power cut without its attachment.
        if !new.isEmpty { try layer.syncDirectory(folder) }
    }

    /// What tells a file from a later one of its name; the same for a copy, as in a backup.
    private static func identity(_ status: FileStatus) -> PropertyListValue { .integer(Int64(status.size)) }

    /// Removes the plan.
    private func endPlan() {
        do throws(FileError) {
            if layer.exists(planPath) { try layer.remove(planPath) }
        } catch {
            report(.removal, nil, error)
        }
    }

    /// Removes the folder of files that waited.
    private func endWaiting() {
        guard waiting != .none else { return }
        waiting = .none
        // Without the plan the rest is of no consequence.
        endPlan()
        FolderRemover.remove(waitingFolder, using: layer)
    }

    /// Whether the files of a killed process's commit wait for the next opening.
    package var isWaitingForCommit: Bool { waiting == .none && layer.exists(waitingFolder) }

    /// Completes the commit of a killed process whose record is in the journal; discards another one's files.
    func completeCommit() {
        guard layer.exists(waitingFolder) else { return }
        waiting = .plan
        defer { endWaiting() }
        guard let bytes = try? layer.contents(of: planPath, limit: 256 << 20),
            let plan = (try? PropertyListValue(decoding: bytes))?.fields
        else { return }
        var isCommitted = true
        if case .integer(let before)? = plan[Self.revisionKey] {
            isCommitted = revision ?? 0 > UInt64(bitPattern: before)
        }
        do throws(FileError) {
            for key in try isCommitted ? layer.list(waitingFolder) : [] where AttachmentKey.isKey(key) {
                try layer.rename(PathText.join(waitingFolder, key), to: files.place(key))
                onChange?(key)
            }
            for (key, identity) in plan[isCommitted ? Self.removedKey : Self.newKey]?.fields ?? [:] {
                guard AttachmentKey.isKey(key), let status = try layer.status(files.place(key)),
                    identity == Self.identity(status)
                else { continue }
                try layer.remove(files.place(key))
                onChange?(key)
            }
        } catch {
            // The next opening goes on.
            waiting = .none
            report(.writing, nil, error)
        }
        isUnsynced = true
        synchronize()
    }

    /// Ends the innermost transaction and keeps its changes; those of the outermost take effect.
    ///
    /// - Returns: the reversible changes.
    func closeSavepoint() -> [AttachmentChange] {
        guard let ended = transactions.popLast(), !ended.actions.isEmpty else { return [] }
        if let outer = transactions.indices.last {
            for (key, action) in ended.actions { replace(action, key, in: outer) }
            transactions[outer].retainedKeys.formUnion(ended.retainedKeys)
            transactions[outer].changeCount += ended.changeCount
            return []
        }
        var changes: [AttachmentChange] = []
        for (key, action) in ended.actions {
            let isRetained = ended.retainedKeys.contains(key)
            switch action {
            case .removed:
                do throws(FileError) {
                    if let change = try remove(key, isRetained: isRetained) { changes.append(change) }
                } catch {
                    report(.removal, key, error)
                }
            case .placed: if isRetained { changes.append(AttachmentChange(key, nil, in: files)) }
            case .staged(let path):
                let change = keepCopy(key, isRetained: isRetained)
                do throws(FileError) {
                    try layer.rename(path, to: files.place(key))
                    if let change { changes.append(change) }
                } catch {
                    report(.writing, key, error)
                    forget(key, path)
                }
            }
        }
        isUnsynced = true
        synchronize()
        endWaiting()
        return changes
    }

    /// Ends the innermost transaction and discards its changes.
    func rollBackSavepoint() {
        guard let ended = transactions.popLast() else { return }
        // After a crash it would complete what is rolled back.
        if waiting == .commit { endPlan() }
        for (key, action) in ended.actions {
            switch action {
            case .staged(let path): forget(key, path)
            case .placed: forget(key, files.place(key))
            case .removed: continue
            }
        }
        if transactions.isEmpty { endWaiting() }
    }

    /// The combined changes of all open transactions.
    var pendingActions: NameTable<AttachmentTransaction.Action> {
        transactions.reduce(into: [:]) { for (name, action) in $1.actions { $0[name] = action } }
    }

    /// The number of changes in the innermost transaction.
    var changeCount: Int { transactions.last?.changeCount ?? 0 }

    /// The number of attachments that open transactions change.
    package var pendingCount: Int { pendingActions.count }

    /// What the innermost transaction changes beside records: the items' keys, and whether an item has the file before and
    /// after.
    var changedFiles: [(itemKey: String, isThere: (before: Bool, after: Bool))] {
        guard let innermost = transactions.last, let columns else { return [] }
        return innermost.actions.compactMap { name, action in
            guard let row = columns.row(ofKey: name) ?? columns.itemNaming(name) else { return nil }
            let isThere = path(ofFile: name, before: 1).map(layer.exists) ?? false
            return (columns.keyString(row), (isThere, action != .removed))
        }
    }

    /// The path from which a key's bytes are currently read; nil if they are removed.
    package func currentPath(forKey key: String) -> String? {
        recordRead(key)
        return name(forKey: key).flatMap { path(ofFile: $0) }
    }

    /// The same for a file name, at most before some of the innermost transactions.
    func path(ofFile name: String, before count: Int = 0) -> String? {
        for transaction in transactions.dropLast(count).reversed() {
            switch transaction.actions[name] {
            case .removed: return nil
            case .staged(let path): return path
            case .placed, nil: continue
            }
        }
        return files.place(name)
    }

    /// Writes bytes beside their final path, where leftovers of interrupted writes are collected.
    func stage(_ bytes: [UInt8], _ key: String) throws(FileError) {
        let path = PathText.join(folder, TemporaryName.next())
        do throws(FileError) {
            try AtomicFile.write(bytes, to: path, using: layer)
        } catch {
            // Possibly complete, but not known to be on the disk.
            removeStaged(path, key)
            throw error
        }
        record(.staged(path: path), key)
    }

    func record(_ action: AttachmentTransaction.Action, _ key: String) {
        guard let innermost = transactions.indices.last else { return }
        if action != .removed || path(ofFile: key).map(layer.exists) ?? false {
            transactions[innermost].changeCount += 1
        }
        replace(action, key, in: innermost)
        if isNamed(key) { transactions[innermost].retainedKeys.insert(key) }
    }

    private func replace(_ action: AttachmentTransaction.Action, _ key: String, in index: Int) {
        let earlier = transactions[index].actions.updateValue(action, forKey: key)
        if let path = earlier?.stagedPath { removeStaged(path, key) }
    }

    /// Discards staged bytes.
    private func forget(_ key: String, _ path: String) {
        removeStaged(path, key)
        onChange?(key)
    }

    func removeStaged(_ path: String, _ key: String) {
        do throws(FileError) {
            try layer.remove(path)
            isUnsynced = true
        } catch {
            if error.code != FileLayerCode.absent { report(.removal, key, error) }
        }
    }
}

/// The attachment changes of a transaction or savepoint; replacements and removals reach the folder at its end.
struct AttachmentTransaction {
    enum Action: Equatable {
        /// New bytes in a temporary file beside their final path.
        case staged(path: String)
        /// New bytes already at their final path, which was free.
        case placed
        case removed

        var stagedPath: String? {
            if case .staged(let path) = self { path } else { nil }
        }
    }

    /// By file name; a later action replaces an earlier one.
    var actions: NameTable<Action> = [:]
    /// The names whose previous content is kept for undo: decided at the change, since items may be gone at the end.
    var retainedKeys: NameSet = []
    /// The number of changes of files.
    var changeCount = 0
}

/// A reversible change to a key's attachment. Holds the previous content or, while the change is undone, the new one.
///
/// Its file is outside of the store's folder and is deleted with the last reference to the change. So neither pruned
/// history nor a released store leaves a file behind.
final class AttachmentChange {
    let key: String
    /// The file; nil when there was none.
    private(set) var path: String?
    /// The file's size.
    private(set) var byteCount = 0
    /// Whether the last reversal failed: the next one has nothing to reverse, and the next opening deals with the file.
    var hasFailed = false
    private let files: AttachmentFiles

    init(_ key: String, _ path: String?, in files: AttachmentFiles) {
        self.key = key
        self.files = files
        moved(to: path)
    }

    deinit {
        files.forgetRemoved(key)
        if let path, !hasFailed { try? files.layer.remove(path) }
    }

    /// Records the file's current path.
    func moved(to path: String?) {
        self.path = path
        byteCount = path.flatMap { try? files.layer.status($0) }?.size ?? 0
        files.record(self, at: path)
    }

    /// Swaps the change's file and the key's file.
    ///
    /// - Parameter isNamed: whether an item currently has a file of this name.
    /// - Returns: false if nothing changed: the file was purged, and the key's file stays.
    /// - Throws: `FileError`; both files are then unchanged.
    func reverse(isNamed: Bool) throws(FileError) -> Bool {
        let layer = files.layer
        let place = files.place(key)
        if let path, !layer.exists(path) { return false }
        var other: String?
        if layer.exists(place) {
            let isRetired = !isNamed && path != files.removedPlace(key)
            other = isRetired ? try files.freeRemovedPlace(key) : try files.freePlace()
        }
        if let path {
            if let other { try files.copy(place, to: other) }
            do throws(FileError) {
                try layer.rename(path, to: place)
            } catch {
                if let other { try? layer.remove(other) }
                throw error
            }
        } else if let other {
            try layer.rename(place, to: other)
        }
        moved(to: other)
        return true
    }
}

/// Undo of attachments: replaced and removed bytes, and those of removed items. Their files are kept while the history
/// refers to them, until the next opening at the latest; if they were purged, an undo leaves the current files.
extension ItemAttachments {
    /// Keeps a copy of a key's file for undo, without a moment in which the key has no file.
    ///
    /// - Returns: nil if it is not to be kept or cannot be.
    func keepCopy(_ key: String, isRetained: Bool) -> AttachmentChange? {
        isRetained ? keep(key) { [files] (place, path) throws(FileError) in try files.copy(place, to: path) } : nil
    }

    /// Removes a key's file. A missing file is not an error, and no change.
    ///
    /// - Throws: `FileError` if the file cannot be removed; it is then unchanged.
    func remove(_ key: String, isRetained: Bool) throws(FileError) -> AttachmentChange? {
        let place = files.place(key)
        guard layer.exists(place) else { return nil }
        isUnsynced = true
        if isRetained,
            let change = keep(key, { [layer] (place, path) throws(FileError) in try layer.rename(place, to: path) })
        {
            return change
        }
        do throws(FileError) {
            try layer.remove(place)
        } catch {
            if error.code != FileLayerCode.absent { throw error }
        }
        return nil
    }

    private func keep(
        _ key: String, _ move: (_ place: String, _ path: String) throws(FileError) -> Void
    ) -> AttachmentChange? {
        let place = files.place(key)
        guard layer.exists(place) else { return AttachmentChange(key, nil, in: files) }
        do throws(FileError) {
            let path = try files.freePlace()
            try move(place, path)
            return AttachmentChange(key, path, in: files)
        } catch {
            report(.keeping, key, error)
            return nil
        }
    }

    /// Moves away the files that removed items or lists had, after the removal is in the journal.
    ///
    /// - Parameter names: the file names; skipped if an item in the store has one again.
    /// - Returns: the changes. Files that no step refers to are deleted.
    func retire(_ names: NameSet) -> [AttachmentChange] {
        self.keys(among: names).sorted().compactMap { key in
            if isNamed(key) { return nil }
            do throws(FileError) {
                let place = try files.freeRemovedPlace(key)
                try layer.rename(files.place(key), to: place)
                isUnsynced = true
                onChange?(key)
                return AttachmentChange(key, place, in: files)
            } catch {
                report(.removal, key, error)
                return nil
            }
        }
    }

    /// Undoes a change, or redoes it: each call reverses the previous one.
    func reverse(_ change: AttachmentChange) {
        // A failed reversal had no effect: there is nothing to reverse.
        if change.hasFailed { return change.hasFailed = false }
        do throws(FileError) {
            guard try change.reverse(isNamed: isNamed(change.key)) else { return }
            isUnsynced = true
            onChange?(change.key)
            synchronize()
        } catch {
            change.hasFailed = true
            report(.reversal, change.key, error)
        }
    }

    /// Makes all changes so far survive a power cut, once the journal's records do.
    func synchronize() {
        guard isUnsynced else { return }
        do throws(FileError) {
            try layer.syncDirectory(folder)
            isUnsynced = false
        } catch {
            report(.sync, nil, error)
        }
    }

    /// Deletes the files kept for undo, since nothing can be undone after opening. An undo that ended before it
    /// restored a file left an item without its file: that file is restored now.
    func settleRemoved() {
        files.removeReplaced()
        for key in files.removedKeys {
            let path = files.removedPlace(key)
            guard isNamed(key), !layer.exists(files.place(key)) else {
                try? layer.remove(path)
                continue
            }
            do throws(FileError) {
                try layer.rename(path, to: files.place(key))
                isUnsynced = true
                onChange?(key)
            } catch {
                report(.reversal, key, error)
            }
        }
        synchronize()
    }
}

/// The changes to attachments since the last commit, oldest first.
struct AttachmentStep {
    private(set) var changes: [AttachmentChange]
    private var keys: NameSet = []

    init(_ changes: [AttachmentChange] = []) {
        self.changes = changes
    }

    var isEmpty: Bool { changes.isEmpty }

    /// Adds a change, unless an earlier one for its key holds the original content: reversing that one is enough.
    mutating func record(_ change: AttachmentChange) {
        if keys.insert(change.key).inserted { changes.append(change) }
    }

    /// Returns the changes and starts a new step.
    mutating func take() -> [AttachmentChange] {
        if isEmpty { return [] }
        defer { self = AttachmentStep() }
        return changes
    }
}
