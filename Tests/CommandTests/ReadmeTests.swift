import Foundation
import TestSupport
import Testing

/// Every command and every script of the README and the documents does what the page says.
@Suite("Documents", .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct ReadmeTests {
    static let pages: [DocumentedSession] = {
        let documents = (try? FileManager.default.contentsOfDirectory(atPath: "\(Project.root)/docs")) ?? []
        return (["README.md"] + documents.filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" })
            .compactMap(DocumentedSession.init)
    }()

    @Test("a page's blocks in their order, in the project's folder", arguments: pages)
    func page(_ page: DocumentedSession) throws {
        var program = try Program()
        for block in page.blocks {
            try check(block, of: page, program)
            if page.hasSeparateBlocks { program = try Program() }
        }
    }

    private func check(_ block: DocumentedSession.Block, of page: DocumentedSession, _ program: Program) throws {
        // The page's `scripts/run` builds first; here it is the program that was built.
        let scripts = program.scratch.file("bin")
        try FileManager.default.createDirectory(atPath: scripts, withIntermediateDirectories: true)
        var environment = program.environment
        // They exist already after a page's first block.
        for name in ["cubby", "scripts-run"] { symlink(program.path, "\(scripts)/\(name)") }
        environment["PATH"] = "\(scripts):" + (environment["PATH"] ?? "/usr/bin:/bin")
        switch block {
        case .commands(let commands):
            for (command, output) in commands {
                let line = command.replacing("scripts/run", with: "scripts-run")
                let result = try run(
                    "/bin/bash", ["-c", line], environment: environment, directory: Project.root)
                var printed = result.stdout.split(separator: "\n", omittingEmptySubsequences: false).map(
                    String.init)
                if printed.last == "" { printed.removeLast() }
                if let difference = DocumentedSession.difference(output, printed) {
                    Issue.record("\(page.name): $ \(command)\n\(difference)\nall of it:\n\(result.stdout)")
                }
            }
        case .script(let script) where page.name.hasSuffix("testing-scripts.md"):
            let file = try program.scratch.write(script, to: "page_test.lua")
            let result = try run(program.path, ["test", file], environment: environment, directory: Project.root)
            #expect(result.status == .exited(0), "\(result.stdout)\(result.stderr)\nin the tests:\n\(script)")
        case .script(let script):
            let result = try run(
                program.path, ["--allow-read", "\(Project.root)/examples", "-"], input: script,
                environment: environment,
                directory: Project.root)
            #expect(result.status == .exited(0), "\(page.name): \(result.stderr)\nin the script:\n\(script)")
        }
    }

    @Test(
        "… stands for the rest of a line",
        arguments: [
            ("exact", "exact", true), ("exact", "exactly", false), ("took … ms", "took 5 s", true), ("…", "", true),
            ("a…", "b", false), ("", "", true), ("", "x", false),
        ])
    func gaps(shown: String, printed: String, matches: Bool) {
        #expect(DocumentedSession.matches(shown, printed) == matches)
    }
}
