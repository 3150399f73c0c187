import Foundation
import TestSupport
import Testing

/// Starting takes no longer for the pictures in Documents: nobody looks at what is there, unless something was interrupted.
@Suite("Start with pictures", .enabled(if: Program.isBuilt, Comment(rawValue: Project.cubbyIsAbsent)))
struct StartWithPicturesTests {
    private let program: Program

    init() throws { program = try Program() }

    private var documents: String { "\(program.container)/Documents" }

    /// How often a folder was listed meanwhile, by the kernel's account.
    private func listings(of folder: String, during body: () throws -> Void) throws -> Int {
        let descriptor = inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC))
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try #require(inotify_add_watch(descriptor, folder, UInt32(IN_ACCESS)) >= 0)
        try body()
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = max(0, read(descriptor, &bytes, bytes.count))
        var listings = 0
        var place = 0
        while place + 16 <= count {
            let (mask, length) = bytes.withUnsafeBytes {
                (
                    $0.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self),
                    $0.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self)
                )
            }
            // Of the folder itself, not of a file in it.
            if length == 0, mask & UInt32(IN_ACCESS) != 0 { listings += 1 }
            place += 16 + Int(length)
        }
        return listings
    }

    /// A session that waits.
    private func running() throws -> PseudoTerminal {
        let terminal = try program.terminal("-e", "print('rea' .. 'dy') timer.sleep(600)")
        try terminal.expect("ready")
        return terminal
    }

    @Test("an ordinary session never lists the folder, however it ends; one after a killed session does, and cleans up")
    func listings() throws {
        let picture = "\(Project.root)/examples/data/pictures/teapot.jpg"
        let setting = "items:createItem{ name = 'Pot' }.image = assert(image.open(...))"
        #expect(try program("-e", setting, picture).status == .exited(0))
        #expect(try listings(of: documents) { _ = try FileManager.default.contentsOfDirectory(atPath: documents) } > 0)
        for ending in ["", "os.exit(3)", "error('no')", "items:saveChanges() app:terminate()", "io.read()"] {
            let count = try listings(of: documents) {
                _ = try program("-e", "assert(items[1].image.width == 320) \(ending)")
            }
            #expect(count == 0, "after and with \(ending)")
        }
        let ended = try running()
        ended.terminate()
        #expect(try ended.waitForExit() == .exited(0))
        #expect(try listings(of: documents) { _ = try program("-e", "") } == 0, "SIGTERM is an end in order")

        let leftover = "\(documents)/.cubby-1-x-1.tmp"
        #expect(FileManager.default.createFile(atPath: leftover, contents: Data("half".utf8)))
        let killed = try running()
        #expect(FileManager.default.fileExists(atPath: leftover), "nobody looked")
        killed.kill()
        #expect(try killed.waitForExit() == .signaled(SIGKILL))
        #expect(try listings(of: documents) { _ = try program("-e", "") } > 0)
        #expect(!FileManager.default.fileExists(atPath: leftover))
        #expect(try listings(of: documents) { _ = try program("-e", "") } == 0)
    }
}
