import ColumnEngine
import Files
import PropertyList

/// The files of a store in their folder, and what beside them is theirs: quarantined parts, other editions' archives.
struct ArchiveFolder {
    /// The folder.
    let path: String
    let layer: any FileLayer
    let archivePath: String
    let journalPath: String
    let indexPath: String?

    init(_ path: String, indexFolder: String?, using layer: (any FileLayer)?) {
        self.path = path
        archivePath = PathText.join(path, "items.archive")
        journalPath = PathText.join(path, "items.journal")
        indexPath = indexFolder.map { PathText.join($0, "items.index") }
        self.layer = layer ?? Self.layer(path, indexFolder)
    }

    private static func layer(_ folder: String, _ indexFolder: String?) -> any FileLayer {
        let root = lockedFolder(folder)
        guard folder.hasPrefix(root), indexFolder?.hasPrefix(root + "/") ?? true else { return PosixFileLayer() }
        // The error of a missing folder is reported when it is opened.
        return (try? BeneathFileLayer(root)) ?? PosixFileLayer()
    }

    /// The folder whose `.lock` excludes other owners.
    var lockedFolder: String { Self.lockedFolder(path) }

    private static func lockedFolder(_ folder: String) -> String {
        guard PathText.name(of: folder) == "Documents" else { return folder }
        let parent = PathText.parent(of: folder)
        let library = try? PosixFileLayer().status(PathText.join(parent, "Library"))
        return library?.kind == .directory ? parent : folder
    }

    /// The archive that the index belongs to; nil if there is no index, or it is damaged.
    func archiveOfIndex(_ schema: ItemSchema) -> ArchiveIdentity? {
        guard let indexPath, let bytes = try? layer.contents(of: indexPath) else { return nil }
        return bytes.withUnsafeBytes { ItemIndexFile($0, schema)?.archive }
    }

    /// The identity of the archive, whose status is known.
    func identity(_ status: FileStatus) throws(FileError) -> ArchiveIdentity {
        let file = try layer.open(archivePath, .read)
        defer { layer.close(file) }
        return try ArchiveIdentity(of: file, size: status.size, using: layer)
    }

    // MARK: Quarantine

    /// The name of an archive that has more content than a store holds.
    static let originalName = "items.archive.original"
    /// That of one with unreadable parts.
    static let damagedName = "items.archive.damaged"
    /// That of one that another program put in place during a session.
    static let otherName = "items.archive.other"

    /// An unused path beside the store's files: `<name>-1`, `<name>-2`, …
    func quarantinePath(_ name: String) throws(FileError) -> String {
        try numbered(name).next
    }

    /// The last path that ``quarantinePath(_:)`` returned for a name; nil if there is none.
    func previous(_ name: String) throws(FileError) -> String? {
        try numbered(name).last
    }

    private func numbered(_ name: String) throws(FileError) -> (last: String?, next: String) {
        var last: String?
        var number = 1
        while true {
            let next = PathText.join(path, "\(name)-\(number)")
            guard try layer.status(next) != nil else { return (last, next) }
            last = next
            number += 1
        }
    }

    // MARK: Refusals

    /// Refuses a journal that would be misread, before any file is changed.
    ///
    /// - Parameters:
    ///   - journal: its bytes; nil for none.
    ///   - schema: the fields of the items.
    ///   - isReadOnly: whether a journal of a newer program is passed over.
    /// - Throws: `newerFormat`; `corruptJournal` for items of other fields.
    func check(_ journal: [UInt8]?, _ schema: ItemSchema, isReadOnly: Bool) throws(StoreError) {
        let header: JournalHeader?
        do throws(StoreError) {
            header = try journal?.withBytes { bytes throws(StoreError) in try JournalHeader(bytes) }
        } catch {
            guard error.code == .newerFormat, !isReadOnly else { return }
            throw StoreError(
                .newerFormat,
                "\(DisplayPath.abbreviate(journalPath)): \(error.message), and opens it; --read-only shows the last save",
                path: journalPath, cause: error)
        }
        // Version 2.0 stated no layout.
        guard let header, header.layout != 0, header.layout != JournalHeader.layout(of: schema) else { return }
        throw StoreError(
            .corruptJournal,
            "\(DisplayPath.abbreviate(journalPath)) is of items with declared fields alone, and the container does not "
                + "say so: Library/format is lost. Nothing was changed; cubby check CONTAINER --repair writes it again",
            path: journalPath)
    }

    /// The error for an archive that was lost by other means.
    ///
    /// - Parameters:
    ///   - what: what it is now.
    ///   - otherwise: what to do without it.
    /// - Returns: the error.
    func loss(_ what: String, _ otherwise: String) -> StoreError {
        var text =
            "\(DisplayPath.abbreviate(archivePath)) is \(what). Nothing was changed. Put the archive back from a backup "
        text += "(cubby restore --replace BACKUP) or from a copy"
        for name in [ArchiveFolder.originalName, ArchiveFolder.damagedName] {
            guard let copy = try? previous(name) else { continue }
            text += "; \(PathText.name(of: copy)) beside it is an older one"
        }
        return StoreError(.corruptArchive, text + "; \(otherwise)", path: archivePath)
    }

    // MARK: Other editions

    /// The file names of other editions' archives of items, the likeliest first.
    static let otherNames = [
        "items.plist", "possessions.data", "possession.data", "items.data", "itemsundone.archive", "itemsdone.archive",
    ]

    /// Maximum size; larger files are ignored.
    private static let largestOther = 1 << 30

    /// Adopts another edition's archive if the store has none yet: a copy of it becomes `items.archive`, and the file
    /// itself is not changed.
    ///
    /// - Returns: whether there was one.
    func adoptOtherEdition(_ schema: ItemSchema, _ report: inout ItemLoadReport) throws(StoreError) -> Bool {
        let found = try attempt { () throws(FileError) in try otherEditions(schema) }
        guard let first = found.first else { return false }
        var text = "\(first.name) was opened: its items are kept in items.archive from now on, and it stays as it is"
        if found.count > 1 {
            let rest = found.dropFirst().map(\.name).joined(separator: ", ")
            text += "; \(rest) would hold items, too (items:import takes them)"
        }
        try attempt { () throws(FileError) in
            try AtomicFile.write(first.bytes, to: archivePath, using: layer, durable: true)
        }
        report.notices.append(text)
        return true
    }

    /// Another edition's archive, for a read-only process without an archive.
    func otherEdition(_ schema: ItemSchema, _ report: inout ItemLoadReport) throws(StoreError) -> [UInt8]? {
        guard let first = try attempt({ () throws(FileError) in try otherEditions(schema).first }) else { return nil }
        report.notices.append("\(first.name) was opened")
        return first.bytes
    }

    private func otherEditions(_ schema: ItemSchema) throws(FileError) -> [(name: String, bytes: [UInt8])] {
        var found: [(name: String, bytes: [UInt8])] = []
        for name in Self.otherNames {
            let other = PathText.join(path, name)
            guard let status = try layer.status(other), status.kind == .regular, status.size <= Self.largestOther else {
                continue
            }
            let bytes = try layer.contents(of: other)
            if Self.holdsItems(bytes, schema) { found.append((name, bytes)) }
        }
        return found
    }

    /// Whether a file is an archive or a property list with at least one item.
    private static func holdsItems(_ bytes: [UInt8], _ schema: ItemSchema) -> Bool {
        guard bytes.withUnsafeBytes({ PropertyListFormat(detecting: $0) }) != nil,
            let reader = try? BinaryPropertyListReader(detecting: PropertyListStorage(bytes))
        else { return false }
        var items = ItemArchiveReader(ItemLoader(ColumnStore(schema)), reader, ArchiveIdentity(of: bytes))
        return (try? items.read()) != nil && items.report.count > 0 && items.report.namesFields
    }
}

/// The archive in place.
struct ArchiveInPlace {
    private(set) var identity = ArchiveIdentity.none
    private(set) var exists = false
    /// The mapped file from which the store reads items.
    private let mapped: MappedArchive
    /// The file's status when it was read or put in place.
    private var status: FileStatus?

    /// None.
    init() { mapped = MappedArchive() }

    init(_ identity: ArchiveIdentity, exists: Bool, _ mapped: MappedArchive) {
        (self.identity, self.exists, self.mapped, status) = (identity, exists, mapped, mapped.status)
    }

    /// Records that another archive has taken its place; the store may still read items of the mapped one.
    mutating func becomes(_ other: ArchiveIdentity, _ status: FileStatus?) {
        (identity, exists, self.status) = (other, true, status)
    }

    /// The identity of an archive that somebody else has put in this one's place; nil if there is none.
    func foreign(in folder: ArchiveFolder) throws(FileError) -> ArchiveIdentity? {
        guard let now = try folder.layer.status(folder.archivePath), now.size > 0 else { return nil }
        if let status, now.isSameFile(as: status), !now.isTouched(since: status) { return nil }
        let found = try folder.identity(now)
        return found == identity ? nil : found
    }

    /// Refuses to save items of an archive that another program has written to or truncated meanwhile.
    func checkMapped(_ folder: ArchiveFolder) throws(StoreError) {
        let path = folder.archivePath
        let isOther = try attempt { () throws(FileError) in
            guard let status = try folder.layer.status(path), mapped.isTouched(status) else { return false }
            return try folder.identity(status) != identity
        }
        guard isOther else { return }
        let text =
            "\(DisplayPath.abbreviate(path)) was changed in place by another program while it was in use: nothing was saved "
            + "over it, and what was committed is in the journal; end this process, and put the archive back"
        throw StoreError(.inputOutput, text, path: path)
    }
}
