import Application
import Files
import Glibc
import Items
import Lua

/// `app:backup`: a copy of the container while the host runs.
enum BackupBinding {
    static func declare(on cls: LuaClass<ScriptApplication>) {
        cls.method(
            "backup", ["path": "the path of a new folder"],
            "Copies the container, without Caches and tmp, to a new folder, which appears once it is complete. Returns the number of files, or nil and an error. `cubby restore` restores it.",
            example: "return app:backup(app.container.tmp .. \"/copy\")"
        ) { (app, path: String) in
            try app.host.attempt(path, .readWrite) { try copy(app.host, to: path, $0) }
        }
    }

    private static func copy(_ host: ScriptHost, to path: String, _ layer: FencedFileLayer) throws -> Int {
        if MemoryContainer.isFolder(host.container.path) {
            throw LuaError(.argument, "the items are in memory: items:export writes a file")
        }
        if ContainerBackup.isPath(path, in: host.container) {
            throw LuaError(.argument, "a backup does not go into the container itself: \(path)")
        }
        if host.items.isInTransaction {
            throw LuaError(.argument, "not possible inside a transaction: its changes are not committed yet")
        }
        if layer.exists(path) {
            throw FileError(.open, path, code: EEXIST, reason: "it is there already: give a new name")
        }
        // Makes the script's changes so far part of the backup.
        host.syncCommitted()
        return try ContainerBackup.make(
            host.container, at: PathText.absolute(path, from: host.fence.base), using: layer
        ).files
    }
}
