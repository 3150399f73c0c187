import Foundation
import TestSupport
import Testing

/// Pictures in processes that are killed, that have touched none yet, and in tmux.
@Suite("Pictures of the program", .timeLimit(.minutes(5)), .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct PictureTests {
    let program: Program

    init() throws { program = try Program() }

    /// Debian's own Python, whose packages are Debian's.
    static let python = "/usr/bin/python3"
    static var hasPython: Bool { FileManager.default.isExecutableFile(atPath: python) }
    static var hasPillow: Bool { (try? run(python, ["-c", "import PIL"]).status == .exited(0)) ?? false }

    @Test(
        "sessions that are killed leave each picture old or new, whole, and with its item",
        .enabled(if: hasPython, "python3 is not installed"))
    func killed() throws {
        // The short form of `scripts/soak pictures`.
        let trial = try run(
            Self.python, ["\(Project.root)/Tests/Soak/pictures.py", program.path, "5"],
            environment: program.environment,
            timeout: 240)
        #expect(trial.status == .exited(0), "\(trial.stderr)")
        #expect(trial.stdout.hasSuffix("each old or new, none torn, none lost\n"))
    }

    @Test("a session that touches no picture does not load libvips") func lazily() throws {
        let script = """
            local function isLoaded()
              for line in io.lines("/proc/self/maps") do if line:find("libvips", 1, true) then return true end end
              return false
            end
            items:createItem{ name = "Lamp" }
            print(isLoaded(), assert(image.open((...))).width, isLoaded())
            assert(image.open((...)):resized(9, 9))
            print(isLoaded())
            """
        let output = try program(
            "--allow-read", "/proc/self", "-e", script, "\(Project.root)/examples/data/pictures/teapot.jpg")
        #expect(output.stdout == "false\t320\tfalse\ntrue\n", "\(output.stderr)")
    }

    static let hasTmux = (try? run("tmux", ["-V"]).status == .exited(0)) ?? false

    @Test(
        "inside of tmux a pane shows half blocks, and nothing of what tmux would drop",
        .enabled(if: hasTmux, "tmux is not installed"))
    func tmux() async throws {
        let picture = "\(Project.root)/examples/data/pictures/teapot.jpg"
        #expect(
            try program("-e", "items:createItem{ name = 'Pot' }.image = assert(image.open(...))", picture).status
                == .exited(0))
        let socket = program.scratch.file("tmux.socket")
        func tmux(_ arguments: String...) throws -> String {
            try run("tmux", ["-S", socket, "-f", "/dev/null"] + arguments, environment: program.environment).stdout
        }
        _ = try tmux("new-session", "-d", "-x", "100", "-y", "50", program.path)
        defer { _ = try? tmux("kill-server") }
        func screen(with text: String) async throws -> String {
            while true {
                let screen = try tmux("capture-pane", "-p", "-e")
                if screen.contains(text) { return screen }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        _ = try await screen(with: "Ctrl-D to leave.")
        _ = try tmux("send-keys", "items[1].image", "Enter")
        let shown = try await screen(with: "(320×240 JPEG")
        let lines = shown.split(separator: "\n").filter { $0.contains("▀") }
        #expect(lines.count == 30, "\(shown)")
        #expect(lines.allSatisfy { $0.contains("[38;5;") || $0.contains(";48;5;") || $0.contains("[48;5;") })
        #expect(!shown.contains("Gi=31") && !shown.contains("a=T,f=100") && !shown.contains("\"1;1;"))
    }
}
