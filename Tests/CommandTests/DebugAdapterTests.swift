import Foundation
import TestSupport
import Testing

/// The Debug Adapter Protocol, spoken by programs that are not ours.
@Suite("Debug adapter of the program", .serialized, .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct DebugAdapterTests {
    let program: Program

    init() throws { program = try Program() }

    private var main: String { program.scratch.file("main.lua") }

    @Test("on a port: many that knock at once, and other users; scripts/soak door runs the long form")
    func door() throws {
        let soak = try run(
            "python3", ["\(Project.root)/Tests/Soak/door.py", program.path, "150", "20261126"], timeout: 300)
        #expect(soak.status == .exited(0), "\(soak.stdout)\(soak.stderr)")
    }

    /// A Python that has dap-python: `pip install dap-python` in an environment of its own.
    static let python = Project.environment("CUBBY_DAP_PYTHON") ?? "python3"
    static let hasClient = (try? run(python, ["-c", "import dap"]))?.status == .exited(0)

    @Test("a client that is not ours", .enabled(if: hasClient, "needs dap-python (CUBBY_DAP_PYTHON names its Python)"))
    func foreignClient() throws {
        try program.scratch.write(
            "local total = 0\nfor i = 1, 3 do total = total + i end\nbreakpoint() total = total + 2\nprint('total', total)\n",
            to: "main.lua")
        let judge = try run(
            Self.python, ["\(Project.root)/Tests/Judges/debug_client.py", program.path, main],
            environment: program.environment, directory: program.scratch.path)
        #expect(
            judge.stdout == "Locals Globals\ntotal: number = 6\n40\n41\nexit 0\ntotal\t42\n",
            "\(judge.stdout)\(judge.stderr)")
    }
}
