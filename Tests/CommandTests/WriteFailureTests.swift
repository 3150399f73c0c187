import Foundation
import TestSupport
import Testing

/// Output that cannot be written: said on standard error, with what arrived, and status 74.
@Suite("Writes are heard", .serialized, .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct WriteFailureTests {
    private let program: Program

    init() throws { program = try Program() }

    private func shell(_ command: String) throws -> ProcessOutput {
        try run(
            "/bin/bash", ["-c", command], environment: program.environment, directory: program.scratch.path)
    }

    private static let full = "cubby: cannot write standard output: No space left on device; 0 bytes were written, "

    @Test(
        "a script on a full device goes on, saves, and ends with 74 and one line",
        arguments: [
            "print(#items)", "io.write('x')", "io.stdout:write('x')", "for i = 1, 5000 do print(i) end",
            "'an expression'",
            "assert(not io.stdout:setvbuf('no') or not io.write('x'))", "items:export('-', { format = 'csv' })",
            "assert(not items:query():export('-', { format = 'jsonl' }))", "assert(not csv.write('-', { { a = 1 } }))",
            "csv.write('/dev/stdout', items:query())",
        ])
    func scripts(_ source: String) throws {
        let output = try shell("$CUBBY -e \"items:createItem() local function f() end\" -e \"\(source)\" >/dev/full")
        #expect(output.status == .exited(74), "\(output.stderr)")
        let lines = output.stderr.split(separator: "\n").filter { $0.hasPrefix("cubby:") }
        #expect(lines.count == 1 && lines[0].hasPrefix(Self.full) && lines[0].hasSuffix(" not"), "\(output.stderr)")
        #expect(try program.itemCount() == "1")
    }

    @Test("the script's own error keeps its status, and --strict and --no-strict have theirs")
    func statuses() throws {
        for (options, status) in [("", 3), ("--strict", 3), ("--no-strict", 3)] as [(String, Int32)] {
            #expect(try shell("$CUBBY \(options) -e 'print(1) os.exit(3)' >/dev/full").status == .exited(status))
        }
        #expect(try shell("$CUBBY --strict -e 'print(1)' >/dev/full").status == .exited(1))
        let lenient = try shell("$CUBBY --no-strict -e 'print(1)' >/dev/full")
        #expect(lenient.status == .exited(0) && lenient.stderr.hasPrefix(Self.full))
        #expect(try shell("$CUBBY -e 'print(1) error(\"no\")' >/dev/full").status == .exited(1))
    }

    @Test("a closed standard output is an error only for those who write, and no file gets its number")
    func closed() throws {
        let output = try shell("$CUBBY -e 'items:createItem() print(1)' >&-")
        #expect(
            output.status == .exited(74)
                && output.stderr.contains("Bad file descriptor; 0 bytes were written, 2 were not"))
        #expect(try program.itemCount() == "1")
        #expect(try shell("$CUBBY -e 'local x = 1' <&- >&- 2>&-").status == .exited(0))
        #expect(try shell("$CUBBY -e 'io.stderr:write(\"lost\")' 2>&-").status == .exited(74))
    }

    @Test("a reader that has seen enough is not a failure")
    func pipes() throws {
        _ = try program("-e", "for i = 1, 3000 do items:createItem{ name = 'Lamp ' .. i } end")
        for command in [
            "-e 'for i = 1, 100000 do print(i) end'", "export --format csv",
            "inspect \"$(ls */Documents/items.archive)\"",
            "-e 'assert(items:export(\"-\", { format = \"jsonl\" }))'",
            "-e 'for i = 1, 100000 do assert(io.write(i, \"\\n\")) end'",
            "convert --format xml \"$(ls */Documents/items.archive)\" -",
        ] {
            let output = try shell("set -o pipefail; $CUBBY \(command) | head -n 1 >/dev/null; echo ${PIPESTATUS[0]}")
            #expect(output.stdout == "0\n", "\(command): \(output.stderr)")
            #expect(!output.stderr.contains("cubby:") && !output.stderr.contains("Broken"), "\(output.stderr)")
        }
    }

    @Test("commands end with 74 and say what arrived, also half-way")
    func commands() throws {
        _ = try program("-e", "for i = 1, 20000 do items:createItem{ name = 'Lamp ' .. i } end")
        for command in [
            "export --format csv", "export --format json", "inspect \(program.archive)",
            "inspect --json \(program.archive)",
            "inspect --xml \(program.archive)", "inspect --json-lines \(program.archive)",
            "convert \(program.archive) - --format xml",
            "api", "help export", "--version", "doctor", "config",
        ] {
            let output = try shell("$CUBBY \(command) >/dev/full")
            #expect(output.status == .exited(74), "\(command): \(output.stderr)")
            let lines = output.stderr.split(separator: "\n").filter { $0.hasPrefix("cubby:") }
            #expect(lines.count == 1 && lines[0].hasPrefix(Self.full), "\(command): \(output.stderr)")
        }
        // In blocks of 1,024 bytes: beyond it, a write fails as on a full disk.
        let whole = try shell("$CUBBY export --format csv").standardOutput
        for command in ["export --format csv", "-e 'assert(not items:export(\"-\", { format = \"csv\" }))'"] {
            let half = try shell("ulimit -f 300; $CUBBY --read-only \(command) >half")
            let arrived = try program.scratch.read("half")
            #expect(half.status == .exited(74) && arrived.count == 300 << 10 && whole.starts(with: arrived))
            #expect(half.stderr.contains("File too large; 307,200 bytes were written, "), "\(half.stderr)")
        }
    }

    @Test("a page, a database and the container on a full disk: 74, and the file is named")
    func files() throws {
        let made = try program(
            "-e", "for i = 1, 3000 do items:createItem{ name = 'Lamp ' .. i, note = ('x'):rep(400) } end")
        #expect(made.status == .exited(0), "\(made.stderr)")
        for (command, name) in [("gallery page", "/page/"), ("export out.sqlite", "/out.sqlite")] {
            let output = try shell("ulimit -f 300; $CUBBY --read-only \(command)")
            #expect(output.status == .exited(74) && output.stderr.contains(name), "\(command): \(output.stderr)")
        }
    }

    @Test(
        "where the working folder is gone, a relative path is refused and leads nowhere else",
        arguments: [
            "--container box -e 'return 1'", "export out.csv", "import in.csv", "backup copy", "restore copy",
            "gallery page", "report page.html", "init scripts", "fields file.lua",
        ])
    func goneFolder(command: String) throws {
        let output = try shell("mkdir gone && cd gone && rmdir ../gone && $CUBBY \(command)")
        #expect(output.status == .exited(74), "\(output.stderr)")
        #expect(output.stderr.contains("the working folder is gone"), "\(output.stderr)")
    }

    @Test("a program that fails has failed, also where the parent ignores the ends of children")
    func ignoredChildren() throws {
        let start = """
            import os, signal, sys
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            os.execv(sys.argv[1], sys.argv[1:])
            """
        let code = "print(os.execute('exit 3')) print(io.popen('exit 4'):close())"
        let output = try run(
            "python3", ["-c", start, program.path, "--allow-run", "-e", code], environment: program.environment)
        #expect(output.stdout == "nil\texit\t3\nnil\texit\t4\n", "\(output.stderr)")
    }

    @Test("a file that a script leaves open on a full device is named")
    func unclosed() throws {
        let source =
            "file = io.open(app.container.tmp .. '/big.txt', 'w') for i = 1, 1000 do file:write(('x'):rep(999)) end"
        let output = try shell("ulimit -f 100; $CUBBY -e \"\(source)\"")
        #expect(output.status == .exited(74), "\(output.stderr)")
        #expect(
            output.stderr.hasSuffix("/tmp/big.txt: File too large: the script has not closed it\n")
                && output.stderr.hasPrefix("cubby: cannot write "), "\(output.stderr)")
    }
}
