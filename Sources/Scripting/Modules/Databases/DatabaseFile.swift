import Application
import Files
import Glibc
import SQLite

/// The files of SQLite databases, behind the fence.
///
/// SQLite itself opens files by name. So a database is opened by a path without links, after the fence has allowed it
/// and SQLite's files beside it; the database's own file system refuses any other name. The file is not opened here:
/// closing it would release the locks of another connection.
enum DatabaseFile {
    /// Opens a database; for writing, a missing one is created.
    ///
    /// - Throws: `FileError`, `SQLiteError`.
    static func open(_ host: ScriptHost, _ path: String, isReadOnly: Bool) throws -> SQLiteDatabase {
        let access = isReadOnly ? FenceAccess.read : .readWrite
        try host.askConsent(path, access)
        try check(host, path, access)
        let layer = host.fence.layer
        switch try layer.status(path)?.kind {
        case .regular: break
        case nil where !isReadOnly: layer.close(try layer.open(path, .createNew))
        case nil: throw FileError(.open, path, code: ENOENT)
        case .directory: throw FileError(.open, path, code: EISDIR)
        default: throw FileError(.open, path, code: EACCES, reason: "a database is a regular file, and no link to one")
        }
        guard let resolved = realpath(PathText.absolute(path, from: host.fence.base), nil) else {
            throw FileError(.open, path, code: errno)
        }
        defer { free(resolved) }
        let real = String(cString: resolved)
        try check(host, real, access)
        let database = try SQLiteDatabase(path: real, temporaryFolder: host.container.tmp, isReadOnly: isReadOnly)
        // Reads the schema: a file that is not a database or has a damaged schema is reported at once.
        _ = try database.tables()
        return database
    }

    private static func check(_ host: ScriptHost, _ path: String, _ access: FenceAccess) throws(FileError) {
        for suffix in access == .read ? [""] : ["", "-journal", "-wal", "-shm"] {
            try host.fence.check(path + suffix, access)
        }
    }

    /// Runs a body that writes a new database, which replaces the file at a path once it is complete.
    static func replace<Result>(
        _ host: ScriptHost, _ path: String, _ body: (SQLiteDatabase) throws -> Result
    ) throws -> Result {
        let layer = host.fence.layer
        let temporary = PathText.join(PathText.parent(of: path), TemporaryName.next())
        defer { try? layer.remove(temporary) }
        let database = try open(host, temporary, isReadOnly: false)
        // No other process has the new file open, and a crash leaves the old one.
        try database.execute("pragma synchronous = off")
        let result = try body(database)
        database.close()
        let file = try layer.open(temporary, .update)
        defer { layer.close(file) }
        try layer.sync(file)
        try layer.rename(temporary, to: path)
        try layer.syncDirectory(PathText.parent(of: path))
        return result
    }
}
