import Application
import ArgumentParser
import Files
import Glibc
import ItemArchive
import Items

/// `cubby backup OUT`: everything but Caches and tmp, as an iOS backup.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy a container, without Caches and tmp, to a new folder or a tar archive.")

    @Option(help: .container, completion: .container)
    var container: String?

    @Argument(
        help: "A new folder, or a new file ending in .tar, .tar.gz, .tgz, .tar.xz, .tar.zst or .tar.bz2.",
        completion: .file())
    var out: String

    private static let memoryMessage =
        "keeps its items in the memory of its process, where no backup reaches them: items:export in there writes a file"

    func run() throws {
        SignalMask.restore()
        if let ending = BackupArchive.foreignEnding(of: out) {
            throw CommandFailure.exit(
                .usage,
                "a backup is a folder or an archive of tar, and no \(ending): end its name in "
                    + BackupArchive.endings.joined(separator: ", "))
        }
        let container = try ContainerArgument.locate(container, orSay: Self.memoryMessage)
        if MemoryContainer.isFolder(container.path) {
            throw CommandFailure.exit(.usage, "\(container.displayPath) \(Self.memoryMessage)")
        }
        let absolute = try ItemFileArgument.absolute(out)
        guard PosixFileLayer().exists(container.documents) || PosixFileLayer().exists(container.library) else {
            throw CommandFailure.exit(.inputOutput, "there is no container at \(container.displayPath)")
        }
        guard !PosixFileLayer().exists(absolute) else {
            throw CommandFailure.exit(.inputOutput, "\(out) is there already: give a new name")
        }
        guard !ContainerBackup.isPath(absolute, in: container) else {
            throw CommandFailure.exit(.usage, "a backup does not go into the container itself")
        }
        do throws(FileError) {
            let layer = try BeneathFileLayer(PathText.parent(of: absolute))
            let report =
                BackupArchive.isName(out)
                ? try ContainerBackup.make(container, at: absolute, using: layer) { work throws(FileError) in
                    try BackupArchive.pack(work, for: out)
                } : try ContainerBackup.make(container, at: absolute, using: layer)
            report.skipped.forEach(Self.passOver)
            Report.line("backed up \(report.files.counted("file")), \(report.bytes.counted("byte")), to \(out)")
        } catch {
            throw CommandFailure.exit(error)
        }
    }

    static func passOver(_ path: String) { Report.line("passed over \(path): neither a file nor a folder") }
}

/// `cubby restore IN`: replaces a container's data with a backup.
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Restore a container from a backup.")

    @Option(help: .container, completion: .container)
    var container: String?

    @Flag(help: "Replace the data of the container, which is moved aside.")
    var replace = false

    @Argument(help: "The folder or archive that cubby backup wrote.", completion: .file())
    var `in`: String

    func run() throws {
        SignalMask.restore()
        let container = try ContainerArgument.locate(
            container, orSay: "ends with its run: restore into a folder, and open that")
        do {
            let path = try WorkingDirectory.absolute(`in`)
            let isFolder = try checkSource(path, of: container)
            let (files, lock, notice) = try OpenedContainer.own(container)
            defer { lock.release() }
            if let notice { Report.line(notice) }
            let holdsData = try ContainerBackup.holdsData(container, using: files)
            guard replace || !holdsData else {
                throw CommandFailure.exit(
                    .inputOutput, "\(container.displayPath) holds data: --replace moves it aside")
            }
            let result = try ContainerRestore.restore(to: container, keeps: replace && holdsData, using: files) {
                free in
                if isFolder { return (path, try BeneathFileLayer(path)) }
                try files.makeDirectory(free, permissions: 0o700)
                try BackupArchive.unpack(path, into: files.openFolder(free))
                try checkBackup(free, files)
                return (free, files)
            } checking: {
                try checkOpens($0)
            }
            try container.create()
            result.report.skipped.forEach(BackupCommand.passOver)
            let (count, bytes) = (result.report.files.counted("file"), result.report.bytes.counted("byte"))
            Report.line("restored \(count), \(bytes), into \(container.displayPath)")
            if let former = result.former { Report.line("what was there is in \(DisplayPath.abbreviate(former))") }
        } catch let error as FolderLockError {
            throw CommandFailure.exit(error)
        } catch let error as FileError {
            throw CommandFailure.exit(error)
        }
    }

    /// Examines the backup before anything is changed: a container that is made in vain would stay.
    ///
    /// - Returns: whether it is a folder.
    private func checkSource(_ path: String, of container: ApplicationContainer) throws -> Bool {
        let source = try RealPath.of(path)
        guard try PosixFileLayer().status(source)?.kind == .directory else {
            if BackupArchive.isCut(source) {
                throw CommandFailure.exit(.badData, "\(`in`) is cut: the end of a tar archive is not there")
            }
            return false
        }
        try checkBackup(source, BeneathFileLayer(source))
        let target = RealPath.ofExistingPart(of: container.path)
        guard target != source, !target.hasPrefix(source + "/") else {
            throw CommandFailure.exit(
                .usage, "\(container.displayPath) is within \(`in`), which would be copied into itself")
        }
        return true
    }

    /// Refuses data that a host could not open, or only in part: what is there would be moved aside for it.
    private func checkOpens(_ data: ApplicationContainer) throws {
        func refuse(_ reason: String) -> ExitCode {
            CommandFailure.exit(
                .badData,
                "\(`in`) is not restored: \(reason.replacing(data.displayPath + "/", with: "")); cubby check --repair mends "
                    + "a backup that is a folder")
        }
        do {
            try ContainerFormat.check(data)
            let persistence = ArchivePersistence(
                folder: data.documents, using: try BeneathFileLayer(data.path), isReadOnly: true)
            let report = try ItemStore.open(persistence, schema: OwnFields.schema(of: data)).loadReport
            if report.isSalvaged, let notice = report.notices.first { throw refuse(notice) }
        } catch let error as ContainerFormatError {
            throw refuse("it is of \(error.reason)")
        } catch let error as StoreError {
            throw refuse(error.message)
        }
    }

    private func checkBackup(_ folder: String, _ layer: BeneathFileLayer) throws {
        guard try ContainerBackup.isBackup(folder, using: layer) else {
            throw CommandFailure.exit(.badData, "\(`in`) is not a backup: it has no folders Documents and Library")
        }
    }
}

/// Backups as one file, written and read by the system's tar, which selects the compression by the file's extension.
enum BackupArchive {
    static let endings = [".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.zst", ".tar.bz2"]

    static func isName(_ name: String) -> Bool { endings.contains(where: name.hasSuffix) }

    /// The extension of a name that belongs to another archive format or compression; a folder of that name would look
    /// like such a file.
    static func foreignEnding(of name: String) -> String? {
        let foreignEndings = [
            "zip", "7z", "rar", "gz", "bz2", "xz", "zst", "lz", "lz4", "lzma", "br", "z", "tbz", "tbz2", "txz", "tzst",
            "cpio", "iso", "dmg", "jar", "ar", "deb", "rpm", "cab",
        ]
        guard !isName(name), let dot = name.lastIndex(of: ".") else { return nil }
        return foreignEndings.contains(name[name.index(after: dot)...].lowercased()) ? String(name[dot...]) : nil
    }

    /// Makes an archive of the folder `copy` of a work, on the disk; returns its name there.
    static func pack(_ work: WorkFolder, for name: String) throws(FileError) -> String {
        guard let layer = work.layer as? BeneathFileLayer else { throw FileError(.open, work.path, code: 22) }
        let folder = try layer.openFolder(work.file("copy"))
        defer { layer.close(folder) }
        let file = try layer.open(work.file("archive"), .createNew, permissions: 0o600)
        defer { layer.close(file) }
        try tar(
            ["--create"] + compression(of: name) + ["--file=-", "Documents", "Library"], name, in: folder,
            output: file.descriptor)
        try layer.sync(file)
        return "archive"
    }

    /// Unpacks an archive into a folder, which it closes.
    static func unpack(_ path: String, into folder: OpenFile) throws(FileError) {
        defer { PosixFileLayer().close(folder) }
        // Reading a file by its name, tar knows the compression by the contents.
        // A colon would begin the name of a machine.
        let local = path.contains(":") ? ["--force-local"] : []
        try tar(["--extract", "--file", path, "--no-same-owner"] + local, path, in: folder)
    }

    /// Whether a file of tar lacks the two blocks of zeros at its end: tar itself takes what is cut between two members
    /// for the whole. The compressed ones are cut noticeably.
    static func isCut(_ path: String) -> Bool {
        let layer = PosixFileLayer()
        guard (try? layer.status(path))??.kind == .regular, let file = try? layer.open(path, .read) else {
            return false
        }
        defer { layer.close(file) }
        func bytes(_ count: Int, at offset: Int64) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: count)
            let read = pread(file.descriptor, &bytes, count, off_t(offset))
            return Array(bytes.prefix(max(0, read)))
        }
        guard bytes(5, at: 257) == Array("ustar".utf8), let size = try? layer.status(file).size else { return false }
        return bytes(1024, at: max(0, Int64(size) - 1024)) != [UInt8](repeating: 0, count: 1024)
    }

    private static func compression(of name: String) -> [String] {
        switch endings.first(where: name.hasSuffix) {
        case ".tar.gz", ".tgz": ["--gzip"]
        case ".tar.xz": ["--xz"]
        case ".tar.zst": ["--zstd"]
        case ".tar.bz2": ["--bzip2"]
        default: []
        }
    }

    private static func tar(
        _ arguments: [String], _ path: String, in folder: OpenFile, output: Int32? = nil
    ) throws(FileError) {
        let process = try ChildProcess(["tar"] + arguments, output: output, workingFolder: folder.descriptor)
        guard process.end() == .exited(0) else {
            throw FileError(.open, path, code: 5, reason: "tar could not do its work")
        }
    }
}
