import Files
public import Items
import Logging

/// Pictures that are set or deleted while the item store is in a transaction: they take their places when it is
/// committed. New pictures do before the items that have them are, others after: after a crash between, an item has a
/// picture, old or new, and at worst there is a picture too many, which a check names.
extension ImageStore: TransactionParticipant {
    public func openSavepoint() { transactions.append(ImageTransaction()) }

    public func prepareToCommit() throws(StoreError) {
        guard let innermost = transactions.indices.last else { return }
        var hasPlaced = false
        for (key, change) in transactions[innermost].changes {
            let place = PathText.join(directory, key)
            guard let staged = change.stagedPath, !layer.exists(place) else { continue }
            do throws(FileError) {
                try layer.rename(staged, to: place)
            } catch {
                throw Self.unwritable(error)
            }
            transactions[innermost].changes[key] = .placed
            hasPlaced = true
        }
        // What survives a power cut is never an item alone.
        do throws(FileError) {
            if hasPlaced { try layer.syncDirectory(directory) }
        } catch {
            throw Self.unwritable(error)
        }
    }

    private static func unwritable(_ error: FileError) -> StoreError {
        StoreError(.inputOutput, "a picture cannot be written: \(error.message)", cause: error)
    }

    @discardableResult
    public func closeSavepoint() -> [UInt32] {
        guard let ended = transactions.popLast(), !ended.changes.isEmpty else { return [] }
        var numbers: [UInt32] = []
        if let outer = transactions.indices.last {
            for (key, change) in ended.changes { replace(change, key, in: outer) }
            transactions[outer].keptKeys.formUnion(ended.keptKeys)
            return []
        }
        for (key, change) in ended.changes {
            let place = PathText.join(directory, key)
            let isKept = ended.keptKeys.contains(key)
            switch change {
            case .deleted:
                do throws(ImageError) {
                    if let number = try removeKeeping(forKey: key, isKept: isKept) { numbers.append(number) }
                } catch {
                    logger.error("Error removing the image from disk: \(error.message)")
                }
            case .placed: if let number = keepNothing(forKey: key, isKept: isKept) { numbers.append(number) }
            case .staged(let path):
                let number = keepCopy(forKey: key, isKept: isKept)
                do throws(FileError) {
                    try layer.rename(path, to: place)
                    if let number { numbers.append(number) }
                } catch {
                    if let number { forgetChange(number) }
                    logger.error("the picture \(key) could not be written: \(error.message)")
                    forget(key, path)
                }
            }
        }
        isUnsynced = true
        synchronize()
        return numbers
    }

    public func rollBackSavepoint() {
        guard let ended = transactions.popLast() else { return }
        for (key, change) in ended.changes {
            switch change {
            case .staged(let path): forget(key, path)
            case .placed: forget(key, PathText.join(directory, key))
            case .deleted: continue
            }
        }
    }

    /// What all open transactions together have changed.
    var changesUnderWay: [String: ImageTransaction.Change] {
        transactions.reduce(into: [:]) { $0.merge($1.changes) { _, new in new } }
    }

    /// The file that a key's picture is read from now; nil when it is deleted.
    func currentPath(forKey key: String) -> String? {
        for transaction in transactions.reversed() {
            switch transaction.changes[key] {
            case .deleted: return nil
            case .staged(let path): return path
            case .placed, nil: continue
            }
        }
        return PathText.join(directory, key)
    }

    /// Writes a picture beside its place, where an interrupted write's rests are looked for.
    func stage(_ bytes: [UInt8], _ key: String) throws(FileError) {
        let path = PathText.join(directory, TemporaryName.next())
        do throws(FileError) {
            try AtomicFile.write(bytes, to: path, using: layer)
        } catch {
            // Whole, perhaps, but not known to be on the disk.
            removeFile(path)
            throw error
        }
        note(.staged(path: path), key)
    }

    func note(_ change: ImageTransaction.Change, _ key: String) {
        guard let innermost = transactions.indices.last else { return }
        replace(change, key, in: innermost)
        if keepsReplaced?(key) == true { transactions[innermost].keptKeys.insert(key) }
    }

    private func replace(_ change: ImageTransaction.Change, _ key: String, in index: Int) {
        let earlier = transactions[index].changes.updateValue(change, forKey: key)
        if let path = earlier?.stagedPath { removeFile(path) }
    }

    /// A picture that has not happened: neither its file nor what was made from it stays.
    private func forget(_ key: String, _ path: String) {
        cache.remove(key)
        removeThumbnails(forKey: key)
        removeFile(path)
    }
}
