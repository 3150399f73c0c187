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
}
