import Foundation
import TestSupport
import Testing

/// Nonsense typed at the prompt; `scripts/soak keys` is the long form.
@Suite("Nonsense at the prompt", .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct KeyFuzzTests {
    @Test("nothing typed crashes it, wedges it, or leaves the terminal in another mode")
    func nonsense() throws {
        let program = try Program()
        let output = try run(
            "python3", ["\(Project.root)/Tests/Soak/keys.py", program.path, "2", "20261121"],
            environment: program.environment)
        #expect(output.status == .exited(0), "\(output.stdout)\(output.stderr)")
        #expect(output.stdout.contains("none crashed"))
    }
}
