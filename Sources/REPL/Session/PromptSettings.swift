import Application
import Files
import LineEditor
import Lua
import PropertyList
import Scripting

/// The appearance and behaviour of the prompt: the global `prompt` of entries and of the files `prompt.lua`.
final class PromptSettings {
    enum Colors: String, CaseIterable, LuaRepresentable { case auto, dark, light, none }

    /// The allowed colours. The environment and `--no-color` take precedence: they can only remove colours.
    private let allowed: TerminalPalette
    private let environment: (String) -> String?
    /// Called after a change.
    var onChange: () -> Void = {}

    /// The background by `COLORFGBG` or the terminal; nil while unknown.
    var background: TerminalBackground? { didSet { if background != oldValue { onChange() } } }
    private(set) var colors = Colors.auto { didSet { onChange() } }
    private(set) var styles: [TextStyle: String] = [:] { didSet { onChange() } }
    private(set) var showsNumbers = true
    private(set) var editing = PromptSettings.usualEditing { didSet { onChange() } }
    /// The display names of the files that were run.
    var files: [String] = []
    /// Whether this is the chapter's prompt, in its container.
    var offersChapter = false

    init(allowed: TerminalPalette, environment: @escaping (String) -> String?) {
        self.allowed = allowed
        self.environment = environment
        background = environment("COLORFGBG").flatMap(TerminalBackground.init(variable:))
    }

    /// The palette to use.
    var palette: TerminalPalette {
        guard allowed == .standard else { return allowed }
        var palette: TerminalPalette
        switch colors {
        case .auto: palette = .colored(for: background, environment: environment)
        case .dark: palette = .colored(for: .dark, environment: environment)
        case .light: palette = .colored(for: .light, environment: environment)
        case .none: return .none
        }
        for (style, code) in styles { palette[style] = code }
        return palette
    }

    /// The text about the colours in `:doctor`.
    var colorsText: String {
        if allowed.isEmpty { return "none (NO_COLOR, --no-color, or a terminal without)" }
        guard allowed == .standard else { return "none: bold and underline (TERM)" }
        let ground = background.map { "a \($0.rawValue) background" } ?? "a background that the terminal does not tell"
        return colors == .auto ? "for \(ground)" : "\(colors.rawValue), set by prompt.colors"
    }

    /// What is copied from a session of Cubby or of Lua is an entry without its prompts.
    static var usualEditing: EditorOptions {
        var options = EditorOptions()
        options.pastedPrompts = ["> ", "lua> "]
        options.pastedContinuations = [">> ", "… ", "... "]
        options.waitsForCandidates = true
        return options
    }

    // MARK: Lua

    func install(in state: LuaState) {
        let cls = LuaClass<PromptSettings>(
            "prompt", doc: "The prompt's settings, for prompt.lua and this session.", in: state)
        cls.property(
            "colors", doc: "Colours for a dark or a light background; auto queries the terminal.",
            get: { $0.colors }, set: { $0.colors = $1 })
        cls.property(
            "numbers", doc: "Whether an entry's number is shown after it: 3, whose value is _3.",
            get: { $0.showsNumbers }, set: { $0.showsNumbers = $1 })
        cls.property(
            "suggestions", doc: "Whether the newest entry with the typed prefix is suggested, dimmed.",
            get: { $0.editing.showsSuggestions }, set: { $0.editing.showsSuggestions = $1 })
        cls.property(
            "indent", doc: "The indentation of a block in columns, from 1 to 8.", get: { $0.editing.indentWidth },
            set: { $0.editing.indentWidth = try Self.checked($1, 1...8) })
        cls.property(
            "menuHeight", doc: "The maximum number of lines of the completion menu, from 1 to 40.",
            get: { $0.editing.menuHeight },
            set: { $0.editing.menuHeight = try Self.checked($1, 1...40) })
        cls.method(
            "style",
            [
                "name": "the style to change: keyword, string, prompt, dimmed…",
                "codes": "SGR codes (ECMA-48) separated by semicolons, \"1;31\"; nil restores the default",
            ],
            doc: "Sets the colour of a style.", example: "prompt:style(\"keyword\", \"1;34\")"
        ) { (settings, name: String, codes: String?) in
            let all = TextStyle.allCases.filter { $0 != .plain }
            guard let style = all.first(where: { "\($0)" == name }) else {
                throw LuaMismatch(
                    "a style expected (\(all.map { "\($0)" }.joined(separator: ", "))), got \"\(name)\"",
                    argument: "name")
            }
            let isCode = codes?.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x3B } ?? true
            guard isCode, codes?.utf8.count ?? 0 <= 32 else {
                throw LuaMismatch("numbers between semicolons expected, got \"\(codes ?? "")\"", argument: "codes")
            }
            settings.styles[style] = codes
        }
        cls.declareGlobalObject()
        state.setGlobal("prompt", to: cls.value(self))
    }

    private static func checked(_ value: Int, _ range: ClosedRange<Int>) throws -> Int {
        guard range.contains(value) else {
            throw LuaMismatch("\(range.lowerBound) to \(range.upperBound) expected, got \(value)")
        }
        return value
    }
}

/// Runs the files `prompt.lua` when a prompt begins: the user's beside the configuration, then the container's, which
/// may override settings. Scripts and jobs do not run them.
extension HostPrompt {
    func runPromptFiles() {
        guard host.options.runsInitScript else { return }
        if let folder = ConfigurationFolder.locate() {
            let path = PathText.join(folder, "prompt.lua")
            runPromptFile(path, PosixFileLayer()) { status in
                status.isWritableByAnother ? "somebody other than you can write it" : nil
            }
        }
        let path = PathText.join(host.container.scripts, "prompt.lua")
        runPromptFile(path, host.files) { _ in
            ContainerExposure.first(onTheWayTo: path, in: host.container, using: host.files)?.description
        }
    }

    /// Runs a file. A failing file is reported and skipped: the prompt still begins.
    private func runPromptFile(_ path: String, _ layer: any FileLayer, exposure: (FileStatus) -> String?) {
        let name = DisplayPath.abbreviate(path)
        do throws(FileError) {
            guard let status = try layer.status(RealPath.ofExistingPart(of: path)) else { return }
            if let exposure = exposure(status) { return session.complain("\(name) is not run: \(exposure)") }
            let source = try layer.contents(of: path, limit: 1 << 20)
            host.sources.remember(String(decoding: source, as: UTF8.self), as: name)
            session.settings.files.append(name)
            guard case .failure(let error) = host.run(source, name: "@" + name) else { return }
            session.report(error)
        } catch { session.complain(error.message) }
        session.complain("(\(name) was skipped; the rest goes on)")
    }
}
