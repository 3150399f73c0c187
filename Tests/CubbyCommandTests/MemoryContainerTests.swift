import CommandTestSupport
import Foundation
import Glibc
import TestSupport
import Testing

/// Containers of one run alone: `--container :memory:`.
@Suite("Containers in memory", .serialized)
struct MemoryContainerTests {
    let program: Program

    init() throws { program = try Program() }

    private func memory(_ arguments: String...) throws -> ProcessOutput {
        try program(["--container", ":memory:"] + arguments)
    }

    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    @Test("everything of a container works in it, and nothing of it is left")
    func complete() throws {
        let script = """
            local lamp = items:createItem{ name = "Lamp" }
            lamp.image = assert(image.fromData(data.fromBase64("R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=")))
            defaults:set("columns", 3)
            local file = assert(io.open(app.container.tmp .. "/scratch", "w"))
            file:write("x") file:close()
            print(app.container.path)
            print(items:saveChanges(), items.archivePath, #items, lamp.image.width, defaults:get("columns"))
            print(items:undo(), #fs.list(app.container.documents))
            """
        for _ in 0..<2 {
            let result = try memory("-e", script)
            #expect(result.status == .exited(0), "\(result.stderr)")
            let lines = result.stdout.split(separator: "\n").map(String.init)
            try #require(lines.count == 3)
            #expect(lines[0].contains("/cubby-memory-"))
            #expect(lines[1] == "true\tnil\t1\t1\t3")
            #expect(lines[2] == "true\t0")
            #expect(!exists(lines[0]))
        }
        #expect(!exists(program.container), "the environment's container is not touched")
    }

    @Test("another one meanwhile leaves the folder of one that runs")
    func several() throws {
        let terminal = try program.terminal(
            "--container", ":memory:", "-e", "print('at ' .. app.container.path .. ' now') app:run()")
        let text = try terminal.expect(matching: "at /[^ ]+ now")
        let path = try #require(text.split(separator: " ").first { $0.contains("/cubby-memory-") }).description
        let other = try memory("-e", "print(app.container.path)").stdout
        #expect(other.contains("/cubby-memory-"))
        #expect(other != path + "\n")
        #expect(exists(path))
        #expect(try program("attach", "--container", path, "-e", "return #items").stdout == "0\n")
        let backup = try program("backup", "--container", path, program.scratch.file("copy"))
        #expect(backup.status == .exited(64))
        #expect(backup.stderr.contains("items:export"))
        terminal.terminate()
        _ = try terminal.waitForExit()
        #expect(!exists(path))
    }

    @Test("the banner and :doctor say what it is")
    func prompt() throws {
        let terminal = try program.terminal("--container", ":memory:")
        try terminal.expect(matching: "container /[^ ]*/cubby-memory-[^ ]+ \\(of this run alone\\)")
        try terminal.waitForPrompt()
        try terminal.enter(":doctor", andExpect: "0 in memory")
        #expect(terminal.transcript.contains("the items end with this process"))
        try terminal.send(control: "d")
        #expect(try terminal.waitForExit() == .exited(0))
    }

    @Test("what it cannot do is told", arguments: [["attach"], ["backup", "out"], ["restore", "in"]])
    func refusals(words: [String]) throws {
        let result = try program(words + ["--container", ":memory:"], directory: program.scratch.path)
        #expect(result.status == .exited(64))
        #expect(result.stderr.hasPrefix("cubby: :memory: "), "\(result.stderr)")
    }

    @Test("cubby doctor says where it would be, and the environment names it as well")
    func elsewhere() throws {
        #expect(try program("doctor", "--container", ":memory:").stdout.contains("in memory: a new folder in /"))
        let result = try program(["-e", "print(app.container.path)"], environment: ["CUBBY_CONTAINER": ":memory:"])
        #expect(result.stdout.contains("/cubby-memory-"))
    }

    @Test("./:memory: is a folder")
    func folder() throws {
        let result = try program(
            "--container", "./:memory:", "-e", "items:createItem() items:saveChanges()",
            directory: program.scratch.path)
        #expect(result.status == .exited(0), "\(result.stderr)")
        #expect(exists(program.scratch.file(":memory:/Documents/items.archive")))
    }
}
