package import Files

/// The format number of a container's files. It is raised when older programs would misread or damage them.
///
/// `Library/format` holds it in decimal digits, and is part of backups. Format 1 has no such file.
package enum ContainerFormat {
    /// The newest format that this program reads and writes.
    package static let current = 2
    /// The format of a container whose items have no fields but their key and declared ones. A program that does not
    /// know it would take their records for those of a household.
    package static let ownFields = 2
    static let file = "Library/format"

    /// Refuses a container of a newer format, before anything in it is changed.
    ///
    /// - Parameter container: the container, which need not exist.
    /// - Throws: ``ContainerFormatError``; `FileError` when the number cannot be read.
    package static func check(_ container: ApplicationContainer) throws {
        guard let digits = try stated(in: container), number(digits) == nil else { return }
        throw ContainerFormatError(container: container.displayPath, format: digits)
    }

    /// Whether the items of a container have no fields but their key and declared ones.
    ///
    /// - Throws: `FileError` when the format cannot be read.
    package static func hasOwnFields(_ container: ApplicationContainer) throws(FileError) -> Bool {
        if container.isTemporary { return false }
        return try stated(in: container).flatMap(number) == ownFields
    }

    /// States that the items of a container have no fields but their key and declared ones.
    ///
    /// - Parameter container: without items; its folder need not exist.
    /// - Throws: `FileError`.
    package static func setOwnFields(_ container: ApplicationContainer) throws(FileError) {
        try PosixFileLayer().makeDirectories(container.library, permissions: 0o700)
        let layer = try BeneathFileLayer(container.path)
        try AtomicFile.write(Array("\(ownFields)\n".utf8), to: PathText.join(container.path, file), using: layer)
    }

    /// States no format, for a container that never had items.
    ///
    /// - Throws: `FileError`.
    package static func unsetOwnFields(_ container: ApplicationContainer) throws(FileError) {
        try BeneathFileLayer(container.path).remove(PathText.join(container.path, file))
    }

    /// The stated format; nil if none is stated.
    private static func stated(in container: ApplicationContainer) throws(FileError) -> String? {
        let path = PathText.join(container.path, file)
        guard PosixFileLayer().exists(container.library) else { return nil }
        let layer = try BeneathFileLayer(container.path)
        guard try layer.contains(path, .regular) else { return nil }
        let text = String(decoding: try layer.contents(of: path, limit: 64), as: UTF8.self)
        return String(text.hasSuffix("\n") ? text.dropLast() : text[...])
    }

    private static func number(_ digits: String) -> Int? {
        Int(digits).flatMap { (1...current).contains($0) ? $0 : nil }
    }

    /// Whether a format is stated.
    static func isStated(in container: ApplicationContainer) throws(FileError) -> Bool {
        try stated(in: container) != nil
    }

    /// Whether a stated format is a number, of whatever size.
    static func isNumber(_ digits: String) -> Bool {
        digits.utf8.contains { $0 != UInt8(ascii: "0") }
            && digits.utf8.allSatisfy { UInt8(ascii: "0") <= $0 && $0 <= UInt8(ascii: "9") }
    }

    /// Whether a format is stated, and no program has written it: it is not a number.
    static func isUnreadable(in container: ApplicationContainer) throws(FileError) -> Bool {
        do throws(FileError) {
            guard let digits = try stated(in: container) else { return false }
            return !isNumber(digits)
        } catch {
            if error.code == FileLayerCode.tooLarge { return true }
            throw error
        }
    }
}

/// Mends what prevents a container from being opened. What is in the way is renamed, and never removed.
package struct ContainerRepair {
    private let container: ApplicationContainer

    package init(_ container: ApplicationContainer) { self.container = container }

    /// Refuses other kinds of files in the place of the container's own, those of the preferences as well.
    ///
    /// - Parameter layer: the container's file system, of `ApplicationContainer.openExisting()`.
    /// - Throws: `FileError`, `isMisplaced` for such a part.
    package func check(using layer: BeneathFileLayer) throws(FileError) {
        if let first = try ContainerLayout.misplaced(in: container, using: layer).first { throw first.error }
    }

    /// Completes an interrupted restore, and moves aside an unreadable format, and other kinds of files in the place of
    /// the container's own. Links stay: somebody has made them on purpose, and what they lead to may be the data.
    ///
    /// - Parameter hasOwnFields: whether the journal says that its items have declared fields alone: a lost format is
    ///   stated again.
    /// - Returns: descriptions of the changes.
    /// - Throws: `FileError`; `FolderLockError` when the container is in use.
    package func mend(hasOwnFields: Bool = false) throws -> [String] {
        let layer = try BeneathFileLayer(container.path)
        let isPending = try ContainerRestore.isPending(in: container, using: layer)
        let misplaced = try ContainerLayout.misplaced(in: container, using: layer)
        let movable = misplaced.filter { $0.status.kind != .symbolicLink }
        let isFormatBad = misplaced.isEmpty ? try ContainerFormat.isUnreadable(in: container) : false
        let isFormatLost =
            hasOwnFields && misplaced.isEmpty ? try isFormatBad || !ContainerFormat.isStated(in: container) : false
        if !isPending, movable.isEmpty, !isFormatBad, !isFormatLost { return [] }
        try container.checkTemporaryFolder(in: layer)
        var done: [String] = []
        // Without its file the lock cannot be taken; then nobody has it.
        for part in movable where part.path == container.lockFile { done.append(try quarantine(part.path, layer)) }
        let lock = try FolderLock(container.path)
        defer { lock.release() }
        let notice = try ContainerRestore.complete(in: container, using: layer)
        if isPending { done.append(notice ?? "removed what a restore had prepared that was interrupted") }
        for part in movable where part.path != container.lockFile { done.append(try quarantine(part.path, layer)) }
        if isFormatBad { done.append(try quarantine(PathText.join(container.path, ContainerFormat.file), layer)) }
        if isFormatLost {
            try ContainerFormat.setOwnFields(container)
            done.append("wrote \(ContainerFormat.file): by the journal, the items have declared fields alone")
        }
        for folder in container.folders.dropFirst() where try layer.status(folder) == nil {
            try layer.makeDirectories(folder, permissions: 0o700)
            done.append("made \(folder.dropFirst(container.path.count + 1))")
        }
        return done
    }

    private func quarantine(_ path: String, _ layer: BeneathFileLayer) throws(FileError) -> String {
        let quarantined = try layer.rename(path) { "\(path).misplaced-\($0)" }
        let name = path.dropFirst(container.path.count + 1)
        return "moved \(name), which was not what it has to be, to \(PathText.name(of: quarantined))"
    }
}

/// A container of a format unknown to this program.
package struct ContainerFormatError: Error, CustomStringConvertible {
    let container: String
    /// The format as stated in the container.
    let format: String

    /// What is said of its data.
    package var reason: String {
        isNumber
            ? "the container format \(format), and this program knows up to \(ContainerFormat.current)"
            : "no container format: its \(ContainerFormat.file) is damaged, and has \(quoted) where a number has to be"
    }

    private var isNumber: Bool { ContainerFormat.isNumber(format) }
    private var quoted: String { format.isEmpty ? "nothing" : "“\(VisibleText.line(format))”" }

    package var description: String {
        "\(container) is of \(reason)"
            + (isNumber
                ? ": a newer cubby wrote it, and opens it; --read-only shows what this one can read of it"
                : "; cubby check --repair moves it aside, and --read-only shows the items as they are without it")
    }

    /// What a reader is told, which opens the container nevertheless.
    package var notice: String {
        "\(container) is of \(reason): "
            + (isNumber
                ? "what is shown may lack something, or be misread" : "the items are shown as they are without it")
    }
}
