import Glibc
import TestSupport
import Testing

@testable import Files

@Suite("StandardStream")
struct StandardStreamTests {
    private func bytes(_ count: Int, _ seed: Int = 0) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed &+ $0 >> 8) }
    }

    @Test(
        "the next text begins a line where a line has ended, apart from styles",
        arguments: [
            ("a", false), ("a\n", true), ("a\nb", false), ("\n\u{1B}[0m", true), ("\n\u{1B}[1;31m\u{1B}[m", true),
            ("a\u{1B}[0m", false), ("\u{1B}[0m", nil), ("", nil), ("m", false), ("[0m", false), ("\n0m", false),
            ("\n\u{1B}[2K", false),
        ] as [(String, Bool?)])
    func lineEnds(text: String, endsLine: Bool?) {
        #expect(Array(text.utf8).withUnsafeBytes { StandardStream.endsLine($0) } == endsLine)
    }

    @Test(
        "what arrives is the beginning, and the rest is counted",
        arguments: [StandardStream.Buffering.none, .line, .full(1), .full(8192)])
    func accounts(_ buffering: StandardStream.Buffering) throws {
        var random = TestGenerator(seed: 10)
        for _ in 0..<max(20, Accounting.values / 20) {
            let pieces = (0..<random.number(40)).map { _ in
                bytes(random.number(3) == 0 ? 20_000 : random.number(300), random.number(256))
            }
            let whole = pieces.flatMap { $0 }
            let limit = random.number(max(whole.count * 5 / 4, 1))
            let file = try LimitedFile(limit)
            let stream = StandardStream(file.descriptor, "a stream", buffering: buffering)
            var errors = 0
            for piece in pieces {
                do throws(FileError) { try stream.write(piece) } catch {
                    #expect(error.code == EPERM && error.path == "a stream")
                    errors += 1
                }
            }
            do throws(FileError) { try stream.flush() } catch { errors += 1 }
            let arrived = file.bytes
            if limit >= whole.count {
                #expect(arrived == whole && errors == 0 && stream.loss == nil && !stream.hasFailed)
                continue
            }
            let loss = try #require(stream.loss)
            #expect(errors > 0)
            #expect(loss == StandardStream.Loss(written: arrived.count, lost: whole.count - arrived.count, code: EPERM))
            #expect(whole.starts(with: arrived))
            #expect(stream.takeLoss() == loss && stream.takeLoss() == nil)
        }
    }

    @Test("a bar is drawn below what is there, and whatever follows erases it")
    func status() throws {
        let directory = try TemporaryDirectory()
        let terminal = try PseudoTerminal(environment: [:], directory: directory.path) {
            let (output, error) = (StandardStream.output, StandardStream.error)
            output.put("a prompt: ")
            try? output.flush()
            error.draw(status: "one")
            error.draw(status: "two")
            error.put("a message\n")
            error.put("another\n")
            error.draw(status: "three")
            output.put("a row\n")
            error.draw(status: "four")
            error.eraseStatus()
            error.eraseStatus()
            return StandardStream.isAtLineStart ? 0 : 1
        }
        #expect(try terminal.waitForExit() == .exited(0))
        let erased = "\r\u{1B}[K"
        #expect(
            String(decoding: terminal.rawTranscript, as: UTF8.self)
                == "a prompt: \r\none\u{1B}[K\rtwo\u{1B}[K\(erased)a message\r\nanother\r\n"
                + "\rthree\u{1B}[K\(erased)a row\r\n\rfour\u{1B}[K\(erased)")
        let file = try LimitedFile(100)
        let stream = StandardStream(file.descriptor, "a file")
        stream.draw(status: "five")
        stream.eraseStatus()
        try stream.flush()
        #expect(file.bytes.isEmpty)
    }

    @Test("a reader that has closed its pipe wants no more, and nothing is lost")
    func closedPipe() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        close(ends[0])
        defer { close(ends[1]) }
        signal(SIGPIPE, SIG_IGN)
        let stream = StandardStream(ends[1], "a pipe")
        stream.put("never read\n")
        #expect(throws: FileError(.write, "a pipe", code: EPIPE)) { try stream.flush() }
        #expect(stream.isAbandoned && stream.hasFailed && stream.loss == nil)
    }

    @Test("bytes wait in the buffer as its kind says")
    func buffering() throws {
        let file = try LimitedFile(nil)
        let stream = StandardStream(file.descriptor, "a stream")
        stream.put("one\n")
        #expect(file.bytes.isEmpty)
        try stream.setBuffering(.line)
        #expect(file.bytes.count == 4)
        stream.put("tw")
        #expect(file.bytes.count == 4)
        stream.put("o\nth")
        #expect(file.bytes.count == 10)
        try stream.setBuffering(.none)
        stream.put("ree")
        #expect(String(decoding: file.bytes, as: UTF8.self) == "one\ntwo\nthree")
        #expect(try stream.seek(4, SEEK_SET) == 4)
        #expect(throws: FileError.self) { try stream.seek(-1, SEEK_SET) }
    }

    @Test(
        "a descriptor that is not open is an error, as a full device is",
        arguments: [("/dev/full", ENOSPC), ("", EBADF)])
    func devices(_ path: String, code: Int32) throws {
        let descriptor = path.isEmpty ? -1 : open(path, O_WRONLY)
        defer { if descriptor >= 0 { close(descriptor) } }
        let stream = StandardStream(descriptor, "it")
        stream.put(bytes(100))
        #expect(throws: FileError(.write, "it", code: code)) { try stream.flush() }
        #expect(stream.loss == StandardStream.Loss(written: 0, lost: 100, code: code))
        try stream.flush()
    }
}

/// scripts/lib/writes.py: the check of scripts/test that each write's result is used.
@Suite("The check of writes")
struct WriteCheckTests {
    private func check(_ folder: String) throws -> ProcessOutput {
        try run("python3", ["\(Project.root)/scripts/lib/writes.py", folder])
    }

    @Test("the sources pass")
    func sources() throws {
        let found = try check("\(Project.root)/Sources")
        #expect(found.status == .exited(0) && found.stdout == "")
    }

    @Test(
        "a call whose result nobody has is refused",
        arguments: [
            ("a.c", "void f(void) {\n    write(1, \"a\", 1);\n}", "a.c:2: write"),
            ("a.c", "void f(FILE *g) { fprintf(g, \"write(1)\"); }", "a.c:1: fprintf"),
            ("a.c", "void f(void) { (void)cubby_write(1, \"a\", 1); }", "(void)cubby_write"),
            ("a.swift", "func f() {\n\n    Glibc.write(1, UnsafeRawPointer(a), 1)\n}", "a.swift:3: write"),
            ("a.swift", "let n = write(descriptor, $0.baseAddress, $0.count)", "a.swift:1: write"),
            ("a.swift", "_ = cubby_write(1, a, 1)", "_ = cubby_write"),
            ("a.swift", "print(\"hello\")", "a.swift:1: print"),
            ("a.swift", "FileHandle.standardOutput.write(data)", "FileHandle"),
            ("a.swift", "try? layer.writeAll(bytes, to: file)", "try? layer.writeAll"),
            ("a.swift", "send(socket, a, a.count, 0)", "a.swift:1: send"),
        ])
    func refused(_ name: String, source: String, finding: String) throws {
        let folder = try TemporaryDirectory()
        try folder.write(source, to: name)
        let found = try check(folder.path)
        #expect(found.status == .exited(1))
        #expect(found.stdout.contains(finding) && found.stdout.split(separator: "\n").count == 1)
    }

    @Test(
        "what only looks like one is not",
        arguments: [
            "// write(1, a, 1)\nlet text = \"print(1)\"\nlet lua = \"\"\"\n    print(\\(1))\n    \"\"\"",
            "try write(value, level: 1)\nwriter.write(a, b, c)\nfunc print(_ text: String) {}",
            "if cubby_write(1, a, a.count) < a.count { return }",
        ])
    func accepted(_ source: String) throws {
        let folder = try TemporaryDirectory()
        try folder.write(source, to: "a.swift")
        let found = try check(folder.path)
        #expect(found.status == .exited(0) && found.stdout == "")
    }
}
