package import Files
import Glibc

/// Something outside a container that its scripts may use.
package struct Grant: Sendable, Hashable {
    /// The permitted access.
    package enum Kind: String, Sendable, CaseIterable { case read, write, run }

    /// A grant's relation to the current state of the file system.
    package enum State: String, Sendable { case asApproved = "as approved", changed, gone }

    package let kind: Kind
    /// The path, without links.
    package let path: String
    /// A program's name for scripts; empty for a path.
    package let name: String
    /// A program's SHA-256 in hexadecimal digits; empty for a path, since its grant covers any contents.
    package let digest: String
    /// The time of the approval, in UTC.
    package let time: String
    /// The path by which a program was granted, if its last component is a link; else empty.
    package let spelling: String
    /// The approval: the digest of all of the above and of the container.
    var seal = ""

    init(kind: Kind, path: String, name: String, digest: String, time: String, spelling: String = "") {
        (self.kind, self.path, self.name, self.digest, self.time) = (kind, path, name, digest, time)
        self.spelling = spelling
    }

    /// A grant of a path.
    ///
    /// - Throws: `FileError` if nothing is there, or for writing to a file.
    package init(_ kind: Kind, of path: String) throws(FileError) {
        let real = try RealPath.of(path)
        if kind == .write, try PosixFileLayer().status(real)?.kind != .directory {
            throw FileError(
                .open, path, code: ENOTDIR,
                reason: "only a folder can be granted for writing: files are replaced by way of their folder")
        }
        self.init(kind: kind, path: real, name: "", digest: "", time: Self.now())
    }

    /// A grant of a program in its current state.
    package init(_ program: ProgramGrant) {
        self.init(
            kind: .run, path: program.path, name: program.name, digest: program.digest, time: Self.now(),
            spelling: program.spelling == program.path ? "" : program.spelling)
    }

    /// The program; nil for a path.
    package var program: ProgramGrant? {
        guard kind == .run else { return nil }
        return ProgramGrant(name: name, path: path, digest: digest, spelling: spelling.isEmpty ? path : spelling)
    }

    /// Whether it is replaced by another grant, or revoked with it.
    package func isSame(as other: Grant) -> Bool {
        kind == other.kind && (kind == .run ? name == other.name : path == other.path)
    }

    /// The state; computing it reads a program's file.
    package var state: State {
        guard let real = try? RealPath.of(path) else { return .gone }
        guard real == path else { return .changed }
        guard kind == .run else { return .asApproved }
        guard let file = try? ProgramFile(path) else { return .changed }
        return file.digest == digest ? .asApproved : .changed
    }

    /// For messages: `run exiftool (/usr/bin/exiftool)`.
    package var title: String {
        kind == .run
            ? "run \(name) (\(DisplayPath.abbreviate(path)))" : "\(kind.rawValue) \(DisplayPath.abbreviate(path))"
    }

    /// Without a spelling as before there was one: earlier approvals hold.
    var texts: [String] { [kind.rawValue, path, name, digest, time] + (spelling.isEmpty ? [] : [spelling]) }

    private static func now() -> String {
        var moment = timespec()
        clock_gettime(CLOCK_REALTIME, &moment)
        return LocalTime.isoText(moment).prefix(19) + "Z"
    }
}
