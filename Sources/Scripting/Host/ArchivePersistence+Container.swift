public import Application
public import ItemArchive

extension ArchivePersistence {
    /// The archive in `Documents` of an opened container.
    ///
    /// The host removes leftovers. A truncated archive is not opened, so that a backup can be restored.
    public convenience init(of opened: OpenedContainer) {
        self.init(
            folder: opened.container.documents, using: opened.files, isReadOnly: opened.isReadOnly,
            indexFolder: opened.container.caches, removesLeftovers: false, opensCutArchive: false, lock: opened.lock)
        newEntries = opened.newEntries
    }
}
