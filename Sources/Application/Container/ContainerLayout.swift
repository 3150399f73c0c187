/// What a container holds of the host's own besides its folders, by the paths beneath its root. Each must be what it is here
/// when it is there at all: no link, no pipe, no device.
///
/// `init.lua` and the pictures are left out: they are looked at when they are read, and one that is a link is reported and
/// passed over.
enum ContainerLayout {
    static let optionalFolders = [
        "Library/Caches/Thumbnails", "Library/Caches/Removed Images", "Library/Caches/Replaced Images",
    ]

    static let files = [
        ".lock", "Documents/items.archive", "Documents/items.journal", "Library/Caches/items.index",
        "Library/Preferences/items.plist", "Library/Application Support/restoration.plist",
        "Library/Application Support/restoration.plist.restoring", "Library/Application Support/repl_history",
    ]
}
