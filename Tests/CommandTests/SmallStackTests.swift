import TestSupport
import Testing

/// Scripts that nest without end where the stack is small: each gets an error, and the program goes on.
@Suite("Small stacks", .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct SmallStackTests {
    @Test("nesting ends with an error, at any size of the stack in kilobytes", arguments: [512, 1024, 8192])
    func nestings(kilobytes: Int) throws {
        let program = try Program()
        let output = try run(
            "/bin/bash", ["-c", "ulimit -s \(kilobytes); exec \"$CUBBY\" run -"], input: Nestings.script,
            environment: program.environment, timeout: 300)
        #expect(output.stdout == "\(Nestings.count) ended\n", "\(output.stderr)")
        #expect(output.status == .exited(0), "\(output.stderr)")
    }

    @Test("an error by nesting is the script's: status 1", arguments: [512, 1024])
    func status(kilobytes: Int) throws {
        let program = try Program()
        let script =
            "items:createItem() local function f() return items:query(function() return f() end):count() end f()"
        let output = try run(
            "/bin/bash", ["-c", "ulimit -s \(kilobytes); exec \"$CUBBY\" -e '\(script)'"],
            environment: program.environment)
        #expect(output.status == .exited(1))
        #expect(output.stderr.contains("C stack overflow"), "\(output.stderr)")
    }
}
