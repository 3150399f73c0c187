import TestSupport
import Testing

/// What the host's own functions take of time and memory that a script may not have. `scripts/soak` runs the long forms.
@Suite(
    "Limits of the host's functions", .serialized,
    .enabled(if: Program.isBuilt, Comment(rawValue: Project.cubbyIsAbsent)))
struct LimitTests {
    @Test("shared and cyclic structures, and huge input, end within their limits", arguments: ["conversions", "input"])
    func soak(_ trial: String) throws {
        let program = try Program()
        let output = try run(
            "python3", ["\(Project.root)/Tests/Soak/\(trial).py", program.path, "--short"], timeout: 900)
        #expect(output.status == .exited(0), "\(output.stdout)\(output.stderr)")
        #expect(output.stdout.contains("all within their limits"))
    }
}
