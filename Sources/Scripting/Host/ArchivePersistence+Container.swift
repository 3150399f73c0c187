public import Application
public import ItemArchive

extension ArchivePersistence {
    /// The archive in the Documents of a container that a host has opened.
    ///
    /// Leftovers are the host's to remove, and a damaged archive that is cut short is not opened, so that a backup can be put
    /// back.
    public convenience init(of opened: OpenedContainer) {
        self.init(
            folder: opened.container.documents, using: opened.files, isReadOnly: opened.isReadOnly,
            indexFolder: opened.container.caches, removesLeftovers: false, opensCutArchive: false, lock: opened.lock)
    }
}
