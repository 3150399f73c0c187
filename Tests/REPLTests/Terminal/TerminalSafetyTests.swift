import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// What comes from data reaches a terminal as text: no escape sequence, control character or override of others'.
@Suite("Terminal safety")
struct TerminalSafetyTests {
    let program: Program

    init() throws {
        program = try Program()
        let made = try program(
            "-e", "items:createItem{ name = ..., [...] = 'field' } items:createItem{ name = 'Lamp', [...] = ... }",
            Self.hostile)
        #expect(made.status == .exited(0), "\(made.stderr)")
    }

    /// The window's title, a colour that the program does not use, a C1 control, an override, a bell and a backspace.
    static let hostile = "Bear\u{1B}]0;owned\u{7}\u{1B}[45;5mX\u{9B}45m\u{202E}Y\u{8}Z"
    static let shown = #"Bear\27]0;owned\7\27[45;5mX\u{9b}45m\u{202e}Y\8Z"#
    /// In a path, which may not be longer than its folder allows, but may have a line break.
    static let hostilePath = "a\u{1B}[45;5m\u{9B}b\u{202E}\nc"

    /// The pieces of it that a terminal would obey.
    static let forbidden = ["\u{1B}]0", "\u{1B}[45", "\u{9B}", "\u{202E}", "\u{7}", "\u{8}"]

    private func check(_ terminal: PseudoTerminal, _ place: String, isEditing: Bool = false) {
        let raw = String(decoding: terminal.rawTranscript, as: UTF8.self)
        for piece in Self.forbidden where !(isEditing && piece == "\u{8}") {
            #expect(!raw.contains(piece), "\(place): \(raw.debugDescription)")
        }
        // A script that runs without a prompt: nothing but colours, and the bar's return to the line's beginning.
        guard !isEditing else { return }
        for sequence in raw.split(separator: "\u{1B}", omittingEmptySubsequences: false).dropFirst() {
            #expect(sequence.firstMatch(of: /^\[([0-9;]*m|K)/) != nil, "\(place): \(raw.debugDescription)")
        }
    }

    // MARK: Scripts

    @Test(
        "texts of the host's about data",
        arguments: [
            "print(items[1])", "print('item:', items[1], items)", "print(select(2, fs.read('/x' .. h)))",
            "print(notifications:addObserver(h, print))", "error(h)", "error('a\\n' .. h)",
            "log.info(h)", "log.error(items[1])", "help(h)", "items:query(h)", "require(h)", "io.lines('/' .. h)",
            "print(archiver.url('http://' .. h))", "assert(items:import('/' .. h))", "_ENV[h]()",
            "assert(load(h, '=' .. h))",
            "items:on('didInsert', { id = h }, function() error(h) end) items:createItem()",
            "timer.after(0, function() error(h) end) timer.sleep(0.1)",
            "local bar = progress(1e6, h) local t = os.clock() while os.clock() - t < 0.4 do bar:advance() end",
        ])
    func scripts(code: String) throws {
        let terminal = try program.terminal("-e", "local h = items[1].name " + code)
        _ = try terminal.waitForExit()
        #expect(terminal.transcript.contains("Bear"), "\(code): \(terminal.transcript)")
        check(terminal, code)
    }

    @Test("what a script prints of its own passes, and pipes get the bytes")
    func own() throws {
        let terminal = try program.terminal("-e", "print('\\27[45;5mred', items[1].name) io.write(items[1].name)")
        _ = try terminal.waitForExit()
        let raw = String(decoding: terminal.rawTranscript, as: UTF8.self)
        #expect(raw.contains("\u{1B}[45;5mred") && raw.split(separator: "\u{1B}]0;owned\u{7}").count == 3)
        let piped = try program("-e", "print(items[1]) print(json.encode{ items[1].name })")
        #expect(piped.stdout.contains(Self.hostile))
        // A script's own text of its own objects.
        let object = "print(setmetatable({}, { __tostring = function() return '\\27[45;5mmine' end }))"
        let shown = try program.terminal("-e", object)
        _ = try shown.waitForExit()
        #expect(String(decoding: shown.rawTranscript, as: UTF8.self).contains("\u{1B}[45;5mmine"))
    }

    @Test("the log's lines cannot be forged: what follows the first is indented, on pipes too")
    func logLines() throws {
        let output = try program("-e", "log.info('one\\n2014-07-11 17:08:30.634 cubby[1:1] two\\27[45;5m\\r')")
        let lines = output.stderr.split(separator: "\n").filter { $0.contains("one") || $0.contains("two") }
        #expect(lines.count == 2 && lines[1] == "\t2014-07-11 17:08:30.634 cubby[1:1] two\\27[45;5m\\r")
        let journal = try program("--log-format", "journal", "-e", "log.info('one\\n<0>two')")
        let form = /<6>\[(?<run>[0-9a-z]{6})\] one\n<6>\[\k<run>\] \t<0>two\n/
        #expect(journal.stderr.prefixMatch(of: form) != nil, "\(journal.stderr)")
    }

    // MARK: Commands

    @Test("commands about files with such names, and with such contents")
    func commands() throws {
        let archive = program.scratch.file("hostile.archive")
        let python = """
            import plistlib, sys
            from plistlib import UID
            h = sys.argv[2].replace("\\x1b", "").replace("\\x07", "").replace("\\x08", "") if len(sys.argv) > 3 else sys.argv[2]
            objects = ["$null", {"$class": UID(3), "name": UID(2), h: UID(2)}, h, {"$classname": h, "$classes": [h]}]
            plistlib.dump({"$version": 100000, "$archiver": h, "$top": {"root": UID(1)}, "$objects": objects},
              open(sys.argv[1], "wb"), fmt=plistlib.FMT_BINARY)
            """
        #expect(try run("python3", ["-c", python, archive, Self.hostile]).status == .exited(0))
        let forXML = program.scratch.file("for-xml.archive")
        #expect(try run("python3", ["-c", python, forXML, Self.hostile, "xml"]).status == .exited(0))
        let path = program.scratch.file(Self.hostilePath)
        let script = try program.scratch.write(
            "local s = '\(Self.hostile)'; error('here')", to: Self.hostilePath + ".lua")
        let list: [[String]] = [
            ["inspect", archive], ["inspect", "--json", archive], ["inspect", "--xml", forXML], ["check", archive],
            ["inspect", archive, forXML], ["inspect", "--path", Self.hostile, archive],
            ["convert", archive, "-", "--format", "json"], ["convert", forXML, "-", "--format", "xml"],
            ["convert", path, "-"], ["inspect", path], ["check", path], ["run", path], ["run", script], [script],
            ["backup", path], ["check", path], ["doctor", "--container", path], ["restore", path + "no"],
            ["attach", "--container", path], ["init", path], ["gallery", path], ["--" + Self.hostilePath],
            ["inspect", "--" + Self.hostile], ["check", archive, Self.hostile], ["help", Self.hostile],
            ["--container", script, "-e", "print(1)"], ["--time-limit", Self.hostile],
            ["-l", Self.hostile, "-e", "x()"],
        ]
        for arguments in list {
            let terminal = try program.terminal(arguments, columns: 200, rows: 50, environment: [:])
            _ = try terminal.waitForExit()
            check(terminal, "\(arguments)")
        }
        // The names and their bytes are what they are elsewhere.
        #expect(try program("inspect", "--json", archive).stdout.contains("\u{9B}45m\u{202E}Y"))
    }

    @Test("the binary form is not written to a terminal")
    func binary() throws {
        _ = try program("-e", "items:saveChanges()")
        let terminal = try program.terminal("convert", program.archive, "-", "--format", "binary")
        #expect(try terminal.waitForExit() == .exited(64))
        #expect(terminal.transcript.contains("--format xml or json"))
    }

    // MARK: Prompts

    @Test("the prompt: values, tables, errors, its commands, in all forms")
    func prompt() throws {
        let terminal = try program.terminal()
        try terminal.waitForPrompt()
        for entry in [
            "h = items[1].name", "h", "items[1]", "items:query()", "{ [h] = h, 1 }", "{ { [h] = h }, { [h] = 2 } }",
            "error(h)", "error{ [h] = h }",
            "print(items[1])", "load(h, '=' .. h)", "load('return 1', '=' .. h)",
            "fs.read(app.container.tmp .. '/' .. h)",
            "help(h)",
            "log.info(h)", "timer.after(0, function() error(h) end)", ":errors", ":hooks", ":history", "_PROMPT = h",
            "_PROMPT = nil", ":out csv", "items[1]", ":out json", "items[1]", ":out lua", "items[1]", ":out table",
            "setmetatable({}, { __tostring = function() return h end })", "archiver.url(h)", "h:nope()",
        ] {
            try terminal.sendLine(entry)
            try terminal.sendLine("print('do' .. 'ne')")
            try terminal.expect("done\n")
        }
        try terminal.sendLine("fs.read('/' .. h .. '\\n')")
        try terminal.expect(#"Z\n? [y]es"#)
        try terminal.sendLine("no")
        try terminal.sendLine("print('do' .. 'ne')")
        try terminal.expect("done\n")
        check(terminal, "the prompt", isEditing: true)
        #expect(terminal.transcript.contains(Self.shown))
    }

    @Test("the banner with such a container")
    func banner() throws {
        let container = program.scratch.file(Self.hostilePath)
        let terminal = try program.terminal("--container", container)
        try terminal.waitForPrompt()
        try terminal.sendLine(":doctor")
        try terminal.expect("memory of Lua")
        check(terminal, "the banner", isEditing: true)
    }

    @Test("an attached prompt")
    func attached() throws {
        let host = try program.host()
        defer { withExtendedLifetime(host) {} }
        let terminal = try program.terminal("attach")
        try terminal.expect("attached> ")
        for entry in ["h = items[1].name", "items[1]", "items:query()", "print(items[1])", "error(h)", "{ [h] = h }"] {
            try terminal.sendLine(entry)
            try terminal.expect("attached> ")
        }
        check(terminal, "attached", isEditing: true)
        #expect(terminal.transcript.contains(#"Bear\27]0;owned"#))
    }
}
