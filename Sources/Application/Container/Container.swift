public import Files
import Glibc

/// The folders that belong to one application: everything it keeps is below one root.
///
/// The layout is that of an iOS application's container. The root's path may change between two runs, its contents do
/// not: store paths relative to it, never absolute ones.
public struct Container: Sendable, Hashable {
    /// The root, absolute.
    public let path: String
    /// Whether it is of one run alone, and removed at its end.
    public let isTemporary: Bool

    /// Kept between runs and backed up: the user's data.
    public var documents: String { path + "/Documents" }
    public var library: String { path + "/Library" }
    /// Kept and backed up: what the application needs but the user does not see.
    public var applicationSupport: String { path + "/Library/Application Support" }
    /// Kept between runs but not backed up; may be emptied at any time.
    public var caches: String { path + "/Library/Caches" }
    /// One property list for each domain of defaults; backed up.
    public var preferences: String { path + "/Library/Preferences" }
    /// The user's scripts, `init.lua` among them; backed up.
    public var scripts: String { path + "/Library/Scripts" }
    /// Scratch for one run, emptied at launch.
    public var tmp: String { path + "/tmp" }
    /// Where the user's own read-only resources are looked for: beside the root, not in it, and it need not exist.
    public var bundle: String { path + ".bundle" }
    /// The file whose lock makes one process the container's owner.
    public var lockFile: String { FolderLock.file(in: path) }

    /// The socket by which a prompt reaches the host that runs here.
    public var socketFile: String { path + "/.socket" }

    /// Every folder, parents first.
    public var folders: [String] {
        [path, documents, library, applicationSupport, caches, preferences, scripts, tmp]
    }

    /// The root as people like to read it, `~/.local/share/cubby`.
    public var displayPath: String { DisplayPath.abbreviate(path) }

    /// The same, and whether it is of this run alone.
    public var title: String { displayPath + (isTemporary ? " (of this run alone)" : "") }

    /// A container at a path, which need not exist yet.
    ///
    /// - Parameters:
    ///   - path: the root; a relative path is taken from the working directory, now.
    ///   - isTemporary: whether it is of one run alone. Who says so removes it.
    public init(path: String, isTemporary: Bool = false) {
        self.isTemporary = isTemporary
        let base = path.hasPrefix("/") ? "/" : WorkingDirectory.path ?? "/"
        self.path = PathText.absolute(path, from: base)
    }

    /// Where the container is: the path given, else `$CUBBY_CONTAINER`, else `$XDG_DATA_HOME/<name>`, else
    /// `~/.local/share/<name>`.
    ///
    /// - Parameters:
    ///   - path: what the user asked for.
    ///   - name: the application's folder name.
    ///   - environment: looks a variable up; the process's own environment if not given.
    /// - Returns: the container, or nil when nothing was given and there is no home folder.
    public static func locate(
        _ path: String? = nil, name: String = "cubby", environment: (String) -> String? = { Environment.value($0) }
    ) -> Container? {
        if let path, !path.isEmpty { return Container(path: path) }
        if let path = environment("CUBBY_CONTAINER"), !path.isEmpty { return Container(path: path) }
        // The XDG specification tells to ignore a relative path.
        if let data = environment("XDG_DATA_HOME"), data.hasPrefix("/") {
            return Container(path: PathText.join(data, name))
        }
        let home = environment("HOME").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? HomeFolder.path
        return home.map { Container(path: PathText.join($0, ".local/share/" + name)) }
    }

    /// Opens the container for the host's own work in it, and makes what folders are missing, closed to other users (`0700`).
    ///
    /// The root's own path may lead through links. Beneath it there are none in the places of the container's folders and
    /// files: whoever lays one there would have the host read, write and remove what is the user's elsewhere.
    ///
    /// - Returns: the file system beneath the root, which follows no link.
    /// - Throws: `FileError`, `isMisplaced` when something else is where a folder or a file of the container's has to be.
    package func open() throws(FileError) -> BeneathFileLayer {
        try PosixFileLayer().makeDirectories(path, permissions: 0o700)
        let layer = try BeneathFileLayer(path)
        for folder in folders.dropFirst() where try !layer.contains(folder, .directory) {
            try layer.makeDirectories(folder, permissions: 0o700)
        }
        try checkLayout(in: layer)
        return layer
    }

    /// The same for a container that has to be there: nothing is made.
    ///
    /// - Returns: the file system beneath the root, which follows no link.
    /// - Throws: `FileError`, as of `open()`.
    package func openExisting() throws(FileError) -> BeneathFileLayer {
        let layer = try BeneathFileLayer(path)
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

    /// Makes the folders that are missing, closed to other users (`0700`).
    ///
    /// - Throws: `FileError`, as of `open()`.
    public func create() throws(FileError) { _ = try open() }

    /// Empties `tmp`. What cannot be removed stays; links are removed, not followed.
    ///
    /// - Parameter layer: the file system, of `open()`.
    /// - Throws: `FileError` when `tmp` itself cannot be read.
    public func emptyTemporaryFolder(using layer: any FileLayer) throws(FileError) {
        for name in try layer.list(tmp) { FolderRemover.remove(PathText.join(tmp, name), using: layer) }
    }

    /// Removes what interrupted writes left behind. Call it at launch with the lock held.
    ///
    /// - Parameter layer: the file system, of `open()`.
    /// - Returns: the paths that were removed.
    @discardableResult
    public func removeLeftovers(using layer: any FileLayer) -> [String] {
        folders.flatMap { folder in
            ((try? AtomicFile.removeLeftovers(in: folder, using: layer)) ?? []).map { PathText.join(folder, $0) }
        }
    }
}
