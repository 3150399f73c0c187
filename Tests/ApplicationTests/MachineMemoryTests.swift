import Application
import Foundation
import TestSupport
import Testing

@Suite("MachineMemory")
struct MachineMemoryTests {
    let scratch: TemporaryDirectory

    init() throws {
        scratch = try TemporaryDirectory()
        try write("proc/meminfo", "MemTotal:       1048576 kB\nMemFree:         500000 kB\n")
    }

    private func write(_ path: String, _ text: String) throws { _ = try scratch.write(text, to: path) }

    private var found: MachineMemory? { MachineMemory.find(root: scratch.path) }

    @Test("the machine's, of which scripts may take three quarters") func machine() throws {
        #expect(found?.bytes == 1 << 30 && found?.origin == .machine)
        #expect(found?.limitOfScripts == 3 << 28)
        try write("proc/meminfo", "MemTotal: none\n")
        #expect(found == nil)
        try write("proc/meminfo", "MemTotal: 99999999999999999999 kB\n")
        #expect(found == nil)
    }

    @Test("a control group's, or that of a group above it, if it is less") func controlGroup() throws {
        try write("proc/self/cgroup", "0::/a/b\n")
        try write("sys/fs/cgroup/a/b/memory.max", "max\n")
        #expect(found?.origin == .machine)
        try write("sys/fs/cgroup/a/memory.max", "536870912\n")
        #expect(found?.bytes == 512 << 20 && found?.origin == .controlGroup)
        try write("sys/fs/cgroup/a/b/memory.high", "268435456\n")
        #expect(found?.bytes == 256 << 20)
        try write("sys/fs/cgroup/a/b/memory.max", "2147483648\n")
        #expect(found?.bytes == 256 << 20)
        try write("proc/self/cgroup", "0::/\n")
        #expect(found?.origin == .machine)
    }

    @Test("the former hierarchy, where no limit is a huge number") func formerHierarchy() throws {
        try write("proc/self/cgroup", "5:cpu:/x\n4:hugetlb,memory:/job:1\n0::/\n")
        try write("sys/fs/cgroup/memory/job:1/memory.limit_in_bytes", "9223372036854771712\n")
        #expect(found?.origin == .machine)
        try write("sys/fs/cgroup/memory/memory.limit_in_bytes", "104857600\n")
        #expect(found?.bytes == 100 << 20 && found?.origin == .controlGroup)
    }

    @Test("in a container the group's path may be another's; what is odd is passed over") func containers() throws {
        try write("sys/fs/cgroup/memory.max", "104857600\n")
        try write("memory.max", "1\n")
        for group in ["/docker/0123", "/../../..", "", "/../docker"] {
            try write("proc/self/cgroup", "0::\(group)\n")
            #expect(found?.bytes == 100 << 20, "\(group)")
        }
        for text in ["", "-5\n", "0\n", "1e3\n", "99999999999999999999\n"] {
            try write("sys/fs/cgroup/memory.max", text)
            #expect(found?.origin == .machine, "\(text)")
        }
        try write("proc/self/cgroup", "nonsense\n::\n")
        #expect(found?.origin == .machine)
    }

    @Test("of this machine, something is found") func real() throws {
        let memory = try #require(MachineMemory.find())
        #expect(memory.bytes > 1 << 20 && memory.limitOfScripts < memory.bytes)
    }
}
