import Foundation
import Glibc
import TestSupport
import Testing

/// Memory pressure that is real: pages of a file are evicted and faulted back until the kernel says so.
@Suite("Memory pressure", .serialized, .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct MemoryPressureTests {
    /// Evicts the pages of a file of its own and touches them again, on a thread of its own, until it goes.
    private final class Refaulter: @unchecked Sendable {
        // Guarded by `lock`.
        private var isStopped = false
        private let lock = NSLock()
        private let done = DispatchSemaphore(value: 0)

        init(bytes: Int = 48 << 20) throws {
            // Only what is on a disk can be let go, and the other folder for temporary files may be in memory.
            let path = "/var/tmp/cubby-\(getpid())-pages"
            try Data(repeating: 7, count: bytes).write(to: URL(fileURLWithPath: path))
            let descriptor = open(path, O_RDWR)
            defer { close(descriptor) }
            unlink(path)
            fsync(descriptor)
            guard let mapped = mmap(nil, bytes, PROT_READ, MAP_SHARED, descriptor, 0), mapped != MAP_FAILED else {
                throw TestFailure("mmap: \(errno)")
            }
            // Guarded by being the thread's alone from here on.
            nonisolated(unsafe) let address = mapped
            Thread.detachNewThread { [self] in
                var sum = 0
                while !lock.withLock({ isStopped }) {
                    for _ in 1...2 {
                        for offset in stride(from: 0, to: bytes, by: 4096) {
                            sum &+= Int(address.load(fromByteOffset: offset, as: UInt8.self))
                        }
                    }
                    // MADV_PAGEOUT
                    madvise(address, bytes, 21)
                }
                munmap(address, bytes)
                done.signal()
            }
        }

        func stop() {
            lock.withLock { isStopped = true }
            done.wait()
        }
    }

    /// What a process has in memory, in bytes.
    private func resident(_ process: pid_t) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8)
        return (Int(text.split(separator: " ")[1]) ?? 0) * Int(getpagesize())
    }

    @Test(
        "the kernel's warning flushes the caches, and the memory goes back to the system",
        .enabled(if: access("/proc/pressure/memory", W_OK) == 0, "needs a kernel with pressure stall information"))
    func pressure() throws {
        let program = try Program()
        var environment = program.environment
        environment["MEMORY_PRESSURE_WATCH"] = nil
        let script = """
            images:setImage(image.open(arg[1]), "chair")
            big = {} for i = 1, 200000 do big[i] = ("x"):rep(300) .. i end
            local source
            app:on("didReceiveMemoryWarning", function(event)
              big = nil
              source = source or event.source .. ", " .. event.cause .. ", " .. tostring(event.simulated)
              timer.after(0, function() print("war" .. "ned: " .. source .. ", " .. images.cacheCount .. " left") end)
            end)
            print("rea" .. "dy") app:run()
            """
        let terminal = try PseudoTerminal(
            program.path, ["-e", script, "\(Project.root)/examples/data/pictures/chair.png"],
            environment: environment, directory: program.scratch.path, columns: 120, rows: 40)
        try terminal.expect("ready")
        let before = try resident(terminal.pid)
        let refaulter = try Refaulter()
        defer { refaulter.stop() }
        try terminal.expect("Received memory warning.")
        try terminal.expect("flushing 1 images out of the cache")
        try terminal.expect(matching: "warned: (system|control group), psi, false, 0 left")
        #expect(before - (try resident(terminal.pid)) > 50_000_000, "memory was not returned")
        terminal.terminate()
        #expect(try terminal.waitForExit() == .exited(0))
    }
}
