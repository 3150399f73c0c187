public import ColumnEngine
import Files
import PropertyList

extension ArchivePersistence {
    /// Reads the archive, then the journal's records that are not in it.
    ///
    /// - Throws: `inUse` if another owner has the folder; `corruptArchive` if the archive is unreadable, or missing
    ///   although the journal or the index refers to one; `newerFormat`, unless read-only; `inputOutput`.
    public func load(into loader: ItemLoader) throws(StoreError) -> ItemLoadReport {
        var report = ItemLoadReport()
        do throws(FolderLockError) { try takeLock() } catch {
            switch error {
            case .inUse(let path, _): throw StoreError(.inUse, error.message, path: path, cause: error)
            case .file(let cause): throw StoreError(.inputOutput, cause.message, path: cause.path, cause: cause)
            }
        }
        var files = try readFiles()
        // While another process saves, archive and journal may be of two moments: read again.
        var attempts = 0
        while isReadOnly, attempts < 3, files.isMismatched {
            files = try readFiles()
            attempts += 1
        }
        if !isReadOnly { try checkFormat(of: files.journal) }
        try checkPresence(of: files.archive, files.journal)
        // A journal, or an empty archive, shows that the folder already was a store's.
        if files.archive == nil, files.journal == nil {
            if isReadOnly {
                if let other = try otherEdition(&report) {
                    files.archive = PropertyListStorage(other)
                    files.identity = ArchiveIdentity(of: other)
                }
            } else if try adoptOtherEdition(&report) {
                files = try readFiles()
            }
        }
        identity = files.identity
        hasArchive = files.archive != nil
        // An empty file means a first run, like a missing one, unless another file refers to an archive.
        if let archive = files.archive, archive.bytes.count > 0, !mapArchive(archive, loader, &report) {
            try readArchive(archive, files.journal, loader, &report)
            if report.archivedItems >= mappedFrom { makeIndex(archive, loader, report) }
        }
        try readJournal(files.journal, loader, &report)
        revision = ItemRevision(rawValue: nextSequence &- 1)
        report.revision = revision
        // Last: if the archive is lost, a leftover may be its only copy.
        if !isReadOnly, removesLeftovers {
            _ = try attempt { () throws(FileError) in try AtomicFile.removeLeftovers(in: folder, using: layer) }
            noteOrder()
        }
        return report
    }

    private struct Files {
        var archive: PropertyListStorage?
        var identity: ArchiveIdentity
        var journal: [UInt8]?

        var isMismatched: Bool {
            guard let journal else { return false }
            return journal.withUnsafeBytes { bytes in
                guard let scan = try? JournalScan(bytes) else { return false }
                return scan.records(following: identity, in: bytes) == nil
            }
        }
    }

    private func readFiles() throws(StoreError) -> Files {
        try attempt { () throws(FileError) in
            var files = Files(archive: nil, identity: .none, journal: nil)
            if try layer.status(journalPath) != nil { files.journal = try layer.contents(of: journalPath) }
            guard try layer.status(path) != nil else { return files }
            let file = try layer.open(path, .read)
            defer { layer.close(file) }
            let status = try layer.status(file)
            let mapped = try layer.map(file)
            self.mapped = MappedArchive(mapped, status)
            let bytes = mapped.withUnsafeBytes { $0 }
            // The storage retains the mapping, and so keeps the addresses valid.
            files.archive = PropertyListStorage(adopting: bytes) { _ in extendLifetime(mapped) }
            // Read through the mapping, each sample would load sixteen pages.
            files.identity = try ArchiveIdentity(of: file, size: bytes.count, using: layer)
            return files
        }
    }

    /// Opens an archive with an index, without reading it.
    private func mapArchive(
        _ storage: PropertyListStorage, _ loader: ItemLoader, _ report: inout ItemLoadReport
    ) -> Bool {
        guard let indexPath, let file = try? layer.open(indexPath, .read) else { return false }
        defer { layer.close(file) }
        guard let mapped = try? layer.map(file) else { return false }
        return mapped.withUnsafeBytes { bytes in
            guard let index = ItemIndexFile(bytes), index.archive == identity,
                index.knowsThatAllFit || identity.size <= OriginalArchive.maximumBytes,
                let slots = index.slots(in: bytes, keeper: mapped),
                let items = try? MappedItems(
                    storage, index.schema, fieldNames: FieldTable(.domain).names + index.customFields),
                items.count == index.count
            else { return false }
            loader.map(items, index, slots, index.numbers(in: bytes, keeper: mapped)) { [weak self] in
                self?.keepsOriginal = true
            }
            schema = index.schema
            report.archivedItems = index.count
            return true
        }
    }

    /// Makes a missing index of an archive for the next opening, on its own thread.
    private func makeIndex(_ storage: PropertyListStorage, _ loader: ItemLoader, _ report: ItemLoadReport) {
        // Contents beyond the items would go unnoticed in a mapped archive.
        guard let indexPath, !isReadOnly, !keepsOriginal, report.notices.isEmpty else { return }
        let snapshot = loader.snapshot()
        let (schema, identity, layer, turn) = (schema, identity, layer, indexTurn)
        _ = WorkerThread {
            guard let draft = ItemIndexDraft(snapshot, schema) else { return }
            let bytes = draft.file(of: identity, Checksum.hash(storage.bytes))
            guard let file = try? AtomicFileWriter(indexPath, using: layer, permissions: 0o600),
                (try? file.append(bytes)) != nil
            else { return }
            turn.ifOpen { try? file.commit(durable: false) }
        }
    }

    private func readArchive(
        _ storage: PropertyListStorage, _ journal: [UInt8]?, _ loader: ItemLoader, _ report: inout ItemLoadReport
    ) throws(StoreError) {
        var items: ItemArchiveReader?
        var failure: PropertyListError?
        do throws(PropertyListError) {
            let isBinary = storage.bytes.prefix(6).elementsEqual("bplist".utf8)
            let reader =
                isBinary
                ? try BinaryPropertyListReader(storage)
                : try BinaryPropertyListReader(
                    try PropertyListValue(decoding: Array(storage.bytes)).encoded(as: .binary))
            var found = ItemArchiveReader(loader, reader, identity)
            try found.read()
            items = found
        } catch {
            failure = error
        }
        if failure != nil || items.map({ !$0.damage.isEmpty }) ?? true {
            try checkLength(of: storage, journal)
        }
        // Nothing of a nonempty archive was readable: try without its object table or its root.
        if failure != nil || items.map({ $0.count == 0 && !$0.damage.isEmpty }) ?? true {
            items = salvage(storage, loader)
        }
        guard let items else {
            throw StoreError(
                .corruptArchive,
                "\(DisplayPath.abbreviate(path)) cannot be read as an archive of items: "
                    + "\(failure?.message ?? "nothing of it is whole"); cubby check says more",
                path: path, cause: failure)
        }
        if items.count > 0 {
            let name = schema.className
            schema = items.schema
            if schema.form == .propertyList { schema.className = name }
        }
        report.archivedItems = items.count
        report.notices += items.notices
        report.remarks += items.remarks
        if failure == nil, items.damage.isEmpty {
            if items.leavesSomethingOut || items.hasOtherForms { schema.original = items.original }
            let losses = items.leftOut + items.mixedForms
            keepsOriginal = (items.leavesSomethingOut || !losses.isEmpty) && schema.original == nil
            if keepsOriginal { report.notices += losses }
        } else {
            report.notices += items.leftOut
            try keepDamaged(storage, items, failure, &report)
        }
    }

    /// The items of an archive whose object table or root is unreadable; nil if none are found.
    private func salvage(_ storage: PropertyListStorage, _ loader: ItemLoader) -> ItemArchiveReader? {
        guard let salvage = PropertyListSalvage(storage.bytes) else { return nil }
        var items = ItemArchiveReader(loader, salvage.reader, identity)
        try? items.read()
        if items.count == 0 {
            items = ItemArchiveReader(loader, salvage.reader, identity)
            items.readWithoutRoot()
        }
        return items.count > 0 ? items : nil
    }

    /// Puts a copy of a damaged archive aside before a save replaces it, and reports it.
    private func keepDamaged(
        _ storage: PropertyListStorage, _ items: ItemArchiveReader, _ failure: PropertyListError?,
        _ report: inout ItemLoadReport
    ) throws(StoreError) {
        report.isSalvaged = true
        let reasons = (failure.map { [$0.message] } ?? []) + items.damage
        var text = "\(DisplayPath.abbreviate(path)) is damaged: \(items.count) items were read"
        if items.damagedItems > 0 { text += ", \(items.damagedItems) are lost or lack something" }
        text += " (\(reasons.joined(separator: "; ")))"
        guard !isReadOnly else {
            report.notices.append(text + "; it is left as it is")
            return
        }
        let kept = try attempt { () throws(FileError) in
            // If it was opened before without a save, the copy exists already.
            let name = "items.archive.damaged"
            let path = try aside(name)
            if let last = try previous(name), try layer.contents(of: last).elementsEqual(storage.bytes) { return last }
            try AtomicFile.write(storage.bytes, to: path, using: layer)
            return path
        }
        report.notices.append(text + "; it is kept as \(PathText.name(of: kept))")
        report.keptAside.append(kept)
    }

    // MARK: The journal

    /// Refuses the commits of a newer program, before any file is changed.
    private func checkFormat(of journal: [UInt8]?) throws(StoreError) {
        do throws(StoreError) {
            _ = try journal?.withBytes { bytes throws(StoreError) in try JournalHeader(bytes) }
        } catch  where error.code == .newerFormat {
            throw StoreError(
                .newerFormat,
                "\(DisplayPath.abbreviate(journalPath)): \(error.message), and opens it; --read-only shows the last save",
                path: journalPath, cause: error)
        } catch {}
    }

    private func readJournal(
        _ bytes: [UInt8]?, _ loader: ItemLoader, _ report: inout ItemLoadReport
    ) throws(StoreError) {
        guard let bytes, !bytes.isEmpty else { return }
        let scan: JournalScan
        do throws(StoreError) {
            scan = try bytes.withBytes { bytes throws(StoreError) in try JournalScan(bytes) }
        } catch {
            return try keepJournal(as: "items.journal.torn", error.message, &report)
        }
        let own = bytes.withUnsafeBytes { scan.records(following: identity, in: $0) }
        let isTolerant = own == nil && report.isSalvaged
        guard let records = own ?? (isTolerant ? scan.records(followingDamaged: identity) : nil) else {
            return try keepJournal(
                as: "items.journal.other", "the journal follows another archive than items.archive", &report)
        }
        var intact = scan.intactLength
        var damage = scan.damage
        nextSequence = scan.nextSequence
        var skipped = 0
        defer {
            if skipped > 0 {
                report.notices.append("\(skipped) changes of the journal are about items that the damaged archive lost")
            }
        }
        for record in records {
            do throws(StoreError) {
                skipped += try bytes.withBytes { bytes throws(StoreError) in
                    try loader.replay(
                        UnsafeRawBufferPointer(rebasing: bytes[record.payload]), isTolerant: isTolerant)
                }
                report.replayedRecords += 1
            } catch {
                (intact, damage) = (record.offset, error.message)
                nextSequence = record.sequence
                break
            }
        }
        guard let damage else {
            if isReadOnly { return }
            journal = try attempt { () throws(FileError) in
                try JournalWriter(journalPath, scan.header, nextSequence, length: intact, using: layer)
            }
            return
        }
        // Trailing zeros are reserved space.
        let used = bytes.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
        let tail = Array(bytes[intact..<max(intact, used)])
        let loss = "\(tail.count) bytes at the end of the journal cannot be used: \(damage)"
        if isReadOnly {
            report.notices.append("\(loss); they are left as they are")
            return
        }
        try keepTail(tail, behind: intact, scan.header, loss, &report)
    }

    /// Puts a whole journal aside: none of it is usable.
    private func keepJournal(
        as name: String, _ reason: String, _ report: inout ItemLoadReport
    ) throws(StoreError) {
        guard !isReadOnly else {
            report.notices.append("\(reason); it is left as it is")
            return
        }
        let kept = try attempt { () throws(FileError) in
            let kept = try aside(name)
            try layer.rename(journalPath, to: kept)
            try layer.syncDirectory(folder)
            return kept
        }
        report.notices.append("\(reason); it is kept as \(PathText.name(of: kept))")
        report.keptAside.append(kept)
    }

    /// Copies the bytes after the last usable record aside, then truncates the journal.
    private func keepTail(
        _ tail: [UInt8], behind intact: Int, _ header: JournalHeader, _ loss: String, _ report: inout ItemLoadReport
    ) throws(StoreError) {
        let kept = try attempt { () throws(FileError) in
            let kept = try aside("items.journal.torn")
            try AtomicFile.write(tail, to: kept, using: layer)
            let writer = try JournalWriter(journalPath, header, nextSequence, length: intact, using: layer)
            try writer.cut()
            journal = writer
            return kept
        }
        report.notices.append("\(loss); they are kept as \(PathText.name(of: kept))")
        report.keptAside.append(kept)
    }
}

/// An archive is replaced as a whole, by rename. A missing, empty or truncated one was lost by other means; an opening
/// must not prevent its recovery.
extension ArchivePersistence {
    /// The file that refers to an archive.
    private enum Witness: String {
        case journal = "the journal follows"
        case index = "items.index belongs to"
    }

    /// Refuses to open without the archive that the journal follows or, without a readable journal, that the index
    /// belongs to. A journal that follows none is complete by itself.
    func checkPresence(of archive: PropertyListStorage?, _ journal: [UInt8]?) throws(StoreError) {
        if let archive, archive.bytes.count > 0 { return }
        let known: ArchiveIdentity
        let witness: Witness
        if let journal, let header = try? journal.withBytes({ bytes throws(StoreError) in try JournalHeader(bytes) }) {
            (known, witness) = (header.archive, .journal)
        } else if let index = archiveOfIndex() {
            (known, witness) = (index, .index)
        } else {
            return
        }
        guard known != .none else { return }
        let state = archive == nil ? "missing" : "empty (0 bytes)"
        throw loss(
            "\(state), and \(witness.rawValue) one of \(known.size) bytes",
            "to begin without it, move \(witness == .journal ? "items.journal" : "items.index") away")
    }

    /// Refuses to open a damaged archive that is shorter than the journal or the index says, if the user has to decide
    /// what to do.
    func checkLength(of archive: PropertyListStorage, _ journal: [UInt8]?) throws(StoreError) {
        guard !opensCutArchive else { return }
        let known: [ArchiveIdentity]
        var witness = Witness.journal
        if let journal, let scan = try? journal.withBytes({ bytes throws(StoreError) in try JournalScan(bytes) }) {
            known = journal.withUnsafeBytes { [scan.header.archive] + scan.checkpoints(in: $0).map(\.archive) }
        } else {
            known = archiveOfIndex().map { [$0] } ?? []
            witness = .index
        }
        let present = ArchiveIdentity(of: archive.bytes)
        guard !known.contains(present), let size = known.map(\.size).max(), size > present.size else { return }
        throw loss(
            "cut short: it has \(present.size) bytes, and \(witness.rawValue) one of \(size)",
            "cubby check --repair saves what can still be read of it")
    }

    /// Refuses to save items of an archive that another program has written to or truncated meanwhile.
    func checkMapped() throws(StoreError) {
        let isOther = try attempt { () throws(FileError) in
            guard let status = try layer.status(path), mapped.isTouched(status) else { return false }
            let file = try layer.open(path, .read)
            defer { layer.close(file) }
            return try ArchiveIdentity(of: file, size: status.size, using: layer) != identity
        }
        guard isOther else { return }
        let text =
            "\(DisplayPath.abbreviate(path)) was changed in place by another program while it was in use: nothing was saved "
            + "over it, and what was committed is in the journal; end this process, and put the archive back"
        throw StoreError(.inputOutput, text, path: path)
    }

    /// The archive that the index belongs to; nil if there is no index, or it is damaged.
    private func archiveOfIndex() -> ArchiveIdentity? {
        guard let indexPath, let bytes = try? layer.contents(of: indexPath) else { return nil }
        return bytes.withUnsafeBytes { ItemIndexFile($0)?.archive }
    }

    private func loss(_ what: String, _ otherwise: String) -> StoreError {
        var text =
            "\(DisplayPath.abbreviate(path)) is \(what). Nothing was changed. Put the archive back from a backup "
        text += "(cubby restore --replace BACKUP) or from a copy"
        for name in ["items.archive.original", "items.archive.damaged"] {
            guard let copy = try? previous(name) else { continue }
            text += "; \(PathText.name(of: copy)) beside it is an older one"
        }
        return StoreError(.corruptArchive, text + "; \(otherwise)", path: path)
    }
}
