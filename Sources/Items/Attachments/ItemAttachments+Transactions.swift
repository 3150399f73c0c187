import Files

/// Attachment changes within a transaction of the item store: they take effect at the commit. New files are placed
/// before their items are committed, replacements after. So a crash in between leaves an item with its old or its new
/// bytes, and a superfluous file at worst, which a check reports.
extension ItemAttachments {
    func openSavepoint() { transactions.append(AttachmentTransaction()) }

    /// Prepares the commit of the outermost transaction. This is the last chance to refuse it, which rolls it back.
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
            // An item must not survive a power cut without its attachment.
            if hasPlaced { try layer.syncDirectory(folder) }
        } catch {
            throw StoreError(
                .inputOutput, "what goes with an item cannot be written: \(error.message)", path: error.path,
                cause: error)
        }
    }

    /// Ends the innermost transaction and keeps its changes; those of the outermost take effect.
    ///
    /// - Returns: the reversible changes.
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

    /// Ends the innermost transaction and discards its changes.
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

    /// The combined changes of all open transactions.
    var deedsUnderWay: [String: AttachmentTransaction.Deed] {
        transactions.reduce(into: [:]) { $0.merge($1.deeds) { _, new in new } }
    }

    /// The path from which a key's bytes are currently read; nil if they are removed.
    package func currentPath(forKey key: String) -> String? {
        noteRead(key)
        return name(forKey: key).flatMap(path(ofFile:))
    }

    /// The same for a file name.
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
