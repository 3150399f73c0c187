import Files

/// What an undo brings back: bytes that others replaced or that were removed, and those of items that are gone. Their files
/// are kept as long as the history reaches to them, and until the next opening at most; where they were purged, what is there
/// stays.
extension ItemAttachments {
    /// Keeps what is under a key, which stays there: at each moment there is one or the other.
    ///
    /// - Returns: nil when it is not to be kept or cannot be.
    func keepCopy(_ key: String, isKept: Bool) -> AttachmentChange? {
        isKept ? keep(key) { [files] (place, path) throws(FileError) in try files.copy(place, to: path) } : nil
    }

    /// Removes what is under a key; that there is nothing is no error, and no change.
    ///
    /// - Throws: `FileError` when the file cannot be removed; it is where it was then.
    func remove(_ key: String, isKept: Bool) throws(FileError) -> AttachmentChange? {
        let place = files.place(key)
        guard layer.exists(place) else { return nil }
        isUnsynced = true
        if isKept,
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

    /// Items have left the store, or their lists have, which is in the journal: what went with them leaves.
    ///
    /// - Parameter names: the files'; an item in the store may have one of them again.
    /// - Returns: the changes, oldest first. Files that no step needs are removed for good.
    func setAside(_ names: Set<String>) -> [AttachmentChange] {
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

    /// Takes a change back, or does it again: each call is the reverse of the one before.
    func reverse(_ change: AttachmentChange) {
        // What failed has not happened, and there is nothing to reverse.
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

    /// Makes all changes so far survive a power cut, after the journal's records do.
    func synchronize() {
        guard isUnsynced else { return }
        do throws(FileError) {
            try layer.syncDirectory(folder)
            isUnsynced = false
        } catch {
            report(.sync, nil, error)
        }
    }

    /// At opening nothing can be undone any more, so what was kept for it goes; but a process that ended between an undo and
    /// its file's return has left a file whose item is there, and it returns now.
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
