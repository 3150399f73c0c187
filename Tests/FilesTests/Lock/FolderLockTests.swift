import Foundation
import TestSupport
import Testing

@testable import Files

@Suite("FolderLock")
struct FolderLockTests {
    let scratch: TemporaryDirectory
    let folder: String
    let file: String

    init() throws {
        scratch = try TemporaryDirectory()
        folder = scratch.file("box")
        file = folder + "/.lock"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    @Test func namesItsHolder() throws {
        let lock = try FolderLock(folder, processName: "my cubby")
        #expect(lock.holder.processIdentifier == getpid())
        #expect(FolderLock.holder(of: folder) == lock.holder)
        let error = #expect(throws: FolderLockError.self) { try FolderLock(folder) }
        #expect(error == .inUse(path: folder, holder: lock.holder))
        #expect(error?.message.contains("in use by my cubby, process \(getpid()), since 20") == true)
        lock.release()
        lock.release()
        #expect(FolderLock.holder(of: folder) == nil)
        _ = try FolderLock(folder)
    }

    @Test("whoever comes after an owner who did not end in order knows, until that is seen to")
    func disorder() throws {
        let first = try FolderLock(folder)
        #expect(!first.isDisordered)
        let killed = try Data(contentsOf: URL(fileURLWithPath: file))
        first.release()
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)).isEmpty)
        // What a process that is killed leaves is what its lock file held while it lived.
        try killed.write(to: URL(fileURLWithPath: file))
        let second = try FolderLock(folder)
        #expect(second.isDisordered)
        second.release()
        let third = try FolderLock(folder)
        #expect(third.isDisordered, "nobody has seen to it")
        third.recordOrder()
        third.release()
        let fourth = try FolderLock(folder)
        #expect(!fourth.isDisordered)
    }

    @Test func goesWithItsOwner() throws {
        do {
            let lock = try FolderLock(folder)
            _ = lock
        }
        _ = try FolderLock(folder)
    }

    @Test func holdsAgainstAnotherProcessUntilThatDies() throws {
        // flock(1) is another program with the same lock; it says "held" once it has it, and waits for its input.
        let other = Process()
        other.executableURL = URL(fileURLWithPath: "/usr/bin/flock")
        other.arguments = [file, "/bin/sh", "-c", "echo held; read line"]
        let output = Pipe()
        let input = Pipe()
        other.standardOutput = output
        other.standardInput = input
        try other.run()
        #expect(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) == "held\n")
        #expect(throws: FolderLockError.inUse(path: folder, holder: nil)) { try FolderLock(folder) }
        try input.fileHandleForWriting.close()
        other.waitUntilExit()
        _ = try FolderLock(folder)
    }

    /// The first thread of a process that is killed may be gone while another still ends, and with it what the process held.
    @Test func waitsForTheLastThreadOfAnOwnerWhoHasEnded() throws {
        let other = Process()
        other.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        other.arguments = [
            "-c",
            """
            import ctypes, fcntl, os, sys, threading, time
            file = open(sys.argv[1], "r+")
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write("%d 0 other\\n" % os.getpid())
            file.flush()
            def end():
                while open("/proc/self/stat").read().rsplit(")", 1)[1][1] != "Z": time.sleep(0.001)
                print("ended", flush=True)
                time.sleep(0.2)
                os._exit(0)
            threading.Thread(target=end).start()
            ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)
            """, file,
        ]
        try Data().write(to: URL(fileURLWithPath: file))
        let output = Pipe()
        other.standardOutput = output
        try other.run()
        #expect(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self).hasPrefix("ended"))
        let lock = try FolderLock(folder)
        #expect(lock.isDisordered)
    }

    @Test(
        "a process has ended when its first thread has, or is about to",
        arguments: [
            ("1 (cubby) S 0 1 1 34816 1 4194560 5", false), ("1 (cubby) T 0 1 1 34816 1 4194560 5", false),
            ("1 (cubby) Z 0 1 1 34816 1 4194560 5", true), ("1 (a) Z 1) R 0 1 1 34816 1 4194560 5", false),
            ("1 (cubby) R 0 1 1 34816 1 4194564 5", true), ("1 (cubby) X 0 1 1 0 -1 4194560 5", true), ("1 (c", false),
        ])
    func endOfAProcess(stat: String, hasEnded: Bool) {
        #expect(LockHolder.hasEnded(stat: stat) == hasEnded)
    }

    @Test(
        arguments: [
            ("1 (cubby) T 0 1 1 34816 1 4194560 5", true), ("1 (cubby) t 0 1 1 34816 1 4194560 5", true),
            ("1 (a) T b) S 0 1 1 34816 1 4194560 5", false), ("1 (c", false), ("", false),
        ])
    func stopOfAProcess(stat: String, isSuspended: Bool) {
        #expect(LockHolder.isSuspended(stat: stat) == isSuspended)
    }

    /// A child has its parent's descriptors from its beginning until its program begins.
    @Test func isGivenUpAlsoWhereAnotherDescriptorIsOpen() throws {
        let lock = try FolderLock(folder)
        let copies = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { name -> Int32? in
            let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            return path == file ? Int32(name).map { dup($0) } : nil
        }
        defer { copies.forEach { close($0) } }
        #expect(!copies.isEmpty)
        lock.release()
        _ = try FolderLock(folder)
    }

    @Test func isNotTakenThroughALink() throws {
        try FileManager.default.createSymbolicLink(
            atPath: file, withDestinationPath: scratch.file("elsewhere"))
        let error = #expect(throws: FolderLockError.self) { try FolderLock(folder) }
        guard case .file = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.file("elsewhere")))
    }
}
