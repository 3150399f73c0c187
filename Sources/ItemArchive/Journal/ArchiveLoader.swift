import ColumnEngine
import Files
import PropertyList

/// What loading a store's folder found, besides the items.
struct LoadedArchive {
    var report = ItemLoadReport()
    var archive = ArchiveInPlace()
    /// The form of the items.
    var schema: ArchiveSchema
    var journal: ArchiveJournal
    /// Whether the archive has content that the store does not hold, so that it is kept at its first replacement.
    var keepsOriginal = false
}

/// Reads the archive of a folder, then the journal's records that are not in it.
struct ArchiveLoader {
    private let folder: ArchiveFolder
    private let items: ItemLoader
    private let options: Options
    private var loaded: LoadedArchive
    /// The archive and the journal as they were read.
    private var files = Found()

    struct Options {
        /// Whether to change no file.
        let isReadOnly: Bool
        /// Archives of fewer items are read as a whole, and get no index.
        let mappedFrom: Int
        /// Whether to open the readable part of an archive that is damaged and shorter than another file says.
        let opensCutArchive: Bool
    }

    private struct Found {
        var archive: PropertyListStorage?
        var mapped = MappedArchive()
        var identity = ArchiveIdentity.none
        var journal: [UInt8]?

        var isMismatched: Bool {
            guard let journal else { return false }
            return journal.withUnsafeBytes { bytes in
                guard let scan = try? JournalScan(bytes) else { return false }
                return scan.records(following: identity, in: bytes) == nil
            }
        }
    }

    /// - Parameters:
    ///   - folder: the folder.
    ///   - schema: that of a new archive.
    ///   - items: the loader of the empty store.
    ///   - options: what to do.
    init(_ folder: ArchiveFolder, _ schema: ArchiveSchema, into items: ItemLoader, _ options: Options) {
        (self.folder, self.items, self.options) = (folder, items, options)
        let journal = ArchiveJournal(folder, layout: JournalHeader.layout(of: schema.schema))
        loaded = LoadedArchive(schema: schema, journal: journal)
    }

    /// The form of the items.
    var schema: ArchiveSchema { loaded.schema }

    /// The fields of every item.
    private var fields: ItemSchema { loaded.schema.schema }

    /// Reads the archive; called once, before ``loadJournal()``.
    ///
    /// - Parameters:
    ///   - turn: the order of the index's writers.
    ///   - damage: records the parts of a mapped archive that turn out to be unreadable, now or later.
    ///   - onDamage: called with each that the store finds, in words.
    /// - Throws: `corruptArchive` if the archive is unreadable, or missing although the journal or the index refers to
    ///   one; `newerFormat`, unless read-only; `inputOutput`.
    mutating func loadArchive(
        _ turn: ItemIndexTurn, _ damage: ArchiveDamage, onDamage: @escaping (String) -> Void
    ) throws(StoreError) {
        files = try readFiles()
        // While another process saves, archive and journal may be of two moments: read again.
        var attempts = 0
        while options.isReadOnly, attempts < 3, files.isMismatched {
            files = try readFiles()
            attempts += 1
        }
        try folder.check(files.journal, fields, isReadOnly: options.isReadOnly)
        try checkExistence()
        // A journal, or an empty archive, shows that the folder already was a store's.
        if files.archive == nil, files.journal == nil {
            if options.isReadOnly {
                if let other = try folder.otherEdition(fields, &loaded.report) {
                    files.archive = PropertyListStorage(other)
                    files.identity = ArchiveIdentity(of: other)
                }
            } else if try folder.adoptOtherEdition(fields, &loaded.report) {
                files = try readFiles()
            }
        }
        loaded.archive = ArchiveInPlace(files.identity, exists: files.archive != nil, files.mapped)
        // An empty file means a first run, like a missing one, unless another file refers to an archive.
        if let archive = files.archive, archive.bytes.count > 0, !map(archive, damage, onDamage) {
            try read(archive)
            if loaded.report.archivedItems >= options.mappedFrom { makeIndex(archive, turn) }
        }
    }

    /// Applies the journal's records to the items.
    ///
    /// - Returns: what was found, of the archive, too.
    /// - Throws: `inputOutput`.
    mutating func loadJournal() throws(StoreError) -> LoadedArchive {
        try readJournal()
        return loaded
    }

    private func readFiles() throws(StoreError) -> Found {
        let (path, journalPath, layer) = (folder.archivePath, folder.journalPath, folder.layer)
        return try attempt { () throws(FileError) in
            var files = Found()
            if try layer.status(journalPath) != nil { files.journal = try layer.contents(of: journalPath) }
            guard try layer.status(path) != nil else { return files }
            let file = try layer.open(path, .read)
            defer { layer.close(file) }
            let status = try layer.status(file)
            let mapped = try layer.map(file)
            files.mapped = MappedArchive(mapped, status)
            let bytes = mapped.withUnsafeBytes { $0 }
            // The storage retains the mapping, and so keeps the addresses valid.
            files.archive = PropertyListStorage(adopting: bytes) { _ in extendLifetime(mapped) }
            // Read through the mapping, each sample would load sixteen pages.
            files.identity = try ArchiveIdentity(of: file, size: bytes.count, using: layer)
            return files
        }
    }

    // MARK: The archive

    /// Opens an archive with an index, without reading it.
    private mutating func map(
        _ storage: PropertyListStorage, _ damage: ArchiveDamage, _ onDamage: @escaping (String) -> Void
    ) -> Bool {
        guard let indexPath = folder.indexPath, let file = try? folder.layer.open(indexPath, .read) else {
            return false
        }
        defer { folder.layer.close(file) }
        guard let mapped = try? folder.layer.map(file) else { return false }
        return mapped.withUnsafeBytes { bytes in
            guard let index = ItemIndexFile(bytes, fields), index.archive == files.identity,
                index.count >= options.mappedFrom,
                index.knowsThatAllFit || files.identity.size <= OriginalArchive.maximumBytes,
                let slots = index.slots(in: bytes, keeper: mapped),
                let archived = try? MappedItems(
                    storage, index.schema, fieldNames: fields.names + index.customFields),
                archived.count == index.count
            else { return false }
            items.map(archived, index, slots, index.numbers(in: bytes, keeper: mapped), damage, onDamage: onDamage)
            loaded.schema = index.schema
            loaded.report.archivedItems = index.count
            return true
        }
    }

    /// Makes a missing index of an archive for the next opening, on its own thread.
    private func makeIndex(_ storage: PropertyListStorage, _ turn: ItemIndexTurn) {
        // Contents beyond the items would go unnoticed in a mapped archive.
        guard let indexPath = folder.indexPath, !options.isReadOnly, !loaded.keepsOriginal,
            loaded.report.notices.isEmpty
        else { return }
        let snapshot = items.snapshot()
        let (schema, identity, layer) = (loaded.schema, files.identity, folder.layer)
        _ = WorkerThread {
            guard let draft = ItemIndexDraft(snapshot, schema) else { return }
            let bytes = draft.file(of: identity, Checksum.hash(storage.bytes))
            guard let file = try? AtomicFileWriter(indexPath, using: layer, permissions: 0o600),
                (try? file.append(bytes)) != nil
            else { return }
            turn.ifOpen { try? file.commit(durable: false) }
        }
    }

    private mutating func read(_ storage: PropertyListStorage) throws(StoreError) {
        var found: ItemArchiveReader?
        var failure: PropertyListError?
        // What the text of an archive in XML has otherwise than it is read.
        var findings: [PropertyListFinding] = []
        do throws(PropertyListError) {
            let isBinary = storage.bytes.prefix(6).elementsEqual("bplist".utf8)
            let reader =
                isBinary
                ? try BinaryPropertyListReader(storage)
                : try BinaryPropertyListReader(
                    try PropertyListValue(decoding: Array(storage.bytes), findings: &findings).encoded(as: .binary))
            var archived = ItemArchiveReader(items, reader, files.identity)
            try archived.read()
            archived.keepForeign()
            found = archived
        } catch {
            failure = error
        }
        if failure != nil || found.map({ !$0.report.damage.isEmpty }) ?? true { try checkLength(of: storage) }
        // Nothing of a nonempty archive was readable: try without its object table or its root.
        if failure != nil || found.map({ $0.report.count == 0 && !$0.report.damage.isEmpty }) ?? true {
            found = salvage(storage)
        }
        guard let found else {
            throw StoreError(
                .corruptArchive,
                "\(DisplayPath.abbreviate(folder.archivePath)) cannot be read as an archive of items: "
                    + "\(failure?.message ?? "nothing of it is whole"); cubby check says more",
                path: folder.archivePath, cause: failure)
        }
        let archived = found.report
        if archived.count > 0 {
            let name = loaded.schema.className
            loaded.schema = archived.schema
            if loaded.schema.form == .propertyList { loaded.schema.className = name }
        }
        loaded.report.archivedItems = archived.count
        loaded.report.notices += archived.notices
        loaded.report.remarks += archived.remarks
        if failure == nil, archived.damage.isEmpty {
            if archived.leavesSomethingOut || archived.hasOtherForms { loaded.schema.original = found.original }
            let said = findings.map { finding in
                let line = finding.line.map { ", line \($0)" } ?? ""
                return "\(PathText.name(of: folder.archivePath))\(line): \(finding.message)"
            }
            let losses = archived.leftOut + archived.mixedForms + said
            loaded.keepsOriginal =
                (archived.leavesSomethingOut || !losses.isEmpty) && loaded.schema.original == nil || !said.isEmpty
            if loaded.schema.original != nil { loaded.report.remarks += archived.hiddenElements }
            if loaded.keepsOriginal {
                loaded.report.notices += losses
                if !options.isReadOnly {
                    let folder = folder
                    let path = try attempt { () throws(FileError) in
                        try folder.quarantinePath(ArchiveFolder.originalName)
                    }
                    loaded.report.notices.append(
                        "the first save keeps the archive as it is now as \(PathText.name(of: path))")
                }
            }
        } else {
            loaded.report.notices += archived.leftOut
            try keepDamaged(storage, archived, failure)
        }
    }

    /// The items of an archive whose object table or root is unreadable; nil if none are found.
    private func salvage(_ storage: PropertyListStorage) -> ItemArchiveReader? {
        guard let salvage = PropertyListSalvage(storage.bytes) else { return nil }
        for mode in [ItemArchiveReader.Mode.items, .withoutRoot] {
            var archived = ItemArchiveReader(items, salvage.reader, files.identity, mode)
            try? archived.read()
            archived.keepForeign()
            if archived.report.count > 0 { return archived }
        }
        return nil
    }

    /// Quarantines a copy of a damaged archive before a save replaces it, and reports it.
    private mutating func keepDamaged(
        _ storage: PropertyListStorage, _ archived: ItemArchiveReport, _ failure: PropertyListError?
    ) throws(StoreError) {
        loaded.report.isSalvaged = true
        let reasons = (failure.map { [$0.message] } ?? []) + archived.damage
        var text = "\(DisplayPath.abbreviate(folder.archivePath)) is damaged: \(archived.count) items were read"
        if archived.damagedItems > 0 { text += ", \(archived.damagedItems) are lost or lack something" }
        text += " (\(reasons.joined(separator: "; ")))"
        guard !options.isReadOnly else {
            loaded.report.notices.append(text + "; it is left as it is")
            return
        }
        let folder = folder
        try quarantine(text + "; it is") { () throws(FileError) in
            // If it was opened before without a save, the copy exists already.
            let name = ArchiveFolder.damagedName
            let path = try folder.quarantinePath(name)
            if let last = try folder.previous(name),
                try folder.layer.contents(of: last).elementsEqual(storage.bytes)
            {
                return last
            }
            try AtomicFile.write(storage.bytes, to: path, using: folder.layer)
            return path
        }
    }

    /// Puts something aside, and reports it.
    private mutating func quarantine(
        _ text: String, _ put: () throws(FileError) -> String
    ) throws(StoreError) {
        let path = try attempt(put)
        loaded.report.notices.append("\(text) kept as \(PathText.name(of: path))")
        loaded.report.quarantinedFiles.append(path)
    }

    // MARK: The journal

    private mutating func readJournal() throws(StoreError) {
        guard let bytes = files.journal, !bytes.isEmpty else { return }
        let scan: JournalScan
        do throws(StoreError) {
            scan = try bytes.withBytes { bytes throws(StoreError) in try JournalScan(bytes) }
        } catch {
            return try keepJournal(as: "items.journal.torn", error.message)
        }
        let identity = files.identity
        let own = bytes.withUnsafeBytes { scan.records(following: identity, in: $0) }
        let isTolerant = own == nil && loaded.report.isSalvaged
        guard let records = own ?? (isTolerant ? scan.records(followingDamaged: identity) : nil) else {
            return try keepOtherJournal(scan, bytes)
        }
        if let declared = bytes.withUnsafeBytes({ scan.declarations(of: identity, in: $0) }) {
            do throws(StoreError) { try declare(bytes, declared) } catch {
                return try keepJournal(as: "items.journal.torn", error.message)
            }
        }
        let usable = replay(records, scan, bytes, isTolerant: isTolerant)
        defer {
            if usable.skipped > 0 {
                loaded.report.notices.append(
                    "\(usable.skipped) changes of the journal are about items that the damaged archive lost")
            }
        }
        let folder = folder
        func writer() throws(FileError) -> JournalWriter {
            try JournalWriter(folder.journalPath, scan.header, usable.next, length: usable.length, using: folder.layer)
        }
        var journal: JournalWriter?
        if let damage = usable.damage {
            // Trailing zeros are reserved space.
            let used = bytes.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
            let tail = Array(bytes[usable.length..<max(usable.length, used)])
            let loss = "\(tail.count) bytes at the end of the journal cannot be used: \(damage)"
            if options.isReadOnly {
                loaded.report.notices.append("\(loss); they are left as they are")
            } else {
                try quarantine("\(loss); they are") { () throws(FileError) in
                    let path = try folder.quarantinePath("items.journal.torn")
                    try AtomicFile.write(tail, to: path, using: folder.layer)
                    let cut = try writer()
                    try cut.cut()
                    journal = cut
                    return path
                }
            }
        } else if !options.isReadOnly {
            journal = try attempt(writer)
        }
        loaded.journal = ArchiveJournal(
            folder, layout: JournalHeader.layout(of: fields), journal, nextSequence: usable.next)
        loaded.report.revision = ItemRevision(rawValue: usable.next &- 1)
    }

    /// Quarantines the journal of another archive: somebody put the archive there. The fields are the container's, and
    /// what was declared of them holds.
    private mutating func keepOtherJournal(_ scan: JournalScan, _ bytes: [UInt8]) throws(StoreError) {
        let commits = scan.records.count { $0.kind == .changes }
        var reason = "the journal follows another archive than items.archive"
        if commits > 0 {
            let (verb, pronoun) = commits == 1 ? ("is", "it") : ("are", "them")
            reason +=
                ", and its \(commits.counted("commit")) \(verb) not applied (cubby inspect shows \(pronoun); with that "
                + "archive in its place again, and the journal under its own name, a launch applies \(pronoun))"
        }
        let inherited = bytes.withUnsafeBytes { scan.lastDeclarations(in: $0, fields) }
        guard !inherited.isEmpty else { return try keepJournal(as: "items.journal.other", reason) }
        try keepJournal(as: "items.journal.other", reason + "; the fields declared in it stay declared")
        try items.declare(inherited)
        loaded.journal = ArchiveJournal(folder, layout: JournalHeader.layout(of: fields), inheriting: inherited)
    }

    /// Declares the fields of a record.
    private func declare(_ bytes: [UInt8], _ payload: Range<Int>) throws(StoreError) {
        let declarations = try bytes.withBytes { bytes throws(StoreError) in
            var reader = RecordReader(UnsafeRawBufferPointer(rebasing: bytes[payload]))
            return try FieldDeclarations(record: try reader.value())
        }
        try items.declare(declarations)
    }

    /// Applies records to the store, up to the first unusable one.
    ///
    /// - Returns: the size of the usable ones, the number of the next record, why the rest is unusable, and the number
    ///   of changes of missing items.
    private mutating func replay(
        _ records: [JournalScan.Record], _ scan: JournalScan, _ bytes: [UInt8], isTolerant: Bool
    ) -> (length: Int, next: UInt64, damage: String?, skipped: Int) {
        var skipped = 0
        for record in records {
            do throws(StoreError) {
                skipped += try bytes.withBytes { bytes throws(StoreError) in
                    try items.replay(UnsafeRawBufferPointer(rebasing: bytes[record.payload]), isTolerant: isTolerant)
                }
                loaded.report.replayedRecords += 1
            } catch {
                return (record.offset, record.sequence, error.message, skipped)
            }
        }
        return (scan.intactLength, scan.nextSequence, scan.damage, skipped)
    }

    /// Quarantines a whole journal: none of it is usable.
    private mutating func keepJournal(as name: String, _ reason: String) throws(StoreError) {
        guard !options.isReadOnly else {
            loaded.report.notices.append("\(reason); it is left as it is")
            return
        }
        let folder = folder
        try quarantine("\(reason); it is") { () throws(FileError) in
            let path = try folder.quarantinePath(name)
            try folder.layer.rename(folder.journalPath, to: path)
            try folder.layer.syncDirectory(folder.path)
            return path
        }
    }
}

/// An archive is replaced as a whole, by rename. A missing, empty or truncated one was lost by other means; an opening
/// must not prevent its recovery.
extension ArchiveLoader {
    /// The file that refers to an archive.
    private enum Witness: String {
        case journal = "the journal follows"
        case index = "items.index belongs to"
    }

    /// Refuses to open without the archive that the journal follows or, without a readable journal, that the index
    /// belongs to. A journal that follows none is complete by itself.
    private func checkExistence() throws(StoreError) {
        if let archive = files.archive, archive.bytes.count > 0 { return }
        let known: ArchiveIdentity
        let witness: Witness
        if let header = try? files.journal?.withBytes({ bytes throws(StoreError) in try JournalHeader(bytes) }) {
            (known, witness) = (header.archive, .journal)
        } else if let index = folder.archiveOfIndex(fields) {
            (known, witness) = (index, .index)
        } else {
            return
        }
        guard known != .none else { return }
        let state = files.archive == nil ? "missing" : "empty (0 bytes)"
        throw folder.loss(
            "\(state), and \(witness.rawValue) one of \(known.size) bytes",
            "to begin without it, move \(witness == .journal ? "items.journal" : "items.index") away")
    }

    /// Refuses to open a damaged archive that is shorter than the journal or the index says, if the user has to decide
    /// what to do.
    private func checkLength(of archive: PropertyListStorage) throws(StoreError) {
        guard !options.opensCutArchive else { return }
        let known: [ArchiveIdentity]
        var witness = Witness.journal
        if let journal = files.journal,
            let scan = try? journal.withBytes({ bytes throws(StoreError) in try JournalScan(bytes) })
        {
            known = journal.withUnsafeBytes { [scan.header.archive] + scan.checkpoints(in: $0).map(\.archive) }
        } else {
            known = folder.archiveOfIndex(fields).map { [$0] } ?? []
            witness = .index
        }
        let present = ArchiveIdentity(of: archive.bytes)
        guard !known.contains(present), let size = known.map(\.size).max(), size > present.size else { return }
        throw folder.loss(
            "cut short: it has \(present.size) bytes, and \(witness.rawValue) one of \(size)",
            "cubby check --repair saves what can still be read of it")
    }
}
