import Application
import Foundation
import Glibc
import Scripting
import Synchronization
import TestSupport
import Testing

/// Programs that scripts start by their names.
@Suite("Programs by name")
struct ProgramStarterTests {
    let scratch: TemporaryDirectory

    init() throws {
        scratch = try TemporaryDirectory()
        try scratch.writeProgram("#!/bin/sh\nprintf '%s,' tool \"$@\"\nexit 3\n", to: "tool")
    }

    private func embedding(_ change: (inout ScriptHostOptions) -> Void = { _ in }) throws -> Embedding {
        let grant = try ProgramGrant(scratch.file("tool"))
        return try Embedding(scratch.file("container")) {
            $0.programs = [grant]
            change(&$0)
        }
    }

    @Test(
        "start with their arguments, and nothing else does",
        arguments: [
            ("io.popen('tool a \"b c\"'):read('a')", "tool,a,b c,"), ("io.popen('TOOL'):read('a')", "tool,"),
            ("select('#', os.execute('tool >x'))", "needs a shell"),
            ("os.execute('sh -c true')", "'sh' is none of them"),
            ("os.execute('/bin/sh')", "is none of them"), ("os.execute('')", "is none of them"),
            ("io.popen('tool | sh')", "'|' needs a shell"), ("os.execute()", "false"),
        ])
    func starts(expression: String, text: String) throws {
        let embedding = try embedding()
        defer { embedding.end() }
        let result = embedding.run("return " + expression.replacing("TOOL", with: scratch.file("tool")))
        #expect(result.contains(text), "\(result)")
        #expect(embedding.run("return os.execute('tool')").contains("3"))
    }

    @Test("is the one that was granted, by its name or the path of its grant: no other name of its file")
    func names() throws {
        // A program of many names, as busybox and coreutils are, tells them by its first word.
        try scratch.write("x", to: "folder/x")
        let many = scratch.file("many")
        // By a process of its own: a program that another thread starts meanwhile would hold the copy open for writing, and
        // the kernel starts no file that is being written.
        #expect(try run("/bin/cp", ["/bin/bash", many]).status == .exited(0))
        symlink("many", scratch.file("sh"))
        symlink("many", scratch.file("other"))
        let grant = try ProgramGrant(scratch.file("sh"))
        let embedding = try Embedding(scratch.file("named")) { $0.programs = [grant] }
        defer { embedding.end() }
        for word in ["sh", scratch.file("sh")] {
            #expect(embedding.run("return io.popen([[\(word) -c 'echo $0']]):read()") == "sh", "\(word)")
        }
        for word in [scratch.file("other"), many, scratch.file("folder/../sh") + "/../other", "./other"] {
            let refusal = embedding.run("return io.popen([[\(word) -c 'echo $0']])")
            #expect(refusal.contains("start it by one of these") || refusal.contains("none of them"), "\(refusal)")
        }
    }

    @Test("a program that ignores SIGTERM is killed after a while, and one that does not has its time")
    func stubborn() throws {
        try scratch.writeProgram(
            "#!/bin/sh\ntrap '' TERM\necho ready >\(scratch.file("ready"))\nwhile :; do sleep 60; done\n", to: "deaf")
        try scratch.writeProgram(
            "#!/bin/sh\ntrap 'echo bye >\(scratch.file("bye")); exit' TERM\necho ready >\(scratch.file("ready"))\nwhile :; do sleep 0.01; done\n",
            to: "polite")
        for (name, patience) in [("deaf", 0.05), ("polite", 60.0)] {
            unlink(scratch.file("ready"))
            let child = try ChildProcess([scratch.file(name)])
            while access(scratch.file("ready"), F_OK) != 0 { usleep(1000) }
            child.terminate(patience: patience)
            #expect(kill(child.processIdentifier, 0) != 0 && errno == ESRCH)
        }
        #expect(access(scratch.file("bye"), F_OK) == 0)
    }

    @Test(
        "a grant of a program that starts others is known: by its name, with a version, a flavour, or by its file",
        arguments: [
            ("env", true), ("sed", true), ("tar", true), ("git", true), ("make", true), ("timeout", true),
            ("sqlite3", true),
            ("gdb", true), ("vim.tiny", true), ("find", true), ("xargs", true), ("mawk", true), ("perl5.36.0", true),
            ("python3.11", true), ("gcc-12", true), ("coreutils", true), ("busybox.static", true), ("lua5.4", true),
            ("ls", false), ("cat", false), ("exif", false), ("sort", false), ("wc", false), ("date", false),
        ])
    func starters(name: String, starts: Bool) throws {
        try scratch.writeProgram("#!/bin/sh\n", to: name)
        symlink(name, scratch.file("alias-of-it"))
        #expect(try ProgramGrant(scratch.file(name)).startsOtherPrograms == starts)
        #expect(try ProgramGrant(scratch.file("alias-of-it")).startsOtherPrograms == starts)
    }

    @Test("with --allow-run the shell takes the command") func shell() throws {
        let embedding = try embedding { $0.allowsRunning = true }
        defer { embedding.end() }
        #expect(embedding.run("return io.popen('echo a | tr a b'):read('a')").contains("b"))
    }

    @Test("a changed one is refused, as long as nobody approves it; the approval is kept")
    func changed() throws {
        let kept = Approvals()
        let embedding = try embedding {
            $0.isInteractive = true
            $0.programApproved = { kept.add($0) }
        }
        defer { embedding.end() }
        #expect(embedding.run("return io.popen('tool'):read('a')").contains("tool,"))
        try scratch.writeProgram("#!/bin/sh\necho changed\n", to: "other")
        #expect(rename(scratch.file("other"), scratch.file("tool")) == 0)
        let refusal = embedding.run("return io.popen('tool')")
        #expect(refusal.contains("has changed since it was granted") && refusal.contains("config grant run tool"))
        #expect(embedding.host.hasDeniedChangedProgram)
        embedding.recorder.approvesPrograms = true
        #expect(embedding.run("return io.popen('tool'):read('a')").contains("changed"))
        #expect(embedding.run("return io.popen('tool'):read('a')").contains("changed"))
        #expect(embedding.recorder.questions.count == 2)
        let grant = try ProgramGrant(scratch.file("tool"))
        #expect(kept.grants == [grant])
    }

    @Test("nobody is asked where nobody can answer") func automation() throws {
        let embedding = try embedding()
        defer { embedding.end() }
        embedding.recorder.approvesPrograms = true
        try scratch.writeProgram("#!/bin/sh\n", to: "tool")
        #expect(embedding.run("return os.execute('tool')").contains("has changed"))
        #expect(embedding.recorder.questions.isEmpty)
    }

    private final class Approvals: Sendable {
        private let state = Mutex<[ProgramGrant]>([])
        var grants: [ProgramGrant] { state.withLock { $0 } }
        func add(_ grant: ProgramGrant) { state.withLock { $0.append(grant) } }
    }
}
