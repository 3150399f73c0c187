import Foundation
import TestSupport
import Testing

/// What becomes of items when the process, the disk or the folder gives way. `scripts/soak` runs the long forms.
@Suite("Never lost", .enabled(if: Program.isBuilt, Comment(rawValue: Project.cubbyIsAbsent)))
struct NeverLostTests {
    let program: Program

    init() throws { program = try Program() }

    private func soak(_ name: String) -> String { "\(Project.root)/Tests/Soak/\(name)" }

    @Test("sessions killed at random moments lose nothing that was acknowledged")
    func kills() throws {
        let seed = String(UInt32.random(in: 1...1_000_000))
        let output = try run("python3", [soak("kills.py"), program.path, "15", seed], timeout: 300)
        #expect(output.status == .exited(0), "seed \(seed): \(output.stdout)\(output.stderr)")
        #expect(output.stdout.contains("none lost"))
    }

    /// Answers each line of its input, a chunk, with what the chunk gives.
    private func conversation(limit: String = "") throws -> Conversation {
        let script = try program.scratch.write(
            """
            for line in function() return io.read("l") end do
              local outcome = table.pack(pcall(load(line)))
              for i = 1, outcome.n do outcome[i] = tostring(outcome[i]) end
              print(table.concat(outcome, " ", 1, outcome.n)) io.stdout:flush()
            end
            """, to: "answer.lua")
        return try Conversation(
            "/bin/sh", ["-c", "\(limit) exec \"$CUBBY\" run \"$0\"", script], environment: program.environment)
    }

    @Test("a file that may not grow is an error, the old data stays, and a later save succeeds")
    func fileSizeLimit() throws {
        let talk = try conversation(limit: "ulimit -S -f 64;")
        #expect(
            try talk.ask("for i = 1, 20 do items:createItem{ name = 'n' .. i } end return items:saveChanges()")
                == "true true")
        let before = try Data(contentsOf: URL(fileURLWithPath: program.archive))
        let refused = try talk.ask(
            "return items:transaction(function() for i = 1, 900 do items:createItem{ name = ('x'):rep(90) .. i } end end)"
        )
        #expect(refused.hasPrefix("false"), "\(refused)")
        #expect(refused.contains("items.journal: File too large"), "\(refused)")
        #expect(try talk.ask("return #items") == "true 20")
        #expect(
            try talk.ask("for i = 1, 300 do items:createItem{ name = ('y'):rep(90) .. i } end return timer.sleep(0)")
                == "true")
        let save = try talk.ask("for i = 1, 300 do items[i].room = ('z'):rep(90) .. i end return items:saveChanges()")
        #expect(save.hasPrefix("true nil cannot write") && save.contains("File too large"), "\(save)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: program.archive)) == before)
        #expect(try run("prlimit", ["--pid", String(talk.pid), "--fsize=unlimited"]).status == .exited(0))
        #expect(try talk.ask("return items:saveChanges(), #items, items.hasChanges") == "true true 320 false")
        try talk.end()
        #expect(try program("-e", "print(#items, #items[300].room)").stdout == "320\t93\n")
        #expect(!(try program.scratch.contents(of: "container/Documents").contains { $0.hasSuffix(".tmp") }))
    }

    @Test("a container that is moved under a running session is saved where it is; in its old place nothing is made")
    func movedUnderneath() throws {
        let talk = try conversation()
        #expect(try talk.ask("items:createItem{ name = 'a' } return items:saveChanges()") == "true true")
        let moved = program.scratch.file("moved")
        try FileManager.default.moveItem(atPath: program.container, toPath: moved)
        #expect(try talk.ask("items[1].name = 'b' return items:saveChanges()") == "true true")
        #expect(try program("--container", moved, "--read-only", "-e", "print(items[1].name)").stdout == "b\n")
        #expect(!FileManager.default.fileExists(atPath: program.container))
        try talk.end()
    }

    @Test("a container that vanishes under a running session is an error, and its items are still there")
    func vanishedContainer() throws {
        let talk = try conversation()
        #expect(try talk.ask("items:createItem{ name = 'a' } return items:saveChanges()") == "true true")
        try FileManager.default.removeItem(atPath: program.container)
        let answer = try talk.ask("items[1].name = 'b' return items:saveChanges()")
        #expect(answer.contains("true nil") && answer.contains("No such file or directory"), "\(answer)")
        #expect(try talk.ask("return items[1].name") == "true b")
        try talk.end(status: 74)
    }

    @Test("--read-only sees the state of its opening, beside an owner that goes on")
    func readOnlyBeside() throws {
        let owner = try conversation()
        #expect(try owner.ask("items:createItem{ name = 'first' } return items:saveChanges()") == "true true")
        #expect(try owner.ask("items:createItem{ name = 'second' } return timer.sleep(0)") == "true")
        let script = try program.scratch.write(
            "for line in function() return io.read('l') end do print(#items, items[#items].name) io.stdout:flush() end",
            to: "look.lua")
        let reader = try Conversation(
            program.path, ["--read-only", "run", script], environment: program.environment)
        #expect(try reader.ask("look") == "2\tsecond")
        #expect(
            try owner.ask("items:removeItem(items[1]) items[1].name = 'changed' return items:saveChanges()")
                == "true true")
        #expect(try reader.ask("look") == "2\tsecond")
        let second = try program("-e", "print(1)")
        #expect(second.status == .exited(75))
        #expect(second.stderr.contains("process \(owner.pid), since 20"), "\(second.stderr)")
        try reader.end()
        try owner.end()
        #expect(try program("-e", "print(#items, items[1].name)").stdout == "1\tchanged\n")
    }

    /// A library that makes the wall clock jump by a year at each look, backwards and forwards.
    @Test("a clock that jumps disturbs nothing")
    func jumpingClock() throws {
        let source = try program.scratch.write(
            """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <sys/syscall.h>
            #include <time.h>
            #include <unistd.h>
            static long jump(void) { static long looks; looks++; return looks % 2 ? -31536000 * (looks % 40) : 31536000; }
            int clock_gettime(clockid_t clock, struct timespec *now) {
                int result = syscall(SYS_clock_gettime, clock, now);
                if (clock == CLOCK_REALTIME) now->tv_sec += jump();
                return result;
            }
            time_t time(time_t *out) {
                struct timespec now;
                syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
                time_t result = now.tv_sec + jump();
                if (out) *out = result;
                return result;
            }
            """, to: "jump.c")
        let library = program.scratch.file("jump.so")
        let compiled = try run("clang", ["-shared", "-fPIC", "-o", library, source, "-ldl"])
        try #require(compiled.status == .exited(0), "\(compiled.stderr)")
        var environment = program.environment
        environment["LD_PRELOAD"] = library
        let session = try run(
            program.path,
            [
                "-e",
                """
                local back, ticks = false, 0
                timer.every(0.001, function() ticks = ticks + 1 end)
                for i = 1, 50 do
                  items:createItem{ name = 'n' .. i }
                  if i > 1 and items[i].dateCreated < items[i - 1].dateCreated then back = true end
                  timer.sleep(0.0002)
                end
                timer.sleep(0.01)
                assert(items:saveChanges())
                items[50].room = 'after'
                print(back, ticks > 0)
                """,
            ], environment: environment)
        #expect(session.stdout == "true\ttrue\n", "\(session.stderr)")
        let output = try program(
            "-e", "for i = 1, 50 do assert(items[i].name == 'n' .. i) end print(#items, items[50].room)")
        #expect(output.stdout == "50\tafter\n", "\(output.stderr)")
    }
}

/// A program that is asked a line at a time and answers each with one.
private final class Conversation {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var rest: [UInt8] = []

    init(_ command: String, _ arguments: [String], environment: [String: String]) throws {
        process.executableURL = URL(fileURLWithPath: command)
        process.arguments = arguments
        process.environment = environment
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    var pid: Int32 { process.processIdentifier }

    func ask(_ line: String) throws -> String {
        try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
        while true {
            if let end = rest.firstIndex(of: 10) {
                let answer = String(decoding: rest[..<end], as: UTF8.self)
                rest.removeSubrange(...end)
                return answer
            }
            let piece = output.fileHandleForReading.availableData
            if piece.isEmpty { throw TestFailure("the program ended instead of answering \(line)") }
            rest += piece
        }
    }

    func end(status: Int32 = 0) throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        #expect(process.terminationStatus == status)
    }
}
