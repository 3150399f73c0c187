import Application
import Files
import Glibc
import TestSupport
import Testing

@Suite("Container")
struct ContainerTests {
    let scratch: TemporaryDirectory

    init() throws { scratch = try TemporaryDirectory() }

    @Test func makesItsFoldersClosedToOthers() throws {
        let container = ApplicationContainer(path: scratch.file("deep/er/box"))
        try container.create()
        try container.create()
        for folder in container.folders {
            #expect(try PosixFileLayer().status(folder)?.permissions == 0o700, "\(folder)")
        }
        #expect(scratch.names("deep/er/box") == ["Documents", "Library", "tmp"])
        #expect(
            scratch.names("deep/er/box/Library") == ["Application Support", "Caches", "Preferences", "Scripts"])
    }

    @Test("a socket is the user's alone, and makes it so without the umask, which all threads have")
    func socketsOfSeveralThreads() throws {
        let mask = try umaskLine()
        let containers = (0..<4).map { ApplicationContainer(path: scratch.file("box\($0)")) }
        for container in containers { try container.create() }
        let threads = containers.map { container in
            WorkerThread { () -> [UInt32?] in
                (0..<50).map { _ in
                    guard let socket = try? ContainerSocket(listeningIn: container, key: .random()) else { return nil }
                    return try? PosixFileLayer().status(socket.path)?.permissions
                }
            }
        }
        for thread in threads { #expect(thread.join() == Array(repeating: 0o600, count: 50)) }
        #expect(try umaskLine() == mask)
    }

    /// Read without setting it, which other tests would see.
    private func umaskLine() throws -> Substring? {
        let status = String(decoding: try PosixFileLayer().contents(of: "/proc/self/status"), as: UTF8.self)
        return status.split(separator: "\n").first { $0.hasPrefix("Umask:") }
    }

    @Test("a link that leads to no folder is named as one")
    func deadLink() throws {
        symlink("nowhere", scratch.file("link"))
        let error = #expect(throws: FileError.self) {
            _ = try OpenedContainer(ApplicationContainer(path: scratch.file("link")))
        }
        #expect(error?.message.hasSuffix("it is a link that leads to no folder") == true)
        #expect(scratch.names() == ["link"])
    }

    @Test("a container of the longest name has a configuration of its own", arguments: ["x", "ä"])
    func longName(sign: String) throws {
        let name = String(repeating: sign, count: 254 / sign.utf8.count)
        let files = try ["a", "b"].map {
            try ConfigurationFile(for: ApplicationContainer(path: scratch.file(name + $0)), in: "/configuration")
        }
        #expect(files[0].path != files[1].path)
        #expect(files.allSatisfy { PathText.name(of: $0.path).utf8.count < 256 })
    }

    @Test func refusesAFileInItsPlace() throws {
        try AtomicFile.write([], to: scratch.file("box"), durable: false)
        #expect(throws: FileError.self) { try ApplicationContainer(path: scratch.file("box")).create() }
    }

    @Test(
        arguments: [
            (nil, ["HOME": "/h"], "/h/.local/share/cubby"),
            (nil, ["HOME": "/h", "XDG_DATA_HOME": "/d/"], "/d/cubby"),
            (nil, ["HOME": "/h", "XDG_DATA_HOME": "relative"], "/h/.local/share/cubby"),
            (nil, ["HOME": "/h", "XDG_DATA_HOME": "/d", "CUBBY_CONTAINER": "/c/../e"], "/e"),
            ("/given/", ["HOME": "/h", "CUBBY_CONTAINER": "/c"], "/given"),
        ] as [(String?, [String: String], String)])
    func isLocated(path: String?, environment: [String: String], expected: String) {
        #expect(ApplicationContainer.locate(path, environment: { environment[$0] })?.path == expected)
    }

    @Test func aRelativePathIsMadeAbsolute() {
        #expect(ApplicationContainer(path: "box").path == (WorkingDirectory.path ?? "") + "/box")
    }

    @Test("a folder that is not a container, with files in its tmp, is refused and stays as it is")
    func foreignTemporaryFolder() throws {
        let container = ApplicationContainer(path: scratch.file("project"))
        try PosixFileLayer().makeDirectories(container.tmp)
        try AtomicFile.write([1], to: container.tmp + "/notes.txt", durable: false)
        for _ in 1...2 {
            let error = #expect(throws: FileError.self) { _ = try OpenedContainer(container) }
            #expect(error?.isMisplaced == true && error?.message.contains("not a container yet") == true)
            #expect(scratch.names("project") == ["tmp"] && scratch.names("project/tmp") == ["notes.txt"])
        }
        // A container's own are of an earlier run.
        try PosixFileLayer().remove(container.tmp + "/notes.txt")
        _ = try OpenedContainer(container)
        try AtomicFile.write([1], to: container.tmp + "/scratch", durable: false)
        _ = try OpenedContainer(container)
    }

    @Test func emptiesItsTemporaryFolderWithoutFollowingLinks() throws {
        let container = ApplicationContainer(path: scratch.file("box"))
        try container.create()
        let layer = PosixFileLayer()
        try layer.makeDirectories(container.tmp + "/a/b/c")
        try AtomicFile.write([1], to: container.tmp + "/a/b/file", durable: false)
        try layer.makeDirectories(scratch.file("outside"))
        try AtomicFile.write([1], to: scratch.file("outside/kept"), durable: false)
        symlink(scratch.file("outside"), container.tmp + "/link")
        try container.emptyTemporaryFolder(using: container.open())
        #expect(scratch.names("box/tmp") == [])
        #expect(scratch.names("outside") == ["kept"])
    }

    @Test func removesLeftoversEverywhere() throws {
        let container = ApplicationContainer(path: scratch.file("box"))
        try container.create()
        let leftover = container.documents + "/.cubby-1-x-1.tmp"
        try AtomicFile.write([1], to: leftover, durable: false)
        let files = try container.open()
        #expect(container.removeLeftovers(using: files) == [leftover])
        #expect(container.removeLeftovers(using: files) == [])
    }
}
