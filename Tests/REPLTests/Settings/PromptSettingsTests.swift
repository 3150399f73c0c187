import LineEditor
import Lua
import Scripting
import Testing

@testable import REPL

@Suite("The prompt's settings") struct PromptSettingsTests {
    private static let terminal = ["TERM": "xterm-256color"]

    @Test(
        "scripts set them, and a wrong value is refused with what is right",
        arguments: [
            ("prompt.colors = 'light'", nil), ("prompt.numbers = false", nil), ("prompt.indent = 4", nil),
            ("prompt.menuHeight = 20", nil), ("prompt:style('keyword', '1;34')", nil), ("prompt:style('keyword')", nil),
            ("prompt.colors = 'lihgt'", "auto"), ("prompt.indent = 0", "1 to 8"), ("prompt.menuHeight = 41", "1 to 40"),
            ("prompt:style('keywrod', '1')", "keyword"), ("prompt:style('keyword', '1m')", "between semicolons"),
            ("prompt:style('keyword', '\\27[1m')", "between semicolons"),
        ] as [(String, String?)])
    func set(script: String, message: String?) throws {
        let test = try TestHost()
        let settings = PromptSettings(allowed: .standard) { Self.terminal[$0] }
        var changes = 0
        settings.onChange = { changes += 1 }
        settings.install(in: test.host.state)
        let result = test.evaluator.evaluate(script)
        if let message {
            let error = #expect(throws: LuaError.self) { try result.get() }
            #expect(error?.message.contains(message) ?? false)
            #expect(settings.palette == .standard && changes == 0)
        } else {
            #expect(throws: Never.self) { try result.get() }
        }
    }

    @Test("the palette is for the background, and for what the user chose")
    func palettes() throws {
        let test = try TestHost()
        let settings = PromptSettings(allowed: .standard) { Self.terminal[$0] }
        settings.install(in: test.host.state)
        #expect(settings.palette == .standard)
        settings.background = .light
        #expect(settings.palette == .light)
        try test.enter("prompt.colors = 'dark' prompt:style('keyword', '1;34')")
        #expect(settings.palette[.keyword] == "1;34" && settings.palette[.string] == TerminalPalette.dark[.string])
        try test.enter("prompt.colors = 'none'")
        #expect(settings.palette == .none)
    }

    @Test("what the environment forbids stays forbidden", arguments: [TerminalPalette.none, .monochrome])
    func forbidden(palette: TerminalPalette) throws {
        let test = try TestHost()
        let settings = PromptSettings(allowed: palette) { Self.terminal[$0] }
        settings.install(in: test.host.state)
        try test.enter("prompt.colors = 'light' prompt:style('keyword', '1;34')")
        settings.background = .dark
        #expect(settings.palette == palette)
    }

    @Test("a variable tells the background of a terminal that does not answer")
    func variable() {
        let settings = PromptSettings(allowed: .standard) { $0 == "COLORFGBG" ? "0;15" : Self.terminal[$0] }
        #expect(settings.palette == .light)
    }
}
