import Application
import Foundation
import TestSupport
import Testing

@Suite("MemoryPressureSource")
struct MemoryPressureSourceTests {
    let scratch: TemporaryDirectory

    init() throws { scratch = try TemporaryDirectory() }

    func find(_ variables: [String: String]) -> MemoryPressureSource? {
        MemoryPressureSource.find(environment: { variables[$0] }, root: scratch.path)
    }

    @Test func theServiceManagerComesFirst() throws {
        mkfifo(scratch.file("pressure"), 0o600)
        // "hello", written to the pipe as the service manager asks.
        let source = try #require(
            find(["MEMORY_PRESSURE_WATCH": scratch.file("pressure"), "MEMORY_PRESSURE_WRITE": "aGVsbG8="]))
        let loop = try EventLoop()
        var origins: [MemoryPressureSource.Origin] = []
        source.start(on: loop) { origins.append($0) }
        loop.runOnce(timeout: 1)
        #expect(origins == [.serviceManager])
        #expect(!loop.runOnce(timeout: 0))
        source.stop()
    }

    @Test func nothingIsAskedBeforeItIsArmed() throws {
        try FileManager.default.createDirectory(
            atPath: scratch.file("proc/pressure"), withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: scratch.file("proc/pressure/memory")))
        // Foundation leaks the buffer for a file without bytes: what is looked at is the size.
        func size() throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: scratch.file("proc/pressure/memory"))[.size] as? Int
        }
        let source = try #require(find([:]))
        #expect(try size() == 0)
        #expect(source.arm()?.origin == .system)
        #expect(try size() == "some 150000 2000000\0".utf8.count)
    }

    @Test func theServiceManagerMayTurnItOff() {
        #expect(find(["MEMORY_PRESSURE_WATCH": "/dev/null"]) == nil)
    }

    @Test func theOwnGroupComesBeforeTheSystem() throws {
        let files = FileManager.default
        try files.createDirectory(atPath: scratch.file("proc/self"), withIntermediateDirectories: true)
        try files.createDirectory(atPath: scratch.file("proc/pressure"), withIntermediateDirectories: true)
        try files.createDirectory(atPath: scratch.file("sys/fs/cgroup/a/b"), withIntermediateDirectories: true)
        #expect(find([:]) == nil)
        try Data().write(to: URL(fileURLWithPath: scratch.file("proc/pressure/memory")))
        #expect(find([:])?.arm()?.origin == .system)
        let trigger = try Data(contentsOf: URL(fileURLWithPath: scratch.file("proc/pressure/memory")))
        #expect(trigger == Data("some 150000 2000000\0".utf8))
        try Data("1:cpu:/\n0::/a/b\n".utf8).write(to: URL(fileURLWithPath: scratch.file("proc/self/cgroup")))
        #expect(find([:])?.arm()?.origin == .system)
        try Data().write(to: URL(fileURLWithPath: scratch.file("sys/fs/cgroup/a/b/memory.pressure")))
        #expect(find([:])?.arm()?.origin == .controlGroup)
    }

    @Test func theProcessIsMeasured() throws {
        let before = try #require(MemoryWatch.processMemory())
        let bytes = [UInt8](repeating: 1, count: 64 << 20)
        let after = try #require(MemoryWatch.processMemory())
        #expect(before > 0 && after - before > 32 << 20, "\(before) and \(after) with \(bytes.count) bytes")
    }

    @Test(.enabled(if: access("/proc/pressure/memory", W_OK) == 0, "needs a kernel with pressure stall information"))
    func theKernelTakesTheTrigger() {
        #expect(MemoryPressureSource.find(environment: { _ in nil })?.arm() != nil)
    }
}
