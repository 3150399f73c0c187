import ColumnEngine

extension ItemStore {
    /// Adds an observer of changes, retained until removed.
    public func addObserver(_ observer: any ItemStoreObserver) {
        observers.append(observer)
        isWatched = true
    }

    /// Removes an observer.
    public func removeObserver(_ observer: any ItemStoreObserver) {
        observers.removeAll { $0 === observer }
        isWatched = !observers.isEmpty || latestCommit != nil
    }

    /// Runs a body and notifies observers of its changes once, by `didChangeMany`, at its end. The `will…` methods are
    /// called as usual. Bulk changes nest: the outermost one notifies.
    public func performBulkChange<Result>(_ body: () throws -> Result) rethrows -> Result {
        beginBulkChange()
        defer { endBulkChange() }
        return try body()
    }

    /// Begins a bulk change; end it with ``endBulkChange()``.
    public func beginBulkChange() {
        if bulkDepth == 0 { bulkChanges = ItemStoreChanges(.bulkChange, []) }
        bulkDepth += 1
    }

    /// Ends a bulk change, and notifies observers after the outermost one.
    public func endBulkChange() {
        guard bulkDepth > 0 else { return }
        bulkDepth -= 1
        if bulkDepth == 0, !bulkChanges.isEmpty { tellMany(bulkChanges) }
    }

    /// Calls each observer in a separate savepoint: if one throws, its changes are rolled back, and the change is
    /// refused.
    func askObservers(_ ask: (any ItemStoreObserver) throws -> Void) throws(StoreError) {
        for observer in observers {
            openSavepoint()
            do {
                try ask(observer)
                closeSavepoint()
            } catch {
                rollBackSavepoint()
                if let error = error as? StoreError, case .vetoed = error.code { throw error }
                let reason = "\(error)"
                throw StoreError(.vetoed(reason: reason), "the change was refused: \(reason)", cause: error)
            }
        }
    }

    func tellInserted(_ row: UInt32) {
        if bulkDepth > 0 {
            bulkChanges.inserted += 1
            return
        }
        let item = item(row: row)
        for observer in observers { observer.itemStore(self, didInsert: item) }
    }

    func tellMany(_ changes: ItemStoreChanges) {
        guard !changes.isEmpty else { return }
        for observer in observers { observer.itemStore(self, didChangeMany: changes) }
    }
}
