public import Files
import Glibc

/// A program that scripts may start by its name, in its state at the time of the grant.
public struct ProgramGrant: Sendable, Hashable {
    /// The name by which scripts start it.
    public var name: String
    /// Its absolute path, without symbolic links.
    public var path: String
    /// The SHA-256 of its file, in hexadecimal digits.
    public var digest: String
    /// The absolute path by which it was granted, whose last component may be a link: the only path that scripts may
    /// write in place of the name.
    public var spelling: String

    package init(name: String, path: String, digest: String, spelling: String? = nil) {
        (self.name, self.path, self.digest, self.spelling) = (name, path, digest, spelling ?? path)
    }

    /// Whether its arguments can name other programs, which it starts with the user's rights.
    public var startsOthers: Bool {
        [name, PathText.name(of: path)].contains(where: ProgramStarters.contain)
    }

    /// Finds a program in `PATH`, or by a path with a slash, and reads its file.
    ///
    /// - Parameter program: its name or its path; scripts know it by the last component.
    /// - Throws: `FileError` if it does not exist, cannot be read, or can be written by other users.
    public init(_ program: String) throws(FileError) {
        guard let found = Self.find(program) else {
            throw FileError(.open, program, code: ENOENT, reason: "there is no such program in PATH")
        }
        name = PathText.name(of: program)
        spelling = PathText.absolute(found, from: WorkingDirectory.path ?? "/")
        path = try RealPath.of(found)
        guard access(path, X_OK) == 0 else { throw FileError(.open, path, code: EACCES, reason: "it is not a program") }
        let file = try ProgramFile(path)
        guard !file.status.isWritableByOthers else {
            throw FileError(
                .open, path, code: EPERM, reason: "somebody other than you can write it; chmod go-w mends that")
        }
        digest = file.digest
    }

    private static func find(_ program: String) -> String? {
        if program.utf8.contains(UInt8(ascii: "/")) { return program }
        return (Environment.value("PATH") ?? "").split(separator: ":").map { PathText.join(String($0), program) }
            .first { access($0, X_OK) == 0 && (try? PosixFileLayer().status($0 + "/.")) == .some(nil) }
    }
}
