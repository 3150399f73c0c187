import Glibc
import TestSupport
import Testing

@testable import Files

@Suite("Files that are mapped, and cut short by another program")
struct MappedFileTests {
    /// Maps a file of some pages, and cuts it.
    static func cutFile(to length: Int = 0) throws -> (file: MappedFile, directory: TemporaryDirectory) {
        let directory = try TemporaryDirectory()
        let path = try directory.write([UInt8](repeating: 7, count: 64 << 10), to: "cut.archive")
        let layer = PosixFileLayer()
        let file = try layer.open(path, .read)
        defer { layer.close(file) }
        let mapped = try layer.map(file)
        truncate(path, off_t(length))
        return (mapped, directory)
    }

    /// Reads the last byte, which is gone.
    @inline(never)
    static func touch(_ file: MappedFile) -> UInt8 { file.withUnsafeBytes { $0[$0.count - 1] } }

    private func text(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test("end the process that reads what is gone with a line and status 74")
    func ends() async throws {
        let result = await #expect(processExitsWith: .exitCode(74), observing: [\.standardErrorContent]) {
            let cut = try MappedFileTests.cutFile()
            print(MappedFileTests.touch(cut.file))
        }
        #expect(text(result).contains("cut.archive can no longer be read: another program cut it short"))
    }

    @Test("on a thread that takes no signals, and on several at once, too")
    func onThreads() async throws {
        let result = await #expect(processExitsWith: .exitCode(74), observing: [\.standardErrorContent]) {
            let cut = try MappedFileTests.cutFile()
            let file = cut.file
            let workers = (0..<4).map { _ in WorkerThread { MappedFileTests.touch(file) } }
            for worker in workers { print(worker.join() ?? 0) }
        }
        #expect(text(result).split(separator: "\n").count == 1, "\(text(result))")
    }

    @Test("leave a program's own handler its faults, and the system's way where there is none")
    func handlers() async throws {
        await #expect(processExitsWith: .exitCode(9)) {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { _ in _exit(9) }
            sigaction(SIGBUS, &action, nil)
            try MappedFileTests.faultElsewhere()
        }
        await #expect(processExitsWith: .signal(SIGBUS)) { try MappedFileTests.faultElsewhere() }
        await #expect(processExitsWith: .signal(SIGBUS)) {
            let cut = try MappedFileTests.cutFile()
            raise(SIGBUS)
            print(MappedFileTests.touch(cut.file))
        }
        // One that is unmapped is no longer known.
        await #expect(processExitsWith: .exitCode(74)) {
            for _ in 0..<100 { _ = try MappedFileTests.cutFile() }
            let cut = try MappedFileTests.cutFile(to: 4096)
            print(MappedFileTests.touch(cut.file))
        }
    }

    /// A SIGBUS of memory that is none of the house's, while one of the house's files is mapped.
    static func faultElsewhere() throws {
        let known = try cutFile()
        let path = try known.directory.write([UInt8](repeating: 7, count: 8192), to: "other")
        let descriptor = open(path, O_RDWR)
        guard let memory = mmap(nil, 8192, PROT_READ, MAP_SHARED, descriptor, 0), memory != MAP_FAILED else { return }
        truncate(path, 0)
        print(memory.load(fromByteOffset: 5000, as: UInt8.self))
    }
}
