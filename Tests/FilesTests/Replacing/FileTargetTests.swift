import Glibc
import TestSupport
import Testing

@testable import Files

@Suite("Files that somebody names to be written")
struct FileTargetTests {
    let directory: TemporaryDirectory
    let layer = PosixFileLayer()

    init() throws { directory = try TemporaryDirectory() }

    private func kind(_ name: String) throws -> FileStatus.Kind? { try layer.status(directory.file(name))?.kind }
    private func text(_ name: String) throws -> String { String(decoding: try directory.read(name), as: UTF8.self) }

    /// Links, each with the name of the file that it leads to in the end.
    static let links: [[String: String]] = [
        ["link": "file"], ["link": "./sub/../file"], ["link": "other", "other": "file"],
        ["link": "sub/up", "sub/up": "../file"],
    ]

    @Test("a link stays, and what it leads to is replaced, or made", arguments: links, [true, false])
    func link(_ links: [String: String], isThere: Bool) throws {
        try layer.makeDirectory(directory.file("sub"), permissions: 0o700)
        if isThere { try directory.write("old", to: "file") }
        for (name, target) in links { symlink(target, directory.file(name)) }
        try FileTarget.write(Array("new".utf8), to: directory.file("link"))
        #expect(try text("file") == "new")
        for name in links.keys { #expect(try kind(name) == .symbolicLink) }
        #expect(try directory.contents().filter(TemporaryName.matches).isEmpty)
    }

    @Test("a link that leads to itself is an error")
    func loop() throws {
        symlink("loop", directory.file("loop"))
        let error = #expect(throws: FileError.self) { try FileTarget.write([1], to: directory.file("loop")) }
        #expect(error?.code == ELOOP)
    }

    @Test("a pipe gets the bytes, through a link as well, and stays one")
    func pipe() throws {
        let path = directory.file("pipe")
        mkfifo(path, 0o600)
        symlink("pipe", directory.file("link"))
        for name in ["pipe", "link"] {
            let reader = WorkerThread { try? PosixFileLayer().contents(of: path) }
            try FileTarget.write(Array("text".utf8), to: directory.file(name))
            #expect(reader.join() == .some(Array("text".utf8)))
            #expect(try kind("pipe") == .other)
        }
    }

    @Test("a device swallows the bytes and stays one", .enabled(if: getuid() == 0, "only root makes devices"))
    func device() throws {
        let path = directory.file("null")
        guard mknod(path, S_IFCHR | 0o666, dev_t(1 << 8 | 3)) == 0 else {
            try Test.cancel("devices cannot be made here: \(String(cString: strerror(errno)))")
        }
        // Some file systems let nobody use a device on them.
        try? FileTarget.write([1, 2], to: path)
        #expect(throws: FileError.self) { try AtomicFile.write([1], to: path) }
        #expect(try kind("null") == .other)
    }

    @Test("neither a pipe nor a socket is ever replaced")
    func kept() throws {
        mkfifo(directory.file("pipe"), 0o600)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: directory.file("socket").utf8.prefix(107)) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(bound == 0)
        for name in ["pipe", "socket"] {
            for permissions in [nil, 0o600] as [UInt32?] {
                let error = #expect(throws: FileError.self) {
                    try AtomicFile.write([1], to: directory.file(name), permissions: permissions)
                }
                #expect(error?.reason == "it is not a regular file")
            }
            #expect(try kind(name) == (name == "pipe" ? .other : .socket))
        }
        #expect(throws: FileError.self) { try FileTarget.write([1], to: directory.file("socket")) }
        #expect(try kind("socket") == .socket)
    }

    @Test(
        "names of the process's own descriptors",
        arguments: [
            ("/dev/stdout", 1), ("/dev/stderr", 2), ("/dev/fd/7", 7), ("/proc/self/fd/1", 1), ("/dev/fd/x", nil),
            ("/dev/null", nil), ("stdout", nil), ("/dev/fd/-1", nil),
        ] as [(String, Int32?)])
    func streams(path: String, descriptor: Int32?) throws {
        #expect(StandardDescriptor.descriptor(of: path) == descriptor)
    }

    @Test("a descriptor is written to where it stands; for who may not reach them its name is a path as any other")
    func descriptor() throws {
        let path = try directory.write("begin ", to: "file")
        let descriptor = open(path, O_WRONLY | O_APPEND)
        defer { close(descriptor) }
        symlink("/dev/fd/\(descriptor)", directory.file("link"))
        try FileTarget.write(Array("end".utf8), to: directory.file("link"), reachesStreams: true)
        #expect(try text("file") == "begin end")
    }
}
