import Foundation
import TestSupport
import Testing

/// What Tab offers in the shells, by their own completion in a terminal.
@Suite("Completions of the shells", .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct CompletionTests {
    enum Shell: String, CaseIterable, Sendable {
        case bash, zsh, fish

        var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/\(rawValue)") }

        /// Without the user's own settings.
        var arguments: [String] {
            switch self {
            case .bash: ["--norc", "--noprofile", "-i"]
            case .zsh: ["-f", "-i"]
            case .fish: ["--no-config", "-i"]
            }
        }

        /// What makes the program's completions known.
        func setUp(_ script: String) -> String {
            switch self {
            case .bash: "bind 'set enable-bracketed-paste off'; source \(script)"
            case .zsh: "autoload -Uz compinit; compinit -u -D; source \(script)"
            case .fish: "source \(script)"
            }
        }
    }

    static let installed = Shell.allCases.filter(\.isInstalled)

    let program: Program

    init() throws {
        program = try Program()
        let made = try program(
            "-e", "items:createItem{ name = 'Lamp', room = 'Study', height = 3, ['a$(touch stolen)'] = 1 }")
        try #require(made.status == .exited(0), "\(made.stderr)")
        try program.scratch.write("", to: "Documents of mine.txt")
        try program.scratch.write("", to: "nightly.lua")
        // Shows its arguments, and answers the shells as the program.
        try program.scratch.writeProgram(
            """
            #!/bin/sh
            case "$1" in ---completion) exec "$CUBBY" "$@" ;; esac
            printf '<%s>' "$@"
            echo .
            """, to: "bin/cubby")
    }

    private func terminal(_ shell: Shell) throws -> PseudoTerminal {
        let script = try program.scratch.write(
            try program("--generate-completion-script", shell.rawValue).stdout, to: "completions.\(shell)")
        var environment = program.environment
        environment["PATH"] = program.scratch.file("bin") + ":/usr/bin:/bin"
        let terminal = try PseudoTerminal(
            "/usr/bin/\(shell)", shell.arguments, environment: environment, directory: program.scratch.path,
            columns: 160, rows: 50)
        try terminal.sendLine(shell.setUp(script))
        try terminal.sendLine("cubby set up")
        try terminal.expect("<set><up>.")
        return terminal
    }

    /// What is typed before Tab, and the arguments that the line has by it.
    static let completed: [(typed: String, arguments: [String])] = [
        ("expo", ["export"]), ("config revo", ["config", "revoke"]),
        ("config set time", ["config", "set", "time-limit"]),
        ("--requ", ["--require-sandbox"]), ("export --format arch", ["export", "--format", "archive"]),
        ("nigh", ["nightly.lua"]), ("run nigh", ["run", "nightly.lua"]),
        ("import Doc", ["import", "Documents of mine.txt"]), ("--container conta", ["--container", "container"]),
        ("export hei", ["export", "height"]), ("export 'hei", ["export", "height"]),
        ("export 'room == \"Study\" AND hei", ["export", "room == \"Study\" AND height"]),
        ("export --columns room,hei", ["export", "--columns", "room,height"]),
        ("import --key ro", ["import", "--key", "room"]),
        // A field's name is data: one that a shell could run is not offered.
        ("export 'a$'", ["export", "a$"]),
    ]

    @Test("commands, options, values, files, containers and fields", arguments: installed)
    func completions(shell: Shell) throws {
        let terminal = try terminal(shell)
        for (typed, arguments) in Self.completed {
            try terminal.send("cubby \(typed)\t")
            try terminal.sendLine("")
            // bash has a slash behind a folder.
            let words = arguments.map { $0 == "container" && shell == .bash ? "container/" : $0 }
            try terminal.expect(words.map { "<\($0)>" }.joined() + ".")
        }
        #expect(!FileManager.default.fileExists(atPath: program.scratch.file("stolen")))
    }

    @Test("a script of each shell is made, and another shell is refused", arguments: Shell.allCases)
    func script(shell: Shell) throws {
        #expect(try program("--generate-completion-script", shell.rawValue).stdout.contains("---completion"))
        #expect(try program("--generate-completion-script", "csh").status == .exited(64))
    }
}
