import Application
import ArgumentParser
import Files
import Wording

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

    private static let memoryRefusal =
        "keeps its items in the memory of its process, where no backup reaches them: items:export in there writes a file"

    func run() throws {
        SignalMask.restore()
        if let ending = BackupArchive.foreignEnding(of: out) {
            throw CommandFailure.exit(
                .usage,
                "a backup is a folder or an archive of tar, and no \(ending): end its name in "
                    + BackupArchive.endings.joined(separator: ", "))
        }
        let container = try ContainerArgument.locate(container, orSay: Self.memoryRefusal)
        if MemoryContainer.isFolder(container.path) {
            throw CommandFailure.exit(.usage, "\(container.displayPath) \(Self.memoryRefusal)")
        }
        let layer = PosixFileLayer()
        guard layer.exists(container.documents) else {
            throw CommandFailure.exit(.inputOutput, "there is no container at \(container.displayPath)")
        }
        guard !layer.exists(out) else {
            throw CommandFailure.exit(.inputOutput, "\(out) is there already: give a new name")
        }
        guard !ContainerBackup.isPath(out, in: container) else {
            throw CommandFailure.exit(.usage, "a backup does not go into the container itself")
        }
        let absolute = PathText.absolute(out, from: WorkingDirectory.path ?? "/")
        do throws(FileError) {
            let report: ContainerBackup.Report
            if BackupArchive.isName(out) {
                let folder = absolute + ".folder"
                defer { FolderRemover.remove(folder, using: layer) }
                FolderRemover.remove(folder, using: layer)
                report = try ContainerBackup.make(container, at: folder)
                try BackupArchive.pack(folder, into: absolute)
            } else {
                report = try ContainerBackup.make(container, at: absolute)
            }
            for path in report.skipped { Report.line("passed over \(path): neither a file nor a folder") }
            Report.line("backed up \(report.files.counted("file")), \(report.bytes.counted("byte")), to \(out)")
        } catch {
            throw CommandFailure.exit(error)
        }
    }
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
        let layer = PosixFileLayer()
        let unpacked = container.path + ".unpacked"
        defer { FolderRemover.remove(unpacked, using: layer) }
        do {
            try container.create()
            let lock = try FolderLock(container.path)
            defer { lock.release() }
            var folder = `in`
            if (try layer.status(`in` + "/.")) == nil {
                guard layer.exists(`in`) else { throw FileError(.open, `in`, code: 2) }
                FolderRemover.remove(unpacked, using: layer)
                try layer.makeDirectories(unpacked, permissions: 0o700)
                try BackupArchive.unpack(`in`, into: unpacked)
                folder = unpacked
            }
            guard ContainerBackup.isBackup(folder) else {
                throw CommandFailure.exit(.badData, "\(`in`) is not a backup: it has no folders Documents and Library")
            }
            guard replace || !ContainerBackup.holdsData(container) else {
                throw CommandFailure.exit(
                    .inputOutput, "\(container.displayPath) holds data: --replace moves it aside")
            }
            let aside = freeName(container.path + ".before-restore", layer)
            let report = try ContainerBackup.restore(from: folder, to: container, aside: aside)
            Report.line(
                "restored \(report.files.counted("file")), \(report.bytes.counted("byte")), into \(container.displayPath)"
            )
            guard replace, layer.exists(aside) else { return FolderRemover.remove(aside, using: layer) }
            Report.line("what was there is in \(DisplayPath.abbreviate(aside))")
        } catch let error as FolderLockError {
            throw CommandFailure.exit(error)
        } catch let error as FileError {
            throw CommandFailure.exit(error)
        }
    }

    private func freeName(_ path: String, _ layer: PosixFileLayer) -> String {
        var number = 1
        while layer.exists("\(path)-\(number)") { number += 1 }
        return "\(path)-\(number)"
    }
}

/// Backups as one file, written and read by the system's tar, which selects the compression by the file's extension.
enum BackupArchive {
    static let endings = [".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.zst", ".tar.bz2"]

    static func isName(_ name: String) -> Bool { endings.contains(where: name.hasSuffix) }

    /// The extension of a name that belongs to another archive format or compression; a folder of that name would look
    /// like such a file.
    static func foreignEnding(of name: String) -> String? {
        let others = [
            "zip", "7z", "rar", "gz", "bz2", "xz", "zst", "lz", "lz4", "lzma", "br", "z", "tbz", "tbz2", "txz", "tzst",
            "cpio", "iso", "dmg", "jar", "ar", "deb", "rpm", "cab",
        ]
        guard !isName(name), let dot = name.lastIndex(of: ".") else { return nil }
        return others.contains(name[name.index(after: dot)...].lowercased()) ? String(name[dot...]) : nil
    }

    static func pack(_ folder: String, into path: String) throws(FileError) {
        // With its own extension, by which tar selects the compression, and hidden until it is complete.
        let name = PathText.name(of: path)
        let temporary = PathText.join(PathText.parent(of: path), ".partial-" + name)
        // Created before tar opens it, so that it is private from its first byte on.
        let layer = PosixFileLayer()
        if layer.exists(temporary) { try layer.remove(temporary) }
        layer.close(try layer.open(temporary, .createNew, permissions: 0o600))
        try tar(
            ["--create", "--auto-compress", "--file", temporary, "--directory", folder, "Documents", "Library"],
            temporary)
        try layer.rename(temporary, to: path)
    }

    static func unpack(_ path: String, into folder: String) throws(FileError) {
        try tar(["--extract", "--file", path, "--directory", folder, "--no-same-owner"], path)
    }

    private static func tar(_ arguments: [String], _ path: String) throws(FileError) {
        let process = try ChildProcess(["tar"] + arguments)
        guard process.end() == .exited(0) else {
            throw FileError(.open, path, code: 5, reason: "tar could not do its work")
        }
    }
}
