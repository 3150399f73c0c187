import TestSupport
import Testing

/// What the host's own functions take of time and memory that a script may not have. `scripts/soak` runs the long forms.
@Suite(
    "Limits of the host's functions", .serialized,
    .enabled(if: Program.isBuilt, Comment(rawValue: Project.cubbyIsAbsent)))
struct LimitTests {
    @Test("rows of a database that a script has no more make room for others; too many that it keeps are an error")
    func rows() throws {
        let program = try Program()
        let script = """
            local db = assert(sqlite.open(app.container.tmp .. "/a.sqlite"))
            for i = 1, 60 do
              local row = db:rows("select hex(zeroblob(2500000)) as a, randomblob(5000000) as b")()
              assert(#row.a == 5000000 and #row.b == 5000000)
            end
            print("read")
            local kept = {}
            local ok, err = pcall(function()
              for i = 1, 60 do kept[i] = db:rows("select hex(zeroblob(2500000)) as a")().a end
            end)
            kept = nil
            print(ok, err)
            """
        let result = try program("--memory-limit", "64", "-e", script)
        #expect(
            result.stdout.hasPrefix("read\n") && !result.stdout.contains("true"), "\(result.stdout)\(result.stderr)")
        #expect((result.stdout + result.stderr).contains("memory"), "\(result.stdout)\(result.stderr)")
    }

    @Test(
        "shared and cyclic structures, and huge input, end within their limits",
        arguments: ["conversions", "functions", "input"])
    func soak(_ trial: String) throws {
        let program = try Program()
        let output = try run(
            "python3", ["\(Project.root)/Tests/Soak/\(trial).py", program.path, "--short"], timeout: 900)
        #expect(output.status == .exited(0), "\(output.stdout)\(output.stderr)")
        #expect(output.stdout.contains("all within their limits"))
    }

    @Test("a file larger than the address space is an error")
    func largeFile() throws {
        let program = try Program()
        // Sparse: its blocks are not on the disk. It begins as a property list.
        let command =
            "printf bplist00 > large.plist && truncate -s 6G large.plist; ulimit -v 4000000; exec \"$CUBBY\" $0 large.plist"
        for words in ["inspect", "check", "timeline"] {
            let output = try run(
                "/bin/bash", ["-c", command, words], environment: program.environment,
                directory: program.scratch.path)
            #expect(output.status == .exited(74), "\(words): \(output.stderr.suffix(500))")
            #expect(output.stderr.contains("Cannot allocate memory"), "\(words): \(output.stderr.suffix(500))")
        }
    }

    @Test("without timers of the kernel a limit that was asked for is refused, and SIGTERM still stops a script")
    func noTimers() throws {
        let program = try Program()
        let limited = try run(
            "/bin/bash", ["-c", "ulimit -i 0; exec \"$CUBBY\" --time-limit 1 -e 'print(1)'"],
            environment: program.environment)
        #expect(limited.status == .exited(69) && limited.stdout == "", "\(limited)")
        #expect(limited.stderr.contains("the time limit cannot be kept"))
        let stopped = try run(
            "/bin/bash",
            [
                "-c",
                "ulimit -i 0; \"$CUBBY\" -e 'io.stderr:write(\"go\") while true do end' 2>out & until grep -q go out; do :; done; kill $!; wait $!",
            ], environment: program.environment, directory: program.scratch.path)
        #expect(stopped.status == .exited(0), "\(stopped)")
    }

    @Test("a stop that is overdue in the host's own code ends the process with 70; what was committed stays")
    func overdue() throws {
        let program = try Program()
        let output = try program(
            "--time-limit", "0.2", "--stop-patience", "0.4", "--allow-run", "-e",
            "items:createItem() timer.sleep(0) io.popen('exec sleep 20 >&- 2>&-'):close()")
        #expect(output.status == .exited(70), "\(output)")
        #expect(output.stderr.contains("'close' (called at (command line):1) does not end"), "\(output.stderr)")
        #expect(try program.itemCount() == "1")
    }
}
