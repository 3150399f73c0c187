import Foundation
import Glibc
import TestSupport
import Testing

/// What only processes show of the command line: programs by their names, pipes, locks that go with their holders.
@Suite("The command as a process", .serialized, .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct CommandProcessTests {
    let program: Program

    init() throws { program = try Program() }

    static let showArguments =
        "print(arg[0]:match('[^/]*$'), #arg, arg[1], arg[2], arg[3], select('#', ...), (select(2, ...)))\n"

    @Test("FILE.lua is the same, its first line may be a shebang, and it can be run by its name")
    func shebang() throws {
        let file = try program.scratch.writeProgram("#!/usr/bin/env cubby\n" + Self.showArguments, to: "bin/show.lua")
        #expect(try program(file, "a", "-b").stdout == "show.lua\t2\ta\t-b\tnil\t2\t-b\n")
        symlink(program.path, program.scratch.file("bin/cubby"))
        var environment = program.environment
        environment["PATH"] = program.scratch.file("bin") + ":/usr/bin:/bin"
        let output = try run(file, ["x"], environment: environment)
        #expect(output.stdout == "show.lua\t1\tx\tnil\tnil\t1\tnil\n")
        #expect(output.status == .exited(0))
    }

    @Test("print, io.write, the log and a Lua file write in the order in which they are called")
    func order() throws {
        let output = try run(
            "/bin/sh",
            [
                "-c", "exec \"$CUBBY\" -e \"$0\" 2>&1",
                "print(1) io.stdout:write('2\\n') log.info('3') io.write('4\\n') log.error('5') print(6)",
            ],
            environment: program.environment)
        let digits = output.stdout.split(separator: "\n").map { String($0.suffix(1)) }
        #expect(digits == ["1", "2", "3", "4", "5", "6"])
    }

    @Test("a closed output is no crash")
    func closedOutput() throws {
        let output = try run(
            "/bin/sh", ["-c", "\"$CUBBY\" -e 'for i = 1, 100000 do print(i) end' | head -1"],
            environment: program.environment)
        #expect(output.stdout == "1\n")
    }

    @Test("a reader that goes away ends it quietly")
    func closedPipe() throws {
        let output = try run(
            "/bin/bash",
            [
                "-c",
                "for i in 1 2 3; do cp -r \"$1\" $i; done; \"$0\" inspect --json-lines 1 2 3 | head -n 1; echo ${PIPESTATUS[0]}",
                program.path, "\(Project.root)/Tests/Fixtures/archives",
            ],
            environment: program.environment, directory: program.scratch.path)
        #expect(output.stdout.hasSuffix("\n0\n"))
        #expect(output.stderr == "")
    }

    @Test("a container in use is 75 and names the holder; --read-only may look, and change nothing")
    func inUse() throws {
        let terminal = try program.terminal()
        try terminal.waitForPrompt()
        try terminal.enter("items:createItem{ name = 'first' } print('o' .. 'k')", andExpect: "ok")
        let second = try program("-e", "print(1)")
        #expect(second.status == .exited(75))
        #expect(second.stdout == "")
        #expect(second.stderr.contains("process \(terminal.pid)"))

        let reader = try program(
            "--read-only", "-e",
            "print(#items, items[1].name, pcall(items.createItem, items)) print((items:saveChanges()), (fs.write(app.container.tmp .. '/x', '')))"
        )
        #expect(reader.status == .exited(0), "\(reader.stderr)")
        #expect(reader.stdout.hasPrefix("1\tfirst\tfalse\t"))
        #expect(reader.stdout.contains("read-only"))
        terminal.kill()
        try terminal.waitForExit()
        // The lock goes with its holder.
        #expect(try program("-e", "print(#items)").stdout == "1\n")
    }

    @Test("a container that runs is copied, with what was committed; into one that runs nothing is restored")
    func running() throws {
        let terminal = try program.terminal(
            "-e", "items:createItem{ name = 'kept' } timer.after(0, function() print('rea' .. 'dy') end) app:run()")
        try terminal.expect("ready")
        let copy = program.scratch.file("copy")
        #expect(try program("backup", copy).status == .exited(0))
        let refused = try program("restore", "--replace", copy)
        #expect(refused.status == .exited(75))
        terminal.kill()
        _ = try terminal.waitForExit()
        _ = try program("restore", "--container", program.scratch.file("r"), copy)
        #expect(try program("--container", program.scratch.file("r"), "-e", "print(items[1].name)").stdout == "kept\n")
    }

    @Test("a container in use is looked at, and not repaired")
    func checkInUse() throws {
        _ = try program(
            "-e", "for i = 1, 30 do items:createItem{ name = 'item ' .. i } end assert(items:saveChanges())")
        let terminal = try program.terminal()
        try terminal.waitForPrompt()
        try program.scratch.write("half", to: "container/Documents/.cubby-1-abc-1.tmp")
        let output = try program("check", program.container)
        #expect(output.stdout.contains("in use by"), "\(output.stdout)")
        let repair = try program("check", program.container, "--repair")
        #expect(repair.status == .exited(75), "\(repair.stdout)")
        #expect(repair.stderr.contains("process \(terminal.pid)"))
        terminal.kill()
        try terminal.waitForExit()
    }

    /// Copies a database while it is open: its last rows are in its log.
    private func writeLoggedDatabase(_ folder: String) throws -> String {
        let script = """
            local path, copy = ...
            local db = assert(sqlite.open(path))
            for _ in db:rows("pragma journal_mode = wal") do end
            db:execute("create table t(name text, n int)")
            db:execute("insert into t values('A', 1)")
            for _ in db:rows("pragma wal_checkpoint(truncate)") do end
            db:execute("insert into t values('B', 2)")
            for _, suffix in ipairs{ "", "-wal" } do assert(fs.copy(path .. suffix, copy .. suffix)) end
            """
        let (source, target) = (program.scratch.file("source.sqlite"), folder + "/a.sqlite")
        let file = try program.scratch.write(script, to: "make.lua")
        let made = try program("--allow-write", program.scratch.file(""), "run", file, source, target)
        #expect(made.status == .exited(0), "\(made.stderr)")
        return target
    }

    @Test("a database with a log is read where nothing may be written, and nothing is left there")
    func writeAheadLog() throws {
        let folder = program.scratch.file("shelf")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = try writeLoggedDatabase(folder)
        let imported = try program("import", path)
        #expect(imported.stdout == "2 created, 0 updated, 0 unchanged, 0 rejected\n", "\(imported.stderr)")
        let count = """
            local db = assert(sqlite.open('\(path)', { readOnly = true }))
            print(db:rows('select sum(n) as n from t')().n, select(2, db:execute('delete from t')).code)
            """
        #expect(try program("--allow-read", folder, "-e", count).stdout == "3\treadOnly\n")
        let refused = try program("--allow-read", path, "-e", count)
        #expect(refused.status == .exited(1))
        #expect(refused.stderr.contains("a.sqlite-wal") && refused.stderr.contains("--allow-read"))
        // Without its log it has what was in its own file, and is in the mode of one still.
        try FileManager.default.removeItem(atPath: path + "-wal")
        #expect(try program("--allow-read", path, "-e", count).stdout == "1\treadOnly\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a.sqlite"])
        let left = try FileManager.default.contentsOfDirectory(atPath: program.container + "/tmp")
        #expect(left.isEmpty, "\(left)")
    }

    @Test("a full disk leaves the configuration as it was")
    func fullDisk() throws {
        #expect(try program("config", "set", "time-limit", "60").status == .exited(0))
        let limited = try run(
            "/bin/bash", ["-c", "trap '' XFSZ; ulimit -f 0; exec \"$CUBBY\" config set time-limit 5"],
            environment: program.environment)
        #expect(limited.status == .exited(74), "\(limited.stderr)")
        let row = try program("config").stdout.split(separator: "\n").first { $0.hasPrefix(" time-limit ") }
        #expect(row?.split(separator: " ") == ["time-limit", "60", "s", "config"])
        #expect(program.scratch.names("home/.config/cubby").count == 1)
    }

    @Test(
        "nothing is left after a script's error, a signal or Ctrl-C, and what kill -9 leaves goes with the next one",
        arguments: [nil, SIGINT, SIGTERM, SIGHUP, SIGKILL] as [Int32?])
    func memoryContainer(signal: Int32?) throws {
        let last = signal == nil ? "error('no')" : "app:run()"
        let terminal = try program.terminal(
            "--container", ":memory:", "-e", "print('at ' .. app.container.path .. ' now') \(last)")
        let text = try terminal.expect(matching: "at /[^ ]+ now")
        let path = try #require(text.split(separator: " ").first { $0.contains("/cubby-memory-") }).description
        if let signal {
            #expect(try permissions(path) == 0o700)
            terminal.signal(signal)
        }
        _ = try terminal.waitForExit()
        #expect(FileManager.default.fileExists(atPath: path) == (signal == SIGKILL))
        #expect(try program("--container", ":memory:", "-e", "").status == .exited(0))
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    private func permissions(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    /// Runs the program as somebody who may not do everything.
    private func asNobody(_ arguments: [String], environment more: [String: String?] = [:]) throws -> ProcessOutput {
        var environment = program.environment
        for (name, value) in more { environment[name] = value }
        let code =
            "import os, sys; os.setgroups([]); os.setgid(65534); os.setuid(65534); os.execv(sys.argv[1], sys.argv[1:])"
        return try run("python3", ["-c", code, program.path] + arguments, environment: environment)
    }

    @Test(
        "a container that may not be entered, and one that may only be read", .enabled(if: geteuid() == 0, "needs root")
    )
    func closedContainer() throws {
        #expect(try program("-e", "items:createItem{ name = 'kept' }").status == .exited(0))
        chmod(program.scratch.path, 0o755)
        chmod(program.container, 0o700)
        let closed = try asNobody(["-e", "print(1)"])
        #expect(closed.status == .exited(74) && closed.stderr.contains("Permission denied"), "\(closed.stderr)")
        #expect(!closed.stderr.contains("Not a directory") && !closed.stderr.contains("--read-only"))

        _ = try run("chmod", ["-R", "a+rX,a-w", program.container])
        let readable = try asNobody(["-e", "print(1)"])
        #expect(readable.status == .exited(74), "\(readable.stderr)")
        #expect(readable.stderr.contains("--read-only opens the container and changes nothing"), "\(readable.stderr)")
        #expect(try asNobody(["--read-only", "-e", "print(items[1].name)"]).stdout == "kept\n")
    }
}

/// A disk that fills up while a script runs.
@Suite(
    "A full disk", .enabled(if: Program.isBuilt && geteuid() == 0, "needs the built program, and root for a small disk")
)
struct FullDiskTests {
    @Test("it is told once, with what to do, and everything is there when there is room again")
    func fullDisk() throws {
        let program = try Program()
        try program.scratch.write(
            """
            local path = app.container.tmp .. "/fill"
            local function fill()
              local file = io.open(path, "w")
              file:setvbuf("no")
              while file:write(("x"):rep(4096)) do end
              file:close()
            end
            fill()
            defaults:set("k", ("v"):rep(10000))
            app.restoration.x = ("y"):rep(10000)
            for i = 1, 5 do timer.after(i / 100, function() items:createItem{ name = ("b"):rep(100000) } end) end
            timer.sleep(0.1)
            app:pressHome() app:open()
            if ... then os.remove(path) items:createItem() timer.sleep(0) fill() items:createItem{ name = ("c"):rep(1e6) } end
            """, to: "fill.lua")
        try program.scratch.write(
            """
            set -e
            mkdir disk
            mount -t tmpfs -o size=8m tmpfs disk
            "$CUBBY" --container disk/box run fill.lua || echo "status $?"
            rm disk/box/tmp/fill
            "$CUBBY" --container disk/box -e 'print(#items)'
            echo again >&2
            "$CUBBY" --container disk/box run fill.lua again || echo "status $?"
            """, to: "run.sh")
        let output = try run(
            "unshare", ["-m", "bash", "run.sh"], environment: program.environment, directory: program.scratch.path)
        let parts = output.stderr.components(separatedBy: "again\n")
        #expect(output.status == .exited(0) && parts.count == 2, "\(output.stderr)")
        let full = parts[0].split(separator: "\n").filter { $0.contains("No space left") }
        // The log's line, and the error of the script, which could not commit.
        #expect(full.count { $0.contains("make room on the disk") } == 1, "\(parts[0])")
        #expect(full.count <= 2, "\(parts[0])")
        #expect(parts[0].components(separatedBy: "Could not save any of the Items").count == 2, "\(parts[0])")
        // Room came, and went: that is news.
        #expect(parts[1].components(separatedBy: "make room on the disk").count == 3, "\(parts[1])")
    }
}
