import Application
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
        #expect(embedding.host.hasRefusedChangedProgram)
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
