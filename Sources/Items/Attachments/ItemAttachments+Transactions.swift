import Files

/// Bytes that are set or removed while the item store is in a transaction: they take their places when it is committed. New
/// ones do before the items that have them are, others after: after a crash between, an item has its bytes, the old or the
/// new, and at worst there is a file too many, which a check names.
extension ItemAttachments {
    func openSavepoint() { transactions.append(AttachmentTransaction()) }

    /// The outermost transaction is about to be committed: the last moment to refuse it, which rolls it back.
    func prepareToCommit() throws(StoreError) {
        guard let innermost = transactions.indices.last else { return }
        do throws(FileError) {
            var hasPlaced = false
            for (key, deed) in transactions[innermost].deeds {
                guard let staged = deed.stagedPath, !layer.exists(files.place(key)) else { continue }
                try layer.rename(staged, to: files.place(key))
                transactions[innermost].deeds[key] = .placed
                hasPlaced = true
            }
            // What survives a power cut is never an item alone.
            if hasPlaced { try layer.syncDirectory(folder) }
        } catch {
            throw StoreError(
                .inputOutput, "what goes with an item cannot be written: \(error.message)", path: error.path,
                cause: error)
        }
    }

    /// The innermost one ends, and its changes stay; those of the outermost have happened.
    ///
    /// - Returns: what can be taken back, oldest first.
    func closeSavepoint() -> [AttachmentChange] {
        guard let ended = transactions.popLast(), !ended.deeds.isEmpty else { return [] }
        if let outer = transactions.indices.last {
            for (key, deed) in ended.deeds { replace(deed, key, in: outer) }
            transactions[outer].keptKeys.formUnion(ended.keptKeys)
            return []
        }
        var changes: [AttachmentChange] = []
        for (key, deed) in ended.deeds {
            let isKept = ended.keptKeys.contains(key)
            switch deed {
            case .removed:
                do throws(FileError) {
                    if let change = try remove(key, isKept: isKept) { changes.append(change) }
                } catch {
                    report(.removal, key, error)
                }
            case .placed: if isKept { changes.append(AttachmentChange(key, nil, in: files)) }
            case .staged(let path):
                let change = keepCopy(key, isKept: isKept)
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
        return changes
    }

    /// The innermost one ends, and its changes have not happened.
    func rollBackSavepoint() {
        guard let ended = transactions.popLast() else { return }
        for (key, deed) in ended.deeds {
            switch deed {
            case .staged(let path): forget(key, path)
            case .placed: forget(key, files.place(key))
            case .removed: continue
            }
        }
    }

    /// What all open transactions together have done.
    var deedsUnderWay: [String: AttachmentTransaction.Deed] {
        transactions.reduce(into: [:]) { $0.merge($1.deeds) { _, new in new } }
    }

    /// The file that a key's bytes are read from now; nil when they are removed.
    package func currentPath(forKey key: String) -> String? {
        noteRead(key)
        return name(forKey: key).flatMap(path(ofFile:))
    }

    /// The same of a file's name.
    func path(ofFile name: String) -> String? {
        for transaction in transactions.reversed() {
            switch transaction.deeds[name] {
            case .removed: return nil
            case .staged(let path): return path
            case .placed, nil: continue
            }
        }
        return files.place(name)
    }

    /// Writes bytes beside their place, where an interrupted write's rests are looked for.
    func stage(_ bytes: [UInt8], _ key: String) throws(FileError) {
        let path = PathText.join(folder, TemporaryName.next())
        do throws(FileError) {
            try AtomicFile.write(bytes, to: path, using: layer)
        } catch {
            // Whole, perhaps, but not known to be on the disk.
            removeStaged(path, key)
            throw error
        }
        note(.staged(path: path), key)
    }

    func note(_ deed: AttachmentTransaction.Deed, _ key: String) {
        guard let innermost = transactions.indices.last else { return }
        replace(deed, key, in: innermost)
        if isNamed(key) { transactions[innermost].keptKeys.insert(key) }
    }

    private func replace(_ deed: AttachmentTransaction.Deed, _ key: String, in index: Int) {
        let earlier = transactions[index].deeds.updateValue(deed, forKey: key)
        if let path = earlier?.stagedPath { removeStaged(path, key) }
    }

    /// Bytes that have not happened.
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
