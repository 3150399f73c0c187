import Glibc
import Testing

@testable import Files

@Suite("FileStatus")
struct FileStatusTests {
    /// Permissions, owner and group, and whether user 1000 has to share it.
    static let shared: [(permissions: UInt32, owner: UInt32, group: UInt32, isShared: Bool)] = [
        (0o600, 1000, 1000, false), (0o644, 1000, 1000, false), (0o755, 1000, 100, false),
        // A group of the user's own number is the user's private one.
        (0o664, 1000, 1000, false), (0o775, 1000, 1000, false), (0o660, 1000, 100, true), (0o775, 1000, 100, true),
        (0o666, 1000, 1000, true), (0o602, 1000, 1000, true),
        (0o644, 0, 0, false), (0o664, 0, 0, true), (0o600, 1001, 1000, true),
    ]

    @Test("others can write what is theirs, and what its permissions open to them", arguments: shared)
    func writable(permissions: UInt32, owner: UInt32, group: UInt32, isShared: Bool) {
        var raw = stat()
        raw.st_mode = S_IFREG | permissions
        raw.st_uid = owner
        raw.st_gid = group
        #expect(FileStatus(raw).isOpen(0o022, toAnyoneBut: 1000) == isShared)
    }
}
