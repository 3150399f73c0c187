import Lua

/// The settings of lua-language-server, luacheck and StyLua for a folder of scripts.
struct EditorSettings {
    private let reference: APIReference

    init(_ reference: APIReference) { self.reference = reference }

    private static let annotations = ".cubby/cubby.lua"

    var files: [ReferencePage] {
        [
            ReferencePage(path: Self.annotations, text: AnnotationWriter(reference).text),
            ReferencePage(path: ".luarc.json", text: Self.languageServer),
            ReferencePage(path: ".luacheckrc", text: luacheck),
            ReferencePage(path: "stylua.toml", text: Self.formatter),
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
}
