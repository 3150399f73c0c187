import CPlatform
package import Files
import Glibc

/// A secret that a connection has to show: that of a user's hosts, or of one adapter.
///
/// The kernel tells whose process is at the other end of a connection, and not that it is a program behind a fence, or a
/// web page in a browser. Those cannot read the key.
package struct AccessKey: Sendable, Hashable {
    /// The name of a user's key in the folder of the configuration.
    package static let fileName = "attach.key"
    private static let length = 64

    package let text: String

    private init(_ text: String) { self.text = text }

    /// A new key.
    package static func random() -> AccessKey {
        var generator = SystemRandomNumberGenerator()
        let words = (0..<4).map { _ in generator.next() as UInt64 }
        return AccessKey(
            words.map { word in
                let digits = String(word, radix: 16)
                return String(repeating: "0", count: 16 - digits.count) + digits
            }.joined())
    }

    /// Whether a connection has shown this key; the time does not depend on how much of it is right.
    package func isShown(by shown: String?) -> Bool {
        guard let shown, shown.utf8.count == text.utf8.count else { return false }
        return zip(shown.utf8, text.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    // MARK: The user's key

    /// The key of the user's hosts, which is made at the first call.
    ///
    /// - Parameter folder: `ConfigurationFolder.locate()`.
    /// - Returns: the key.
    /// - Throws: `FileError` if it can neither be read nor made, or others may have read it.
    package static func ofUser(in folder: String?) throws(FileError) -> AccessKey {
        guard let folder else {
            throw FileError(.open, fileName, code: ENOENT, reason: "there is no home folder for it")
        }
        let path = PathText.join(folder, fileName)
        if let key = try read(path) { return key }
        // A missing home folder is a mistake, or intended: it is not made.
        if let home = HomeFolder.path, folder.hasPrefix(home + "/"), !PosixFileLayer().exists(home + "/.") {
            throw FileError(.open, path, code: ENOENT, reason: "the home folder is not there")
        }
        try PosixFileLayer().makeDirectories(folder, permissions: 0o700)
        return try make(path)
    }

    /// Reads a key; nil if there is none.
    private static func read(_ path: String) throws(FileError) -> AccessKey? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw FileError(.open, path, code: errno)
        }
        defer { Glibc.close(descriptor) }
        var raw = stat()
        guard fstat(descriptor, &raw) == 0 else { throw FileError(.status, path, code: errno) }
        guard raw.st_mode & S_IFMT == S_IFREG, raw.st_uid == geteuid(), raw.st_mode & 0o077 == 0 else {
            throw FileError(
                .open, path, code: EPERM,
                reason: "others could have read or written it; remove it, and the next host makes one")
        }
        var bytes = [UInt8](repeating: 0, count: length + 2)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        let text = String(decoding: bytes[..<max(count, 0)].prefix { $0 != 0x0A }, as: UTF8.self)
        guard text.utf8.count == length, text.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
            throw FileError(
                .read, path, code: EBADMSG, reason: "it is not a key; remove it, and the next host makes one")
        }
        return AccessKey(text)
    }

    /// Makes the user's key, unless another process does at the same time.
    private static func make(_ path: String) throws(FileError) -> AccessKey {
        let key = random()
        let temporary = path + "." + String(key.text.prefix(8)) + "." + String(getpid())
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError(.open, path, code: errno) }
        defer { unlink(temporary) }
        let bytes = Array((key.text + "\n").utf8)
        let written = cubby_write(descriptor, bytes, bytes.count)
        guard Glibc.close(descriptor) == 0, written == bytes.count else {
            throw FileError(.write, path, code: EIO)
        }
        // A link replaces nothing: the key that is there first is everybody's.
        guard link(temporary, path) == 0 || errno == EEXIST else { throw FileError(.open, path, code: errno) }
        guard let kept = try read(path) else { throw FileError(.open, path, code: ENOENT) }
        return kept
    }
}
