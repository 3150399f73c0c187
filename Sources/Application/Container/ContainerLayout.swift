import Files

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

    /// What is in the place of a folder, or of a file, and is something else.
    struct Misplaced {
        let path: String
        let status: FileStatus
        /// The error of a launch.
        let error: FileError
    }

    /// The misplaced parts of a container, folders first. What is beneath another one is not examined.
    static func misplaced(in container: Container, using layer: BeneathFileLayer) throws(FileError) -> [Misplaced] {
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
    /// - Parameter container: the container; scripts may read its preferences.
    package func closeLayout(of container: Container) {
        for file in ContainerLayout.files { close(PathText.join(container.path, file)) }
        close(container.socketFile)
        close(folder: ContainerRestore.folder(of: container))
        close(container.preferences, .contents(readable: true))
        for folder in container.folders.dropFirst() where folder != container.preferences { close(folder, .folder) }
        for folder in ContainerLayout.optionalFolders { close(PathText.join(container.path, folder), .folder) }
        close(container.outgoingImages, .folder)
    }
}
