package import Application
package import ColumnEngine
package import Files
import ItemArchive
import Items
package import Logging
package import PropertyList

/// Checks the stores of a container: archive, journal, index, pictures, and other files in their folders.
///
/// A check changes nothing and may run beside the container's owner, on the state of that moment. A repair requires the
/// container's lock.
package struct StoreCheck {
    private let container: ApplicationContainer
    private let layer: any FileLayer
    private let pictures: ImageStore
    /// The findings, in the order of the files.
    package private(set) var findings: [StoreFinding] = []
    private var store: ItemStore?
    private let schema: ItemSchema
    /// The form of the archive's items, if they could be read.
    private var form: ArchiveSchema?
    private var orphans: [String] = []
    private var hasBadIndex = false
    /// Whether a newer program wrote the journal, and so is the one to repair something.
    private let hasNewerJournal: Bool
    private var badPreferences: [String] = []

    /// The folder in Documents to which a repair moves pictures without items.
    static let orphanFolder = "Pictures without items"

    /// Checks everything, including the pictures' headers and ends. O(bytes of the archive, the journal and the pictures).
    ///
    /// - Parameters:
    ///   - container: the container.
    ///   - layer: the container's file system, of `ApplicationContainer.openExisting()`.
    ///   - schema: the fields of every item.
    ///   - logger: receives messages about unreadable pictures.
    package init(
        _ container: ApplicationContainer, using layer: any FileLayer, schema: ItemSchema = .household, logger: Logger
    ) {
        self.container = container
        self.schema = schema
        self.layer = layer
        pictures = ImageStore(directory: container.documents, caches: container.caches, using: layer, logger: logger)
        if case .failure(let error)? = Self.journalHeader(in: container, using: layer) {
            hasNewerJournal = error.code == .newerFormat
        } else {
            hasNewerJournal = false
        }
        checkItems()
        checkJournal()
        checkIndex()
        checkPictures()
        checkPreferences()
        checkLeftovers()
        for exposure in ContainerExposure.all(in: container, using: layer) { record(.warning, exposure.description) }
    }

    /// Whether stored data cannot be read.
    package var hasErrors: Bool { findings.contains { $0.severity == .error } }

    /// Whether a repair would change something.
    package var canBeRepaired: Bool { findings.contains { $0.remedy != nil } }

    private mutating func record(_ severity: StoreFinding.Severity, _ message: String, _ remedy: String? = nil) {
        findings.append(StoreFinding(severity, message, remedy: hasNewerJournal ? nil : remedy))
    }

    /// The journal's header, or why there is none; nil without a journal.
    private static func journalHeader(
        in container: ApplicationContainer, using layer: any FileLayer
    ) -> Result<JournalHeader, StoreError>? {
        let path = PathText.join(container.documents, "items.journal")
        guard let bytes = try? layer.contents(of: path), !bytes.isEmpty else { return nil }
        return Result { () throws(StoreError) in
            try bytes.withBytes { bytes throws(StoreError) in try JournalHeader(bytes) }
        }
    }

    /// Whether the journal of a container says that its items have no fields but their key and declared ones.
    package static func hasOwnFields(_ container: ApplicationContainer) -> Bool {
        guard let layer = try? BeneathFileLayer(container.path) else { return false }
        let header = try? journalHeader(in: container, using: layer)?.get()
        return header.map { $0.layout == JournalHeader.layout(of: ItemSchema()) } ?? false
    }

    private func path(_ name: String) -> String { PathText.join(container.documents, name) }
    private var indexPath: String { PathText.join(container.caches, "items.index") }

    // MARK: Checks

    private mutating func checkItems() {
        let persistence = ArchivePersistence(folder: container.documents, using: layer, isReadOnly: true)
        do throws(StoreError) {
            let opened = try ItemStore.open(persistence, schema: schema)
            let report = opened.loadReport
            let records = report.replayedRecords
            let commits = records.counted("commit")
            record(
                .note,
                persistence.hasArchive
                    ? "items.archive: \(Self.items(report.archivedItems)); with \(commits) of the journal "
                        + Self.items(opened.count)
                    : "items.archive: none yet; \(commits) of the journal give \(Self.items(opened.count))")
            for notice in report.notices {
                record(
                    .error, notice,
                    report.isSalvaged
                        ? "keep the damaged file beside, and save the items that could be read"
                        : "keep beside what cannot be used")
            }
            for misfits in opened.misfits() {
                record(misfits.isOnlyNil ? .note : .warning, "\(misfits): carried as it is, until it is changed")
            }
            for notice in opened.declarationNotices { record(.warning, notice) }
            for remark in report.remarks { record(.warning, remark) }
            form = persistence.schema
            store = opened
        } catch {
            record(.error, error.message)
        }
    }

    private mutating func checkJournal() {
        guard let bytes = try? layer.contents(of: path("items.journal")), !bytes.isEmpty else { return }
        let scan = try? bytes.withBytes { bytes throws(StoreError) in try JournalScan(bytes) }
        guard let scan else { return }
        let count = scan.records.count { $0.kind == .changes }
        record(.note, "items.journal: \(count.counted("record")), \(scan.intactLength) bytes")
    }

    private mutating func checkIndex() {
        guard let bytes = try? layer.contents(of: indexPath) else { return }
        guard let archive = try? layer.contents(of: path("items.archive")) else { return }
        let remedy = "remove the index; the next save makes one"
        bytes.withUnsafeBytes { bytes in
            guard let header = ItemIndexFile(bytes, schema) else {
                hasBadIndex = true
                return record(.warning, "items.index is damaged: the archive is read whole when it is opened", remedy)
            }
            guard header.archive == ArchiveIdentity(of: archive) else {
                hasBadIndex = true
                return record(.warning, "items.index belongs to another archive, and is not used", remedy)
            }
            if Checksum.hash(archive) != header.archiveChecksum {
                record(
                    .error,
                    "items.archive is not as it was written: its checksum differs. Items that it still gives may be wrong"
                )
            } else if header.slots(in: bytes, keeper: nil)?.isWhole != true {
                hasBadIndex = true
                record(
                    .warning, "the table of items.index is damaged in part: a look there reads the keys of all items",
                    remedy)
            } else if !header.numbers(in: bytes, keeper: nil).allSatisfy({ $0?.isWhole ?? true }) {
                hasBadIndex = true
                record(
                    .warning, "the numbers of items.index are damaged in part: those are read from the archive", remedy)
            } else {
                record(.note, "items.index: matches, and the archive's checksum is right")
            }
        }
    }

    private mutating func checkPictures() {
        guard let store else { return }
        guard let keys = try? pictures.keys(), let known = (try? pictures.attachments.keys()).map({ NameSet($0) })
        else {
            return
        }
        // Another file is a picture only if an item names it.
        orphans = keys.filter { !store.namesAttachment($0) }
        let present = known.filter(store.namesAttachment).sorted()
        let count = orphans.count + present.count
        if count > 0 { record(.note, count.counted("picture")) }
        for key in orphans {
            record(.warning, "the picture \(key) has no item", "move it to Documents/\(Self.orphanFolder)")
        }
        let removed = Set(pictures.attachments.removedKeys)
        for key in removed.sorted() where store.namesAttachment(key) && !known.contains(key) {
            let folder = pictures.attachments.removedFolder
            record(.warning, "the picture of item \(key) is in \(folder): the next launch brings it back")
        }
        var named = store.listedAttachments
        // An item without a listed picture implies one only if its key is the picture's.
        if let form, form.itemKeyKey == schema.imageKeyName {
            let listing = Set(named.map(\.position))
            for position in 0..<store.count where !listing.contains(position) {
                guard let key = try? store[position]?.itemKey, !form.keylessItems.contains(ExactText(key)) else {
                    continue
                }
                named.append((position, key))
            }
            named.sort { $0.position < $1.position }
        }
        let missing = named.filter { !known.contains($0.name) && !removed.contains($0.name) }
        for (position, picture) in missing.prefix(20) {
            let name = (try? store[position]?.name) ?? ""
            record(.warning, "item \(position + 1), \(name), names the picture \(picture), which is not there")
        }
        if missing.count > 20 {
            record(.warning, "\(missing.count - 20) more pictures that items name are not there")
        }
        checkHeaders(present)
    }

    /// Checks that the files of pictures are pictures, and have their ends.
    private mutating func checkHeaders(_ names: [String]) {
        var failures = 0
        for name in names {
            do throws(ImageError) {
                _ = try BitmapImage.open(path(name), limits: pictures.limits, using: layer, isStored: true)
            } catch {
                failures += 1
                if failures <= 20 {
                    record(.error, "the picture \(name) is there and cannot be read: \(error.message)")
                }
            }
        }
        if failures > 20 { record(.error, "\(failures - 20) more pictures are there and cannot be read") }
    }

    private mutating func checkPreferences() {
        for name in (try? layer.list(container.preferences)) ?? [] where name.hasSuffix(".plist") {
            let preferences = Defaults(
                folder: container.preferences, domain: String(name.dropLast(".plist".count)), using: layer)
            guard let problem = preferences.problem else { continue }
            if case .file = problem {
                record(.error, problem.message)
            } else {
                badPreferences.append(preferences.path)
                record(.error, problem.message, "set the file aside, and begin with no preferences")
            }
        }
    }

    private mutating func checkLeftovers() {
        if pictures.attachments.isWaitingForCommit {
            record(
                .warning, "a process was killed while it committed several pictures",
                "complete that, if the journal has the commit")
        }
        for folder in container.folders {
            for name in (try? layer.list(folder)) ?? [] where TemporaryName.matches(name) {
                record(.warning, "\(name) is the rest of a write that was interrupted", "remove it")
            }
        }
        for name in (try? layer.list(container.documents)) ?? [] {
            let kinds = [
                ("items.journal.torn-", "the end of a journal that could not be used"),
                ("items.journal.other-", "a journal of another archive"),
                ("items.archive.damaged-", "an archive as it was when it was found damaged"),
                ("items.archive.other-", "an archive that another program put in place while this one was in use"),
                ("items.archive.original-", "an archive with more in it than items hold"),
            ]
            guard let kind = kinds.first(where: { name.hasPrefix($0.0) }) else { continue }
            record(.note, "\(name) is kept: \(kind.1). Remove it when you do not need it")
        }
    }

    private static func items(_ count: Int) -> String { count.counted("item") }

    // MARK: Repair

    /// Applies the remedies of the findings.
    ///
    /// - Returns: descriptions of the changes.
    /// - Throws: `FolderLockError` when the container is in use; `StoreError` or `FileError` for a failed remedy;
    ///   earlier changes remain.
    package func repair() throws -> [String] {
        // Opening for writing quarantines unusable files and reports them.
        // By its index, a damaged archive would not be read.
        let persistence = ArchivePersistence(
            folder: container.documents, using: layer, indexFolder: container.caches, mappedFrom: .max)
        try persistence.takeLock()
        var done: [String] = []
        let removed = container.removeLeftovers(using: layer)
        for path in removed { done.append("removed \(PathText.name(of: path))") }
        for path in badPreferences {
            let quarantined = try Defaults.quarantine(path, using: layer)
            done.append("set \(PathText.name(of: path)) aside as \(PathText.name(of: quarantined))")
        }
        if hasBadIndex {
            try layer.remove(indexPath)
            done.append("removed items.index")
        }
        if store != nil {
            let opened = try ItemStore.open(persistence, schema: schema)
            done += opened.loadReport.notices
            if opened.loadReport.isSalvaged || !opened.loadReport.quarantinedFiles.isEmpty, try opened.saveChanges() {
                done.append("saved \(Self.items(opened.count))")
            }
            if pictures.attachments.isWaitingForCommit {
                opened.attachments = pictures.attachments
                opened.attachments = nil
                done.append("ended the commit of pictures that was interrupted")
            }
        }
        // The end of a commit may have removed some.
        let orphans = orphans.filter { layer.exists(path($0)) }
        if !orphans.isEmpty {
            let folder = path(Self.orphanFolder)
            try layer.makeDirectories(folder)
            for key in orphans { try layer.rename(path(key), to: PathText.join(folder, key)) }
            try layer.syncDirectory(folder)
            try layer.syncDirectory(container.documents)
            done.append(
                "moved \(orphans.count.counted("picture")) to Documents/\(Self.orphanFolder)"
            )
        }
        return done
    }
}

/// A finding of a container's check, for its owner.
package struct StoreFinding: Sendable, Hashable {
    /// An error is of stored data that cannot be read; at a warning, of a file that is superfluous or missing, no item
    /// is lost; a note is information.
    package typealias Severity = PropertyListFinding.Severity

    /// The severity.
    package var severity: Severity
    /// The finding.
    package var message: String
    /// The remedy that ``StoreCheck/repair()`` applies; nil for none.
    package var remedy: String?

    /// - Parameters:
    ///   - severity: the severity.
    ///   - message: the finding.
    ///   - remedy: the remedy.
    package init(_ severity: Severity, _ message: String, remedy: String? = nil) {
        self.severity = severity
        self.message = message
        self.remedy = remedy
    }
}
