import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// `cubby api` and `cubby init`.
@Suite("Reference commands")
struct ReferenceCommandTests {
    let program: Program

    init() throws { program = try Program() }

    static let settings = [
        ".cubby/cubby.lua", ".cubby/nvim-dap.lua", ".luacheckrc", ".luarc.json",
        ".vscode/extensions/cubby-debug/package.json", ".vscode/launch.json", "first_test.lua", "stylua.toml",
    ]

    @Test(
        "api writes to standard output, in each format, and leaves the container alone",
        arguments: [
            (["api"], "# Reference\n"), (["api", "--format", "markdown"], "## `items:createItem([fields]) → Item`\n"),
            (["api", "--format", "luacats"], "function items:createItem(fields) end\n"),
            (["api", "--format", "json"], "\"version\" : 1"),
        ])
    func formats(arguments: [String], expected: String) throws {
        let output = try program(arguments)
        #expect(output.status == .exited(0))
        #expect(output.stdout.contains(expected))
        #expect(output.stderr == "")
        #expect(!FileManager.default.fileExists(atPath: program.container))
    }

    @Test("api --output writes files: the pages of docs/reference")
    func files() throws {
        let folder = program.scratch.file("pages")
        #expect(try program("api", "--output", folder).stdout == "")
        let written = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(
            written == (try FileManager.default.contentsOfDirectory(atPath: "\(Project.root)/docs/reference")).sorted())
        #expect(try program("api", "--format", "luacats", "--output", folder).status == .exited(0))
        #expect(FileManager.default.fileExists(atPath: "\(folder)/cubby.lua"))
    }

    @Test("a format that there is not, and a folder that cannot be made, are told with their statuses")
    func refusals() throws {
        let unknown = try program("api", "--format", "html")
        #expect(unknown.status == .exited(64))
        #expect(unknown.stderr.contains("html"))
        let file = try program.scratch.write("", to: "file")
        let below = try program("api", "--output", "\(file)/below")
        #expect(below.status == .exited(74))
        #expect(below.stderr.hasPrefix("cubby: "))
        #expect(try program("api", "--output", "").status == .exited(64))
        #expect(try program("init", "").status == .exited(64))
        #expect(try program(["api"], environment: ["TMPDIR": "\(file)/below"]).status == .exited(74))
    }

    @Test("init writes the settings beside scripts and says which; what is there it keeps, unless told otherwise")
    func settings() throws {
        let folder = program.scratch.file("scripts")
        let first = try program("init", folder)
        #expect(first.status == .exited(0))
        let wrote = first.stdout.split(separator: "\n").map(String.init)
        #expect(wrote.sorted() == Self.settings.map { "wrote \(folder)/\($0)" }.sorted())
        #expect(!FileManager.default.fileExists(atPath: program.container))

        let mine = try program.scratch.write("mine", to: "scripts/stylua.toml")
        let second = try program("init", directory: folder)
        #expect(second.status == .exited(0))
        #expect(second.stdout.contains("kept ./stylua.toml\n"))
        #expect(second.stdout.hasSuffix("--force replaces what was kept.\n"))
        #expect(try String(contentsOfFile: mine, encoding: .utf8) == "mine")

        #expect(try program("init", "--force", folder).stdout.contains("wrote \(folder)/stylua.toml\n"))
        #expect(try String(contentsOfFile: mine, encoding: .utf8).contains("syntax = \"Lua54\""))

        // What to debug is the user's own from the first moment.
        let launch = try program.scratch.write("mine", to: "scripts/.vscode/launch.json")
        #expect(try program("init", "--force", folder).stdout.contains("kept \(folder)/.vscode/launch.json\n"))
        #expect(try String(contentsOfFile: launch, encoding: .utf8) == "mine")
    }

    @Test("the settings are of the forms that their readers take, and point at the annotations")
    func forms() throws {
        _ = try program("init", program.scratch.path)
        let server = try JSONSerialization.jsonObject(with: program.scratch.read(".luarc.json")) as? [String: Any]
        #expect(server?["workspace.library"] as? [String] == [".cubby"])
        #expect(server?["runtime.version"] as? String == "Lua 5.4")
        func object(_ file: String) throws -> [String: Any]? {
            try JSONSerialization.jsonObject(with: program.scratch.read(file)) as? [String: Any]
        }
        let configurations = try object(".vscode/launch.json")?["configurations"] as? [[String: Any]]
        #expect(configurations?.map { $0["request"] as? String } == ["launch", "attach"])
        let contributed = try object(".vscode/extensions/cubby-debug/package.json")?["contributes"] as? [String: Any]
        let debugger = (contributed?["debuggers"] as? [[String: Any]])?.first
        #expect(debugger?["type"] as? String == "cubby" && debugger?["runtimeArgs"] as? [String] == ["debug", "--dap"])
        // luacheck runs its file as Lua; so does this, and looks at the globals that it set.
        let script = """
            local settings = {}
            assert(load(io.read("a"), "=luacheckrc", "t", settings))()
            print(settings.std, settings.read_globals.items.other_fields, settings.read_globals.app.fields.delegate.read_only)
            """
        let text = String(decoding: try program.scratch.read(".luacheckrc"), as: UTF8.self)
        #expect(try program("-e", script, input: text).stdout == "lua54\ttrue\tfalse\n")
        let annotations = try program.scratch.read(".cubby/cubby.lua")
        #expect(annotations == Data(try program("api", "--format", "luacats").stdout.utf8))
    }

    static let luacheck = "/usr/bin/luacheck"

    @Test(
        "luacheck knows the host's globals by the settings: the examples have nothing to warn of",
        .enabled(if: FileManager.default.isExecutableFile(atPath: luacheck), "lua-check is not installed"))
    func luacheckKnows() throws {
        _ = try program("init", program.scratch.path)
        let clean = try run(
            Self.luacheck,
            ["--no-color", "--config", program.scratch.file(".luacheckrc"), "\(Project.root)/examples"])
        #expect(clean.status == .exited(0), "\(clean.stdout)")
        let misspelt = try program.scratch.write("print(itmes.allItems)", to: "misspelt.lua")
        let warned = try run(
            Self.luacheck, ["--no-color", "--config", program.scratch.file(".luacheckrc"), misspelt])
        #expect(warned.stdout.contains("accessing undefined variable 'itmes'"))
    }
}
