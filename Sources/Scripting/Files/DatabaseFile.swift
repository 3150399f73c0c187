import Application
import CPlatform
import Files
import Glibc
import Lua
import PropertyList
package import SQLite

/// The files of SQLite databases, behind the fence.
///
/// SQLite itself opens files by name. So the fence opens the database's folder, beneath its grant, and the database's own
/// file system opens the file and SQLite's files beside it in this folder, and nothing else. The file is not opened here:
/// closing it would release the locks of another connection.
package enum DatabaseFile {
    /// SQLite's files beside a database.
    static let suffixes = ["-journal", "-wal", "-shm"]

    /// Opens a database; for writing, a missing one is created.
    ///
    /// - Throws: `FileError`, `SQLiteError`.
    package static func open(_ host: ScriptHost, _ path: String, isReadOnly: Bool) throws -> SQLiteDatabase {
        let place = try place(host, path, isReadOnly: isReadOnly)
        do throws(SQLiteError) {
            let database = try SQLiteDatabase(
                path: place.path, folder: place.folder, temporaryFolder: place.temporaryFolder, isReadOnly: isReadOnly)
            database.limitValues(toMemory: host.state.memory.limit)
            return database
        } catch {
            // A log beside the database is read by way of a file of SQLite's own, which it may not make here.
            guard isReadOnly, [.cannotOpen, .readOnly, .inputOutput].contains(error.code),
                let copy = try DatabaseCopy(host, place.path).open()
            else { throw error }
            copy.limitValues(toMemory: host.state.memory.limit)
            return copy
        }
    }

    /// Opens the folder of a database; for writing, a missing one is created unless `createsMissing` is false.
    ///
    /// - Returns: the place, whose descriptors are closed by whoever opens the database.
    /// - Throws: `FileError`.
    static func place(
        _ host: ScriptHost, _ path: String, isReadOnly: Bool, createsMissing: Bool = true
    ) throws -> SQLitePlace {
        let access = isReadOnly ? FenceAccess.read : .readWrite
        let layer = host.fence.layer
        try host.askConsent(path, access)
        let beside = isReadOnly ? [] : suffixes
        for suffix in [""] + beside { try host.fence.check(path + suffix, access) }
        if !isReadOnly, createsMissing, try layer.status(path) == nil {
            layer.close(try layer.open(path, .createNew))
        }
        let (folder, status) = try layer.folder(of: path, suffixes: beside, access)
        var isTaken = false
        defer { if !isTaken { close(folder) } }
        switch status?.kind {
        case .regular?: break
        case nil: throw FileError(.open, path, code: ENOENT)
        case .directory?: throw FileError(.open, path, code: EISDIR)
        default: throw FileError(.open, path, code: EACCES, reason: "a database is a regular file, and no link to one")
        }
        if isReadOnly {
            // Without its log, a database has an earlier content.
            var log = stat()
            if fstatat(folder, PathText.name(of: path) + "-wal", &log, AT_SYMLINK_NOFOLLOW) == 0, log.st_size > 0 {
                try host.fence.check(path + "-wal", .read)
            }
        }
        isTaken = true
        let temporary = Glibc.open(host.container.tmp, cubby_open_path | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        return SQLitePlace(
            path: PathText.absolute(path, from: host.fence.base), folder: folder, temporaryFolder: temporary)
    }

    /// Runs a body that changes a database, in its own transaction.
    package static func update<Result>(
        _ host: ScriptHost, _ path: String, _ body: (SQLiteDatabase) throws -> Result
    ) throws -> Result {
        let database = try open(host, path, isReadOnly: false)
        defer { database.close() }
        return try naming(path) { try body(database) }
    }

    /// Names the file in an error of the disk, which SQLite does not.
    private static func naming<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as SQLiteError where [.full, .inputOutput].contains(error.code) {
            throw FileError(.write, path, code: error.code == .full ? ENOSPC : EIO, reason: error.message)
        }
    }

    /// Runs a body that writes a new database, which replaces the file at a path once it is complete.
    package static func replace<Result>(
        _ host: ScriptHost, _ path: String, _ body: (SQLiteDatabase) throws -> Result
    ) throws -> Result {
        let layer = host.fence.layer
        let temporary = PathText.join(PathText.parent(of: path), layer.temporaryName())
        defer { try? layer.remove(temporary) }
        let database = try open(host, temporary, isReadOnly: false)
        let result = try naming(path) {
            // No other process has the new file open, and a crash leaves the old one.
            try database.execute("pragma synchronous = off")
            return try body(database)
        }
        database.close()
        let file = try layer.open(temporary, .update)
        defer { layer.close(file) }
        try layer.sync(file)
        try layer.rename(temporary, to: path)
        try layer.syncDirectory(PathText.parent(of: path))
        return result
    }
}

/// A private copy of a database with a write-ahead log, in a folder where SQLite may not make the file by which it reads
/// the log.
///
/// Nothing is written beside the database, and no lock is taken: a program that writes to it is not disturbed. The copy
/// is of one moment: it is made anew if the database changed meanwhile.
private struct DatabaseCopy {
    /// Maximum size of a database with its log, in bytes.
    private static let limit = 1 << 30
    private static let tries = 20
    /// The pause between two tries, in microseconds.
    private static let pause: UInt32 = 50_000
    /// The age, in nanoseconds, at which a file's time tells every later change.
    private static let age: Int64 = 40_000_000
    private static let suffixes = ["", "-wal"]

    private let host: ScriptHost
    private let layer: FencedFileLayer
    private let path: String

    init(_ host: ScriptHost, _ path: String) { (self.host, layer, self.path) = (host, host.fence.layer, path) }

    /// Opens the copy, which has no name any more then; nil for a database without a log.
    ///
    /// - Throws: `FileError`; `SQLiteError` with `busy` for a database that changes all the time, `tooBig` for a large
    ///   one.
    func open() throws -> SQLiteDatabase? {
        guard try head(of: path, 20).dropFirst(18) == [2, 2] else { return nil }
        let folder = host.container.tmp
        let target = PathText.join(folder, TemporaryName.next())
        defer { for suffix in [""] + DatabaseFile.suffixes { try? PosixFileLayer().remove(target + suffix) } }
        for _ in 0..<Self.tries {
            if try copy(to: target) {
                let writable = try SQLiteDatabase(path: target, temporaryFolder: folder, isReadOnly: false)
                try writable.execute("pragma journal_mode = delete")
                writable.close()
                return try SQLiteDatabase(path: target, temporaryFolder: folder, isReadOnly: true)
            }
            if Interruption.isDue { throw WorkStopped() }
            usleep(Self.pause)
        }
        throw SQLiteError(
            .busy,
            "\(path) is written to all the time, and was not copied as a whole: try again, or grant writing beside it, for SQLite's locks, with --allow-write \(PathText.parent(of: path))"
        )
    }

    /// Copies the database and its log; false if they changed meanwhile.
    private func copy(to target: String) throws -> Bool {
        guard let before = try state() else { return false }
        guard before.size <= Self.limit else {
            throw SQLiteError(
                .tooBig,
                "\(path) has a log and more than 1 GB, and may only be read: grant writing beside it, for SQLite's locks, with --allow-write \(PathText.parent(of: path))"
            )
        }
        for suffix in Self.suffixes {
            try? PosixFileLayer().remove(target + suffix)
            if layer.exists(path + suffix) { try copy(path + suffix, to: target + suffix) }
        }
        return try state() == before
    }

    private func copy(_ source: String, to target: String) throws {
        let (from, to) = (
            try layer.open(source, .read), try PosixFileLayer().open(target, .createNew, permissions: 0o600)
        )
        defer {
            layer.close(from)
            PosixFileLayer().close(to)
        }
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { chunk.deallocate() }
        // A log that grows meanwhile is copied as far as it was.
        var rest = try layer.status(from).size
        while rest > 0 {
            if Interruption.isDue { throw WorkStopped() }
            let count = try layer.read(from, into: .init(rebasing: chunk[..<min(chunk.count, rest)]))
            if count == 0 { return }
            try PosixFileLayer().writeAll(chunk.bytes.extracting(first: count), to: to)
            rest -= count
        }
    }

    /// What is different after another change of the database's own file, or after its log was begun anew.
    private struct State: Equatable {
        var inode: UInt64
        var modified: Int64
        var size: Int
        var log: [UInt8]
    }

    /// The state; nil right after a change, whose time a later one may have, too.
    private func state() throws -> State? {
        guard let status = try layer.status(path) else { throw FileError(.open, path, code: ENOENT) }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let age = Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec) - status.modified
        if (-Self.age..<Self.age).contains(age) { return nil }
        let log = layer.exists(path + "-wal") ? try head(of: path + "-wal", 32) : []
        return State(inode: status.inode, modified: status.modified, size: status.size, log: log)
    }

    private func head(of path: String, _ count: Int) throws -> [UInt8] {
        let file = try layer.open(path, .read)
        defer { layer.close(file) }
        var bytes = [UInt8](repeating: 0, count: count)
        let got = try bytes.withUnsafeMutableBytes { try layer.read(file, into: $0) }
        return Array(bytes.prefix(got))
    }
}
