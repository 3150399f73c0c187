import ColumnEngine
import Files
import PropertyList

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
