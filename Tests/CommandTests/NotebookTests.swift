import Foundation
import TestSupport
import Testing

/// The kernel of notebooks, as front ends that are not ours meet it.
@Suite("Kernel of notebooks", .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct NotebookTests {
    let program: Program

    init() throws { program = try Program() }

    static let hasLibrary =
        (try? run("python3", ["-c", "import ctypes; ctypes.CDLL('libzmq.so.5')"]))?.status == .exited(0)

    @Test(
        "a front end in Python: signatures, heartbeats, cells, questions, interrupts, ends of all kinds",
        .enabled(if: hasLibrary, "needs libzmq5"))
    func frontEnd() throws {
        let judge = try run(
            "python3",
            ["\(Project.root)/Tests/Judges/notebook_client.py", program.path, program.scratch.file("notebook")],
            environment: program.environment, timeout: 300)
        #expect(judge.status == .exited(0), "\(judge.stdout)\(judge.stderr)")
        #expect(judge.stdout.split(separator: "\n").count == 17, "\(judge.stdout)")
    }
}
