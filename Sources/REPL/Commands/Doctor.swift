import Application
import Files
import Glibc
import Images
import Items
import LineEditor
import Lua
import PropertyList
import Scripting
import Wording

/// The report of `:doctor`: the terminal, the container, the sandbox, and missing packages.
struct Doctor {
    let host: ScriptHost
    let printer: ValuePrinter
    let isEditing: Bool
    let settings: PromptSettings
    /// The terminal's variables.
    let environment: (String) -> String?

    var text: String {
        let files = PosixFileLayer()
        let container = host.container
        let archive = host.items.archivePath
        let saved =
            archive.map { path in
                guard files.exists(path) else { return "not yet" }
                return host.items.hasChanges ? "changes wait for a save" : "yes"
            } ?? "no: the items end with this process"
        let pictures =
            switch printer.pictures?.graphics {
            case .kitty?: "kitty graphics"
            case .iTerm2?: "iTerm2's inline images"
            case .sixel?: "sixel"
            case .halfBlocks(.trueColor)?: "half blocks in 24 bits of colour"
            case .halfBlocks(.palette256)?: "half blocks in 256 colours"
            case nil: "none"
            }
        let term = environment("TERM") ?? "not set"
        let editor = environment("VISUAL") ?? environment("EDITOR") ?? "vi (VISUAL and EDITOR are not set)"
        let initScript = PathText.join(container.scripts, "init.lua")
        var lines: [(String, String)] = [
            ("version", "Cubby \(CubbyVersion.string), Lua 5.4"),
            ("container", container.title + (host.options.isReadOnly ? " (read-only)" : "")),
            ("items", "\(host.items.count.grouped) in \(archive.map { DisplayPath.abbreviate($0) } ?? "memory")"),
            ("saved", saved),
            ("init.lua", files.exists(initScript) ? DisplayPath.abbreviate(initScript) : "none"),
            ("prompt.lua", settings.files.isEmpty ? "none" : settings.files.joined(separator: ", ")),
            ("sandbox", "\(host.sandboxDescription), by \(host.fence.method)"),
            ("terminal", "\(term), \(printer.columns)×\(printer.rows), pictures: \(pictures)"),
            ("colours", settings.colorsText),
            ("line editor", isEditing ? "on" : "off: the terminal's own lines (TERM=dumb, or no terminal)"),
            ("editor", editor), ("clock", host.localText(.now())),
            (
                "handlers",
                "\(host.handlerStatistics.count), \(host.handlerFailureCount.counted("error")) since the launch"
            ),
            ("memory of Lua", "\(host.state.memory.used / 1024) kB"),
        ]
        let language = environment("LC_ALL") ?? environment("LC_CTYPE") ?? environment("LANG") ?? ""
        if !language.uppercased().contains("UTF") {
            lines.append(("missing", "LANG names no UTF-8 locale: signs outside of ASCII may look wrong"))
        }
        let width = lines.map(\.0.count).max() ?? 0
        return lines.map { name, value in
            "  \(name)\(String(repeating: " ", count: width - name.count))  \(value)\n"
        }.joined()
    }
}
