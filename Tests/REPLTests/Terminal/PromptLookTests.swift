import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// The prompt's look in a terminal: its files, its colours, its numbers.
@Suite("The prompt's settings on a terminal")
struct PromptLookTests {
    private func write(_ text: String, to path: String, permissions: Int = 0o600) throws {
        let folder = (path as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    }

    @Test("prompt.lua of the user runs first, then that of the container; scripts see neither")
    func files() throws {
        let program = try Program()
        let own = program.scratch.file("home/.config/cubby/prompt.lua")
        try write("_PROMPT = 'user> ' function twice(x) return 2 * x end prompt.numbers = false", to: own)
        _ = try program("-e", "items:createItem{}")
        try write("_PROMPT = 'box> '", to: "\(program.container)/Library/Scripts/prompt.lua")
        let terminal = try program.terminal()
        try terminal.expect("box> ")
        try terminal.sendLine("twice(2100)")
        try terminal.expect("4200")
        try terminal.expect("box> ")
        try terminal.sendLine(":doctor")
        try terminal.expect("~/.config/cubby/prompt.lua, ")
        try terminal.expect("box> ")
        try terminal.send(control: "d")
        _ = try terminal.waitForExit()
        #expect(try program("-e", "print(rawget(_G, 'twice'), rawget(_G, 'prompt'))").stdout == "nil\tnil\n")
        let bare = try program.terminal("--no-init")
        try bare.waitForPrompt()
    }

    @Test(
        "a file that fails is reported, and the prompt is there",
        arguments: [
            ("error('no good')", 0o600, "no good"), ("prompt.colors = 'red'", 0o600, "auto"),
            ("x = ", 0o600, "unexpected"), ("x = 1", 0o666, "somebody other than you can write it"),
        ])
    func failing(text: String, permissions: Int, message: String) throws {
        let program = try Program()
        try write(text, to: program.scratch.file("home/.config/cubby/prompt.lua"), permissions: permissions)
        let terminal = try program.terminal()
        try terminal.expect(message)
        try terminal.waitForPrompt()
        try terminal.enter("6 * 7", andExpect: "42")
    }

    @Test("the terminal's answer chooses the colours, at once")
    func background() throws {
        let program = try Program()
        let terminal = try program.terminal(columns: 80, rows: 24, environment: ["TERM": "xterm-256color"])
        try terminal.waitForPrompt()
        #expect(String(decoding: terminal.rawTranscript, as: UTF8.self).contains("\u{1B}]11;?\u{1B}\\"))
        try terminal.send("local x")
        try terminal.expect("local x")
        try terminal.send("\u{1B}]11;rgb:fdfd/f6f6/e3e3\u{1B}\\")
        try terminal.sendLine(" = 5")
        try terminal.expect("> ")
        try terminal.enter("return 'done' .. x", andExpect: "done5")
        let text = String(decoding: terminal.rawTranscript, as: UTF8.self)
        #expect(text.contains("\u{1B}[35mlocal") && text.contains("\u{1B}[38;5;90m"))
    }

    @Test(
        "an entry of Lua has its number at the right margin once it runs; a command, and a line that is left, have none"
    )
    func numbers() throws {
        let program = try Program()
        let terminal = try program.terminal(columns: 80, rows: 24)
        try terminal.waitForPrompt()
        try terminal.send("6 * 70")
        try terminal.expect("70")
        try terminal.send(control: "c")
        try terminal.expect("> ")
        try terminal.enter(":time", andExpect: "every entry's time is shown")
        try terminal.enter("6 * 7", andExpect: "42")
        try terminal.enter("_1 + 1", andExpect: "43")
        try terminal.enter("prompt.numbers = false return 'o' .. 'ff'", andExpect: "off")
        try terminal.enter("6 * 8", andExpect: "48")
        var screen = Screen(columns: 80, rows: 24)
        screen.apply(terminal.rawTranscript)
        func line(_ start: String) -> String? { screen.lines.first { $0.hasPrefix(start) } }
        func numbered(_ text: String, _ number: String) -> String {
            text + String(repeating: " ", count: 79 - text.count - number.count) + number
        }
        #expect(line("> 6 * 70") == "> 6 * 70^C")
        #expect(line("> :time") == "> :time")
        #expect(screen.lines.contains(numbered("> 6 * 7", "1")))
        #expect(screen.lines.contains(numbered("> _1 + 1", "2")))
        #expect(line("> 6 * 8") == "> 6 * 8")
    }

    @Test(":profile and :bench show where time goes, and tell what an entry changed")
    func profile() throws {
        let program = try Program()
        let terminal = try program.terminal()
        try terminal.waitForPrompt()
        try terminal.begin(
            ":profile for i = 1, 20 do items:createItem{} end", andExpect: " sample")
        try terminal.expect("> ")
        #expect(terminal.transcript.contains("20 items created"))
        try terminal.enter(":bench ('x'):rep(1000)", andExpect: "a run (")
        try terminal.enter(":bench error('re' .. 'fused')", andExpect: "refused")
        try terminal.enter(":bench", andExpect: "needs an entry")
        try terminal.enter(":profile", andExpect: "needs an entry")
        try terminal.begin(":bench print('bu' .. 'sy') while true do end", andExpect: "busy")
        try terminal.send(control: "c")
        try terminal.expect("interrupted")
        try terminal.expect("> ")
        try terminal.enter("6 * 7", andExpect: "42")
    }
}
