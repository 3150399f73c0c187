import Files

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
    func retire(_ names: Set<String>) -> [AttachmentChange] {
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
