import CPlatform
internal import Platform

/// The entries of earlier sessions and of this one, oldest first. An entry is a whole block.
public struct EditorHistory: Sendable {
    /// The entries, oldest first; no two are the same.
    public private(set) var entries: [String] = []
    /// Maximum number of entries; the oldest are dropped first.
    package let limit: Int
    /// Whether ``add(_:)`` stores entries: false is private mode.
    package var isRecording = true

    /// A history of limited length; of duplicate entries the last is kept.
    public init(_ entries: some Sequence<String> = [], limit: Int = 10_000) {
        self.limit = max(1, limit)
        self.entries = entries.reversed().unique().prefix(self.limit).reversed()
    }

    /// Adds an entry as the newest; an earlier duplicate is removed.
    ///
    /// Blank entries, entries that begin with a space (the shells' convention), and all entries while ``isRecording``
    /// is false are ignored. Complexity: linear in the entries.
    /// - Returns: whether it was added.
    @discardableResult
    package mutating func add(_ entry: String) -> Bool {
        guard accepts(entry) else { return false }
        if entries.last == entry { return true }
        entries.removeAll { $0 == entry }
        entries.append(entry)
        if entries.count > limit { entries.removeFirst(entries.count - limit) }
        return true
    }

    /// Whether ``add(_:)`` would store an entry, for a host that writes it to a file.
    package func accepts(_ entry: String) -> Bool {
        isRecording && !entry.hasPrefix(" ") && !entry.allSatisfy(\.isWhitespace)
    }

    /// Removes all entries.
    package mutating func removeAll() { entries.removeAll() }

    /// The newest entry before an index that has a prefix and is longer than it.
    package func newest(withPrefix prefix: String) -> Int? {
        entries.lastIndex { $0.utf8.count > prefix.utf8.count && $0.hasPrefix(prefix) }
    }
}

/// A history's file, with one entry for each line.
///
/// A line break in an entry is written as `\n`, a return as `\r` and a backslash as `\\`, so that any text editor can
/// read it and a torn line loses one entry. Several processes may append concurrently: each entry is one write under a
/// lock. The file has mode 0600.
package struct HistoryFile: Sendable {
    /// The file's path.
    package let path: String
    /// Whether the file may be a symbolic link.
    package let followsLinks: Bool
    /// Maximum size read, from the end of a larger file.
    private static let maximumBytes = 64 << 20

    /// A history in a file; opens nothing yet.
    ///
    /// - Parameters:
    ///   - path: the file, which need not exist.
    ///   - followsLinks: whether the file may be a symbolic link; false where other users could create one.
    package init(path: String, followsLinks: Bool = true) {
        self.path = path
        self.followsLinks = followsLinks
    }

    /// Reads the entries without duplicates. A missing file is an empty history.
    ///
    /// A file with many more lines than the limit is rewritten with the kept entries.
    package func load(limit: Int = 10_000) throws(HistoryError) -> EditorHistory {
        guard let descriptor = try opened(O_RDONLY) else { return EditorHistory(limit: limit) }
        defer { close(descriptor) }
        let bytes = try readAll(descriptor)
        let lines = bytes.split(separator: 0x0A)
        let history = EditorHistory(lines.map(Self.decode), limit: limit)
        if lines.count > 2 * history.limit { try rewrite(history) }
        return history
    }

    /// Appends an entry atomically.
    package func append(_ entry: String) throws(HistoryError) {
        let descriptor = try openLocked()
        defer { close(descriptor) }
        var line = Self.encode(entry)
        // After an interrupted write, the torn line must not join this one.
        let size = lseek(descriptor, 0, SEEK_END)
        if size > 0 {
            var last: UInt8 = 0x0A
            if pread(descriptor, &last, 1, size - 1) == 1, last != 0x0A { line.insert(0x0A, at: 0) }
        }
        guard cubby_write(descriptor, line, line.count) == line.count else {
            let reason = errno
            if size >= 0 { ftruncate(descriptor, size) }
            throw HistoryError("written", path, reason)
        }
    }

    /// Replaces the file's contents by a new file and a rename.
    package func rewrite(_ history: EditorHistory) throws(HistoryError) {
        let lock = try openLocked()
        defer { close(lock) }
        // The folder stays open, and the new file is made under a name that was free: what others put there is neither
        // followed nor overwritten.
        let target = Self.resolved(path)
        let slash = target.lastIndex(of: "/")
        let parent = slash.map { $0 == target.startIndex ? "/" : String(target[..<$0]) } ?? "."
        let name = slash.map { String(target[target.index(after: $0)...]) } ?? target
        let folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw HistoryError("opened", parent, errno) }
        defer { close(folder) }
        let temporary = ".cubby-\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 36)).tmp"
        let descriptor = openat(
            folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw HistoryError("created", target, errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        for entry in history.entries { bytes += Self.encode(entry) }
        let isWhole = cubby_write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
        guard isWhole, Self.isFile(descriptor, temporary, in: folder),
            renameat(folder, temporary, folder, name) == 0
        else {
            let failure = errno
            unlinkat(folder, temporary, 0)
            throw HistoryError("written", path, failure)
        }
    }

    /// Whether a name is still that of an open file; otherwise errno says why.
    private static func isFile(_ descriptor: CInt, _ name: String, in folder: CInt) -> Bool {
        var held = stat()
        var named = stat()
        guard fstat(descriptor, &held) == 0, fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 else {
            return false
        }
        if held.st_ino == named.st_ino, held.st_dev == named.st_dev { return true }
        errno = EBUSY
        return false
    }

    // MARK: Lines

    static func encode(_ entry: String) -> [UInt8] {
        var line: [UInt8] = []
        for byte in entry.utf8 {
            switch byte {
            case 0x0A: line += [0x5C, UInt8(ascii: "n")]
            case 0x0D: line += [0x5C, UInt8(ascii: "r")]
            case 0x5C: line += [0x5C, 0x5C]
            default: line.append(byte)
            }
        }
        line.append(0x0A)
        return line
    }

    static func decode(_ line: some Collection<UInt8>) -> String {
        guard line.contains(0x5C) else { return String(decoding: line, as: UTF8.self) }
        var bytes: [UInt8] = []
        var rest = line.makeIterator()
        while let byte = rest.next() {
            guard byte == 0x5C else {
                bytes.append(byte)
                continue
            }
            switch rest.next() {
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case 0x5C, nil: bytes.append(0x5C)
            case let other?: bytes += [0x5C, other]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Files

    /// Opens the file at the path and locks it, even if another process has just replaced it; nil when there is none.
    /// Non-blocking: a pipe's other end may never be opened.
    private func opened(_ flags: CInt) throws(HistoryError) -> CInt? {
        let links = followsLinks ? 0 : O_NOFOLLOW
        let descriptor = open(path, flags | links | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw HistoryError("opened", path, errno)
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw HistoryError("opened", path, EINVAL)
        }
        return descriptor
    }

    private func openLocked() throws(HistoryError) -> CInt {
        for _ in 0..<8 {
            guard let descriptor = try opened(O_RDWR | O_APPEND | O_CREAT) else {
                throw HistoryError("opened", path, ENOENT)
            }
            while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
            var held = stat()
            var named = stat()
            if fstat(descriptor, &held) == 0, stat(path, &named) == 0, held.st_ino == named.st_ino,
                held.st_dev == named.st_dev
            {
                if held.st_mode & 0o077 != 0 { fchmod(descriptor, 0o600) }
                return descriptor
            }
            close(descriptor)
        }
        throw HistoryError("opened", path, EBUSY)
    }

    private func readAll(_ descriptor: CInt) throws(HistoryError) -> [UInt8] {
        let size = lseek(descriptor, 0, SEEK_END)
        lseek(descriptor, max(size - Self.maximumBytes, 0), SEEK_SET)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count < Self.maximumBytes {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw HistoryError("read", path, errno) }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        return bytes
    }

    /// The target of symbolic links, so that a linked file is replaced and not the link.
    private static func resolved(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }
}

/// The history's file could not be read or written.
package struct HistoryError: Error, Sendable, CustomStringConvertible {
    /// The file.
    package let path: String
    /// The system's error number.
    package let code: Int32
    /// The message: the problem, its place and the remedy.
    package let description: String

    init(_ action: String, _ path: String, _ code: Int32) {
        self.path = path
        self.code = code
        let reason = String(cString: strerror(code))
        description =
            "The history \(path) could not be \(action): \(reason). "
            + "This session's lines won't be remembered; check the folder's permissions and the free space."
    }
}
