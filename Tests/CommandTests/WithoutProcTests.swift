import Foundation
import Glibc
import TestSupport
import Testing

/// The program where `/proc` is not mounted: in a chroot, in a small container.
@Suite("Without /proc", .enabled(if: Program.isBuilt && geteuid() == 0, "needs the program, and root to mount"))
struct WithoutProcTests {
    let program: Program

    init() throws { program = try Program() }

    /// Runs a shell's line in a mount namespace whose `/proc` is empty.
    private func runWithoutProc(_ line: String) throws -> ProcessOutput {
        try run(
            "unshare", ["-m", "sh", "-c", "mount -t tmpfs none /proc && " + line], environment: program.environment)
    }

    @Test(
        "commands do what they do elsewhere",
        arguments: [
            ("\"$CUBBY\" -e 'print(6 * 7, ...)' one two", "42\tone\ttwo\n"),
            ("\"$CUBBY\" --require-sandbox -e 'print((fs.read(\"/etc/hostname\")))'", "nil\n"),
            ("echo 'print(\"from a pipe\")' | \"$CUBBY\"", "from a pipe\n"),
            (
                "\"$CUBBY\" -e 'local _ = items:createItem{ name = \"kept\" }' && \"$CUBBY\" -e 'print(items[1].name)'",
                "kept\n"
            ),
            ("\"$CUBBY\" -e 'error(\"no\")' 2>&1 >/dev/null | grep -c 'no$'", "1\n"),
        ])
    func command(_ line: String, _ expected: String) throws {
        let output = try runWithoutProc(line)
        #expect(output.stdout == expected, "\(output.stderr)")
        #expect(output.status == .exited(0))
    }

    @Test("doctor names the program and the container's state")
    func doctor() throws {
        let output = try runWithoutProc("\"$CUBBY\" doctor")
        #expect(output.status == .exited(0), "\(output.stderr)")
        #expect(
            output.stdout.contains(/cubby +[\d.]+ \(.*\)(?:, Swift [\d.]+)?, Lua [\d.]+, \/.*\/cubby\n/),
            "\(output.stdout)")
        #expect(output.stdout.contains("path fence"))
        #expect(output.stdout.contains("not there yet"))
    }

    @Test("a second process is refused and names the first; a prompt attaches")
    func second() throws {
        let output = try runWithoutProc(
            """
            "$CUBBY" -e 'print("ready") io.stdout:flush() app:run()' > "$HOME/said" & host=$!
            while ! grep -q ready "$HOME/said"; do sleep 0.01; done
            "$CUBBY" -e '' 2>&1 | grep -c "process $host"
            "$CUBBY" doctor | grep -c "in use by cubby, process $host"
            "$CUBBY" attach -e 'return 6 * 7'
            kill -TERM $host; wait $host; echo "ended with $?"
            """)
        #expect(output.stdout == "1\n1\n42\nended with 0\n", "\(output.stderr)")
    }

    @Test("a container whose path is too long for a socket runs all the same")
    func longPath() throws {
        let output = try runWithoutProc(
            "\"$CUBBY\" --container \"$HOME/\(String(repeating: "long", count: 40))\" -e 'print(#items)'")
        #expect(output.stdout == "0\n", "\(output.stderr)")
        #expect(output.status == .exited(0))
    }
}
