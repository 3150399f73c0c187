import Lua

/// The settings of lua-language-server, luacheck, StyLua and of debuggers for a folder of scripts.
struct EditorSettings {
    private let reference: APIReference

    init(_ reference: APIReference) { self.reference = reference }

    private static let annotations = ".cubby/cubby.lua"
    /// The debug configuration of Visual Studio Code. Once written, it belongs to the user.
    static let launch = ".vscode/launch.json"

    var files: [ReferencePage] {
        [
            ReferencePage(path: Self.annotations, text: AnnotationWriter(reference).text),
            ReferencePage(path: ".luarc.json", text: Self.languageServer),
            ReferencePage(path: ".luacheckrc", text: luacheck),
            ReferencePage(path: "stylua.toml", text: Self.formatter),
            ReferencePage(path: Self.launch, text: Self.launches),
            ReferencePage(path: ".vscode/extensions/cubby-debug/package.json", text: Self.debugger),
            ReferencePage(path: ".cubby/nvim-dap.lua", text: Self.neovim),
        ]
    }

    private static let languageServer = """
        {
          "$schema": "https://raw.githubusercontent.com/LuaLS/vscode-lua/master/setting/schema.json",
          "runtime.version": "Lua 5.4",
          "workspace.library": [".cubby"],
          "workspace.checkThirdParty": false
        }

        """

    /// Globals are read-only; assignable properties are listed one by one.
    private var luacheck: String {
        let shown = reference.declarations.filter { $0.isGlobal && !$0.isPartOfLua }.sorted { $0.name < $1.name }
        let lines = shown.map { declaration in
            let fields = declaration.properties.filter { !$0.isReadOnly }.map {
                "\($0.name) = { read_only = false, other_fields = true }"
            }
            var parts = fields.isEmpty ? [] : ["fields = { \(fields.joined(separator: ", ")) }"]
            // The result of `items[1]` has assignable fields; luacheck supports that only for `items` itself.
            if declaration.operators.contains(where: { $0.name == "index" }) { parts.append("read_only = false") }
            parts.append("other_fields = true")
            return "    \(declaration.name) = { \(parts.joined(separator: ", ")) },"
        }
        return """
            std = "lua54"
            max_line_length = 120
            exclude_files = { ".cubby" }
            read_globals = {
            \(lines.joined(separator: "\n"))
            }

            """
    }

    private static let formatter = """
        syntax = "Lua54"
        column_width = 120
        indent_type = "Spaces"
        indent_width = 4
        quote_style = "AutoPreferDouble"

        """

    // MARK: Debuggers

    private static let launches = """
        {
          "version": "0.2.0",
          "configurations": [
            {
              "type": "cubby", "request": "launch", "name": "Cubby: this file",
              "program": "${file}", "cwd": "${workspaceFolder}", "args": [], "stopOnEntry": false
            },
            { "type": "cubby", "request": "attach", "name": "Cubby: the host that runs" }
          ]
        }

        """

    /// An extension in the folder, which configures how Visual Studio Code starts the adapter.
    private static let debugger = """
        {
          "name": "cubby-debug", "publisher": "local", "version": "1.0.0", "displayName": "Cubby debugger",
          "engines": { "vscode": "^1.89.0" }, "categories": ["Debuggers"],
          "contributes": {
            "breakpoints": [{ "language": "lua" }],
            "debuggers": [{
              "type": "cubby", "label": "Cubby", "languages": ["lua"],
              "runtime": "cubby", "runtimeArgs": ["debug", "--dap"],
              "configurationAttributes": {
                "launch": {
                  "required": ["program"],
                  "properties": {
                    "program": { "type": "string", "description": "The script." },
                    "args": { "type": "array", "items": { "type": "string" }, "description": "Its arguments." },
                    "cwd": { "type": "string", "description": "The folder from which it runs." },
                    "options": {
                      "type": "array", "items": { "type": "string" },
                      "description": "Options of cubby run, such as --container and a folder."
                    },
                    "stopOnEntry": { "type": "boolean", "description": "Stop at the first line." },
                    "token": { "type": "string", "description": "With debugServer: what cubby debug --listen shows." }
                  }
                },
                "attach": {
                  "properties": {
                    "container": { "type": "string", "description": "The container of the host." },
                    "token": { "type": "string", "description": "With debugServer: what cubby debug --listen shows." }
                  }
                }
              }
            }]
          }
        }

        """

    private static let neovim = """
        -- For nvim-dap: dofile(".cubby/nvim-dap.lua")
        local dap = require("dap")
        dap.adapters.cubby = { type = "executable", command = "cubby", args = { "debug", "--dap" } }
        dap.configurations.lua = {
            { type = "cubby", request = "launch", name = "Cubby: this file", program = "${file}" },
            { type = "cubby", request = "attach", name = "Cubby: the host that runs" },
        }

        """
}

/// The test that `cubby init` writes, which is the user's once it exists.
enum FirstTest {
    static let file = ReferencePage(
        path: "first_test.lua",
        text: """
            -- A first test: `cubby test` runs it. Each test has a container of its own, in memory.

            test("an item is kept", function()
              local lamp = items:createItem{ name = "Lamp", valueInDollars = 5 }
              expect(#items):equals(1)
              expect(lamp):has{ name = "Lamp", valueInDollars = 5 }
            end)

            """)
}
