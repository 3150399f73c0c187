import TestSupport
import Testing

/// The program of examples/ScriptService: a web service whose requests bring their scripts.
@Suite("Script service", .serialized, .enabled(if: ExamplePackage.areAllTried, "scripts/test --all"))
struct ScriptServiceTests {
    @Test("10,000 requests over 64 connections, with a greedy tenant: no crosstalk, no leak", .timeLimit(.minutes(30)))
    func requests() throws {
        let program = try ExamplePackage("ScriptService", isOptimized: true).program("ScriptService")
        let trial = try run(
            "python3", ["\(Project.root)/Tests/Examples/script_service.py", program], timeout: 600)
        #expect(trial.status == .exited(0), "\(trial.stdout)\(trial.stderr)")
    }
}
