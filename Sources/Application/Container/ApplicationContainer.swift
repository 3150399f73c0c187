import CPlatform
package import Files
import Glibc
@_exported import Wording
@_exported import struct Platform.MonotonicTime

/// The folders of one application, below one root.
///
/// The layout is that of an iOS application's container. The root may move between two runs, so store paths relative to
/// it.
public struct ApplicationContainer: Sendable, Hashable {
    /// The root, absolute.
    public let path: String
    /// Whether it belongs to one run and is removed at its end.
    package let isTemporary: Bool

    /// Kept between runs and backed up: the user's data.
    public var documents: String { path + "/Documents" }
    /// The folder `Library`, parts of which are visible to scripts.
    package var library: String { path + "/Library" }
    /// Kept and backed up: the application's own data, invisible to the user.
    package var applicationSupport: String { path + "/Library/Application Support" }
    /// Pictures queued for a shared collection's server, until it has them.
    package var outgoingImages: String { applicationSupport + "/Outgoing Images" }
    /// Kept between runs but not backed up; may be emptied at any time.
    package var caches: String { path + "/Library/Caches" }
    /// One property list for each domain of defaults; backed up.
    package var preferences: String { path + "/Library/Preferences" }
    /// The user's scripts, `init.lua` among them; backed up.
    package var scripts: String { path + "/Library/Scripts" }
    /// Temporary files of one run, emptied at launch.
    package var tmp: String { path + "/tmp" }
    /// The folder of the user's own read-only resources, beside the root; it need not exist.
    package var bundle: String { path + ".bundle" }
    /// The lock file: the process that locks it owns the container.
    package var lockFile: String { FolderLock.file(in: path) }

    /// The socket of `cubby attach`.
    package var socketFile: String { path + "/.socket" }

    /// Every folder, parents first.
    package var folders: [String] {
        [path, documents, library, applicationSupport, caches, preferences, scripts, tmp]
    }

    /// The root for display: `~/.local/share/cubby`.
    package var displayPath: String { DisplayPath.abbreviate(path) }

    /// The root for display, with a note for a temporary container.
    package var title: String { displayPath + (isTemporary ? " (of this run alone)" : "") }

    /// A container at a path, which need not exist yet.
    ///
    /// - Parameters:
    ///   - path: the root; a relative path is resolved against the current working directory. When that is gone, the path
    ///     stays relative, and the container cannot be opened.
    ///   - isTemporary: whether it belongs to one run; the caller removes it.
    public init(path: String, isTemporary: Bool = false) {
        self.isTemporary = isTemporary
        self.path = (try? WorkingDirectory.absolute(path)) ?? path
    }

    /// Finds the container: the given path, else `$CUBBY_CONTAINER`, else `$XDG_DATA_HOME/<name>`, else
    /// `~/.local/share/<name>`.
    ///
    /// - Parameters:
    ///   - path: the path in the command line.
    ///   - name: the application's folder name.
    ///   - environment: reads a variable; the process's environment if not given.
    /// - Returns: the container; nil without a path and a home folder.
    package static func locate(
        _ path: String? = nil, name: String = "cubby",
        environment: (String) -> String? = { ProcessEnvironment.value($0) }
    ) -> ApplicationContainer? {
        if let path, !path.isEmpty { return ApplicationContainer(path: path) }
        if let path = environment("CUBBY_CONTAINER"), !path.isEmpty { return ApplicationContainer(path: path) }
        // The XDG specification requires relative paths to be ignored.
        if let data = environment("XDG_DATA_HOME"), data.hasPrefix("/") {
            return ApplicationContainer(path: PathText.join(data, name))
        }
        let home = environment("HOME").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? HomeFolder.path
        return home.map { ApplicationContainer(path: PathText.join($0, ".local/share/" + name)) }
    }

    /// Opens the container for the host, and creates missing folders with mode `0700`.
    ///
    /// The root's own path may contain links. The container's folders and files may not be links: through such a link
    /// the host would read, write and remove other files of the user.
    ///
    /// - Returns: the file system beneath the root, which follows no link.
    /// - Throws: `FileError`, `isMisplaced` for a folder or file of another type, and for a container whose restore was
    ///   interrupted.
    package func open() throws(FileError) -> BeneathFileLayer {
        let layer = try openRoot(recording: nil)
        try ContainerRestore.checkNone(in: self, using: layer)
        try makeFolders(in: layer, recording: nil)
        return layer
    }

    /// Opens the root, which is created if it is missing; `entries` is told of the folders with new entries.
    func openRoot(recording entries: NewEntries?) throws(FileError) -> BeneathFileLayer {
        _ = try WorkingDirectory.absolute(path)
        let system = PosixFileLayer()
        if try system.status(path)?.kind == .symbolicLink, !system.exists(path + "/.") {
            throw FileError(.open, path, code: ENOENT, reason: "it is a link that leads to no folder")
        }
        var missing: [String] = []
        while case let folder = missing.last.map(PathText.parent) ?? path, !system.exists(folder), folder != "/" {
            missing.append(folder)
        }
        try system.makeDirectories(path, permissions: 0o700)
        for folder in missing { entries?.record(PathText.parent(of: folder)) }
        return try BeneathFileLayer(path)
    }

    /// Creates missing folders, and checks the types of all folders and files.
    func makeFolders(in layer: BeneathFileLayer, recording entries: NewEntries?) throws(FileError) {
        for folder in folders.dropFirst() where try !layer.contains(folder, .directory) {
            try layer.makeDirectories(folder, permissions: 0o700)
            entries?.record(PathText.parent(of: folder))
        }
        try checkLayout(in: layer)
    }

    /// Whether there is nothing of a container at its path: neither documents nor a library.
    package var isMissing: Bool {
        func isMissing(_ folder: String) -> Bool { access(folder, F_OK) != 0 && errno == ENOENT }
        return isMissing(documents) && isMissing(library)
    }

    /// Opens an existing container and creates nothing.
    ///
    /// - Returns: the file system beneath the root, which follows no link.
    /// - Throws: `FileError`, as `open()`.
    package func openExisting() throws(FileError) -> BeneathFileLayer {
        let layer = try BeneathFileLayer(path)
        try ContainerRestore.checkNone(in: self, using: layer)
        for folder in folders.dropFirst() { _ = try layer.contains(folder, .directory) }
        try checkLayout(in: layer)
        return layer
    }

    private func checkLayout(in layer: BeneathFileLayer) throws(FileError) {
        for folder in ContainerLayout.optionalFolders {
            _ = try layer.contains(PathText.join(path, folder), .directory)
        }
        for file in ContainerLayout.files { _ = try layer.contains(PathText.join(path, file), .regular) }
    }

    /// Creates missing folders with mode `0700`.
    ///
    /// - Throws: `FileError`, as `open()`.
    package func create() throws(FileError) { _ = try open() }

    /// Refuses a folder that is not a container yet and has files in its `tmp`, which a launch would remove.
    func checkTemporaryFolder(in layer: BeneathFileLayer) throws(FileError) {
        let marks = [".lock", ContainerFormat.file, "Documents/items.archive", "Documents/items.journal"]
        for mark in marks where try layer.status(PathText.join(path, mark)) != nil { return }
        guard try layer.status(tmp)?.kind == .directory, try !layer.list(tmp).isEmpty else { return }
        var error = FileError(
            .open, path, code: ENOTEMPTY,
            reason: "it is not a container yet, and its folder tmp holds files, which a launch would remove; move them "
                + "away, or choose another folder for the container")
        error.isMisplaced = true
        throw error
    }

    /// Empties `tmp`. Entries that cannot be removed stay; links are removed, not followed.
    ///
    /// - Parameter layer: the file system that `open()` returned.
    /// - Throws: `FileError` when `tmp` itself cannot be read.
    package func emptyTemporaryFolder(using layer: any FileLayer) throws(FileError) {
        for name in try layer.list(tmp) { FolderRemover.remove(PathText.join(tmp, name), using: layer) }
    }

    /// Removes the leftovers of interrupted writes. Call it at launch with the lock held.
    ///
    /// - Parameter layer: the file system that `open()` returned.
    /// - Returns: the removed paths.
    @discardableResult
    package func removeLeftovers(using layer: any FileLayer) -> [String] {
        folders.flatMap { folder in
            ((try? AtomicFile.removeLeftovers(in: folder, using: layer)) ?? []).map { PathText.join(folder, $0) }
        }
    }
}

/// The host's own folders and files in a container, by their paths beneath its root. An existing one must have the
/// right type: it must not be a link, a pipe or a device.
///
/// `init.lua` and the pictures are excluded: they are checked when they are read, and a link is reported and skipped.
enum ContainerLayout {
    static let optionalFolders = [
        "Library/Caches/Thumbnails", "Library/Caches/Removed Images", "Library/Caches/Replaced Images",
    ]

    static let files = [
        ".lock", ContainerFormat.file, "Documents/items.archive", "Documents/items.journal",
        "Library/Caches/items.index",
        "Library/Preferences/items.plist", "Library/Application Support/restoration.plist",
        "Library/Application Support/restoration.plist.restoring", "Library/Application Support/repl_history",
    ]

    /// Those of the files that scripts may read: what the store keeps of the items.
    static let readableFiles: Set = [
        "Documents/items.archive", "Documents/items.journal", "Library/Preferences/items.plist",
    ]

    /// What is in the place of a folder, or of a file, and is something else.
    struct Misplaced {
        let path: String
        let status: FileStatus
        /// The error of a launch.
        let error: FileError
    }

    /// The misplaced parts of a container, folders first. What is beneath another one is not examined.
    static func misplaced(in container: ApplicationContainer, using layer: BeneathFileLayer) throws(FileError)
        -> [Misplaced]
    {
        var found: [Misplaced] = []
        func look(_ path: String, _ kind: FileStatus.Kind) throws(FileError) {
            if found.contains(where: { path.hasPrefix($0.path + "/") }) { return }
            do throws(FileError) { _ = try layer.contains(path, kind) } catch {
                guard error.isMisplaced, let status = try layer.status(path) else { throw error }
                found.append(Misplaced(path: path, status: status, error: error))
            }
        }
        for folder in container.folders.dropFirst() { try look(folder, .directory) }
        for folder in optionalFolders { try look(PathText.join(container.path, folder), .directory) }
        for file in files { try look(PathText.join(container.path, file), .regular) }
        try look(container.socketFile, .socket)
        if let names = try? layer.list(container.preferences) {
            for name in names where name.hasSuffix(".plist") {
                try look(PathText.join(container.preferences, name), .regular)
            }
        }
        return found
    }
}

extension PathFence {
    /// Closes a container's own files to scripts, and keeps its folders what and where they are.
    ///
    /// - Parameter container: the container; scripts may read its archive, its journal and its preferences.
    package func closeLayout(of container: ApplicationContainer) {
        for file in ContainerLayout.files {
            close(
                PathText.join(container.path, file),
                .file(readable: ContainerLayout.readableFiles.contains(file)))
        }
        close(container.socketFile)
        close(folder: ContainerRestore.folder(of: container))
        close(container.preferences, .contents(readable: true))
        for folder in container.folders.dropFirst() where folder != container.preferences { close(folder, .folder) }
        for folder in ContainerLayout.optionalFolders { close(PathText.join(container.path, folder), .folder) }
        close(container.outgoingImages, .folder)
    }
}

/// The application's read-only resources.
package struct ApplicationBundle: Sendable, Hashable {
    /// The folder, absolute.
    package let path: String

    /// - Parameter path: the folder with the resources; a relative path is resolved against the current working
    ///   directory.
    package init(path: String) {
        self.path = (try? WorkingDirectory.absolute(path)) ?? path
    }

    /// The path of a resource, as Cocoa's `pathForResource:ofType:`.
    ///
    /// - Parameters:
    ///   - name: its name, including folders below the bundle.
    ///   - type: its extension without the dot; empty or nil when the name includes it.
    ///   - layer: the file system.
    /// - Returns: its path; nil if it does not exist, or the name leads out of the bundle.
    package func path(
        forResource name: String, ofType type: String? = nil, using layer: any FileLayer = PosixFileLayer()
    ) -> String? {
        let file = type.map { $0.isEmpty ? name : name + "." + $0 } ?? name
        let parts = file.split(separator: "/", omittingEmptySubsequences: false)
        guard !parts.isEmpty, parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else { return nil }
        let whole = PathText.join(path, file)
        return layer.exists(whole) ? whole : nil
    }
}

/// The process's environment.
package enum ProcessEnvironment {
    /// The value of a variable.
    ///
    /// - Parameter name: the variable.
    /// - Returns: nil when it is not set.
    package static func value(_ name: String) -> String? {
        ProcessSurroundings.current.value(name)
    }

    /// Sets a variable for this process and its children.
    ///
    /// - Parameters:
    ///   - name: the variable.
    ///   - value: its new value.
    package static func set(_ name: String, _ value: String) {
        ProcessSurroundings.current.set(name, value)
    }
}

/// The path of the running program.
package enum ProgramPath {
    /// The executable's absolute path, without symbolic links. Without `/proc`, the path by which the program was
    /// started; nil if that path no longer exists.
    package static var current: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        if count > 0 { return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) }
        guard let given = cubby_program_path(), let resolved = realpath(given, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
