import CommandTestSupport
import Foundation
import Glibc
import TestSupport
import Testing

/// `cubby config`: what a job needs no options for.
@Suite("Configuration", .serialized)
struct ConfigTests {
    let program: Program

    init() throws {
        program = try Program()
        try program.scratch.write("mail", to: "inbox/letter")
        try program.scratch.writeProgram("#!/bin/sh\nprintf 'tool %s' \"$1\"\n", to: "bin/tool")
    }

    private var inbox: String { program.scratch.file("inbox") }
    private var folder: String { program.scratch.file("home/.config/cubby") }

    private func file() throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        try #require(names.count == 1, "\(names)")
        return "\(folder)/\(names[0])"
    }

    /// Changes the file's text in place.
    private func edit(_ old: String, _ new: String) throws {
        let path = try file()
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try #require(text.contains(old), "\(text)")
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(text.replacing(old, with: new).utf8))
        try handle.close()
    }

    private func configure(_ words: String...) throws {
        let result = try program(["config"] + words)
        try #require(result.status == .exited(0), "\(result.stderr)")
    }

    /// The row of a table that begins with a word.
    private func row(_ name: String, _ options: String...) throws -> [Substring] {
        try program(options + ["config"]).stdout.split(separator: "\n").first { $0.hasPrefix(" \(name) ") }?
            .split(separator: " ") ?? []
    }

    @Test("a job needs no options for what was granted once") func job() throws {
        let script = "print(fs.read('\(inbox)/letter'), io.popen('tool \"a b\"'):read('a'))"
        let before = try program("-e", script)
        #expect(before.status == .exited(1))
        try configure("grant", "read", inbox)
        try configure("grant", "run", program.scratch.file("bin/tool"))
        let result = try program("-e", script)
        #expect(result.stdout == "mail\ttool a b\n", "\(result.stderr)")
        // Of this container alone.
        let other = try program("--container", program.scratch.file("other"), "-e", script)
        #expect(other.status == .exited(1))
        try configure("revoke", "read", inbox)
        #expect(try program("-e", "print((fs.read('\(inbox)/letter')))").stdout == "nil\n")
        try configure("revoke", "all")
        #expect(try program("-e", "os.execute('tool')").stderr.contains("cubby config grant run"))
    }

    @Test("the table says what applies, and where it comes from") func table() throws {
        #expect(try row("time-limit") == ["time-limit", "none", "default"])
        try configure("set", "time-limit", "60")
        try configure("set", "durability", "power")
        #expect(try row("time-limit") == ["time-limit", "60", "s", "config"])
        #expect(try row("durability") == ["durability", "power", "config"])
        #expect(try row("time-limit", "--time-limit", "90") == ["time-limit", "90", "s", "command", "line"])
        #expect(try row("container") == ["container", Substring(program.container), "CUBBY_CONTAINER"])
        #expect(try row("grace") == ["grace", "10", "s", "default"])
        try configure("set", "grace", "0.5")
        #expect(try row("grace") == ["grace", "0.5", "s", "config"])
        #expect(try row("grace", "--grace", "0") == ["grace", "0", "s", "command", "line"])
        try configure("set", "time-limit", "default")
        try configure("set", "durability", "unset")
        #expect(try row("time-limit") == ["time-limit", "none", "default"])
        #expect(try row("durability") == ["durability", "process", "default"])
    }

    @Test("settings take effect as the options do, which come first") func settings() throws {
        try configure("set", "time-limit", "0.05")
        let slow = "while true do end"
        #expect(try program("-e", slow).stderr.contains("time"))
        try configure("set", "time-limit", "3600")
        #expect(try program("--time-limit", "0.05", "-e", slow).status == .exited(1))
        try configure("set", "log-level", "error")
        #expect(try !program("-e", "log.warning('heard')").stderr.contains("heard"))
        #expect(try program("--log-level", "info", "-e", "log.warning('heard')").stderr.contains("heard"))
        try configure("set", "memory-limit", "16")
        #expect(try program("-e", "local s = ('x'):rep(1 << 26)").stderr.contains("memory"))
    }

    @Test(
        "a preference of the container narrows, and widens nothing",
        arguments: [
            ("60", "10", ["10", "s", "preference"], ""),
            ("60", "600", ["60", "s", "config"], "passed over: it may only lower the limit, and 60 s applies"),
            ("60", "'x'", ["60", "s", "config"], "passed over: it takes seconds above 0"),
            ("60", "-1", ["60", "s", "config"], "passed over"),
            ("60", "0/0", ["60", "s", "config"], "passed over"), ("default", "5", ["5", "s", "preference"], ""),
            ("60", "60", ["60", "s", "config"], ""),
        ] as [(String, String, [Substring], String)])
    func preferences(configured: String, preferred: String, shown: [Substring], note: String) throws {
        try configure("set", "time-limit", configured)
        _ = try program("-e", "defaults:set('time-limit', \(preferred)) defaults:set('log-level', 'debug')")
        #expect(try row("time-limit") == ["time-limit"] + shown)
        #expect(try row("log-level") == ["log-level", "info", "default"])
        let notes = try program("-e", "1").stderr.split(separator: "\n").filter { $0.contains("passed over") }
        #expect(notes.count == (note.isEmpty ? 1 : 2), "\(notes)")
        #expect(note.isEmpty || notes.contains { $0.contains(note) }, "\(notes)")
        #expect(notes.contains { $0.hasSuffix("preferences lower limits, and nothing else") }, "\(notes)")
    }

    @Test("scripts have a memory limit if nothing else is said; 0 is none, and no preference takes it away")
    func memoryLimit() throws {
        let standard = try row("memory-limit")
        try #require(standard.count == 4 && standard[2] == "MB" && standard[3] == "default", "\(standard)")
        #expect(try program("doctor").stdout.contains("\(standard[1]) MB by default, three quarters of the "))
        #expect(try row("memory-limit", "--memory-limit", "0") == ["memory-limit", "none", "command", "line"])
        #expect(try program("-e", "defaults:set('memory-limit', 0)").status == .exited(0))
        #expect(try row("memory-limit") == standard)
        #expect(
            try program("config").stdout.contains("it may only lower the limit, and \(standard[1]) MB applies"))
        try configure("set", "memory-limit", "0")
        #expect(try row("memory-limit") == ["memory-limit", "none", "config"])
        _ = try program("-e", "defaults:set('memory-limit', 16)")
        #expect(try row("memory-limit") == ["memory-limit", "16", "MB", "preference"])
        try configure("set", "memory-limit", "default")
        #expect(try row("memory-limit") == ["memory-limit", "16", "MB", "preference"])
        #expect(try program("-e", "local s = ('x'):rep(1 << 26)").stderr.contains("memory"))
    }

    @Test("preferences grant nothing") func preferredGrants() throws {
        _ = try program(
            "-e", "defaults:set('grants', { { grant = 'read', path = '/' } }) defaults:set('allow-run', true)")
        #expect(
            try program("-e", "print((fs.read('\(inbox)/letter')), pcall(os.execute, 'true'))").stdout.hasPrefix(
                "nil\tfalse"))
    }

    @Test(
        "what is wrong on the command line ends with 64, and the way out",
        arguments: [
            (["set", "time-limt", "5"], "did you mean 'time-limit'?"),
            (["set", "colour", "5"], "time-limit, memory-limit"),
            (["set", "time-limit", "0"], "seconds above 0"), (["set", "time-limit", "nan"], "seconds above 0"),
            (["set", "grace", "3601"], "seconds from 0"), (["set", "grace", "nan"], "seconds from 0"),
            (["set", "memory-limit", "1.5"], "megabytes"), (["set", "durability", "disk"], "process or power"),
            (["set", "log-level", "loud"], "info"), (["grant", "raed", "/"], "did you mean 'read'?"),
            (["grant", "all", "/"], "read, write, run"), (["revoke", "read"], "what was granted"),
            (["revoke", "all", "x"], "no path"), (["revoke", "read", "/nowhere"], "no grant"),
        ])
    func usage(words: [String], text: String) throws {
        let result = try program(["config"] + words)
        #expect(result.status == .exited(64) && result.stderr.contains(text), "\(result.stderr)")
        #expect(!FileManager.default.fileExists(atPath: folder) || program.scratch.names("home/.config/cubby").isEmpty)
    }

    @Test("what is not there cannot be granted; a temporary container has no configuration")
    func refusedGrants() throws {
        for words in [
            ["read", "/nowhere"], ["write", "\(inbox)/letter"], ["run", "no-such-program"], ["run", "\(inbox)/letter"],
        ] {
            let result = try program(["config", "grant"] + words)
            #expect(result.status == .exited(74) && !result.stderr.isEmpty, "\(words)")
        }
        #expect(try program("config", "set", "--container", ":memory:", "time-limit", "5").status == .exited(64))
        #expect(try program("--container", ":memory:", "config").status == .exited(0))
        #expect(try program("config", "grant", "run", "sh").stdout.contains("as much as --allow-run"))
    }

    @Test("an edited file is refused with 64, whatever would run; approve takes it as it is") func edited() throws {
        try configure("grant", "read", inbox)
        try edit("/inbox<", "<")
        for words in [["-e", "print('RAN')"], ["config"], ["config", "set", "time-limit", "5"]] {
            let result = try program(words)
            #expect(result.status == .exited(64) && !result.stdout.contains("RAN"), "\(words): \(result.stdout)")
            #expect(result.stderr.contains("read ") && result.stderr.contains("config approve"), "\(result.stderr)")
        }
        #expect(try program("config").stdout.contains("not approved"))
        #expect(try program("doctor").stdout.contains("config approve"))
        #expect(try program("config", "approve").stdout.contains("approved read"))
        #expect(try program("-e", "print(fs.read('\(inbox)/letter'))").stdout == "mail\n")
    }

    @Test("a container in the place of another has none of its grants") func replaced() throws {
        try configure("grant", "read", inbox)
        #expect(rename(program.container, program.container + ".old") == 0)
        #expect(try program("-e", "print('ran')").status == .exited(64))
    }

    @Test("a file that others can write, and a damaged one")
    func damaged() throws {
        try configure("set", "time-limit", "60")
        let path = try file()
        chmod(path, 0o666)
        #expect(try program("-e", "print('ran')").status == .exited(64))
        chmod(path, 0o600)
        try edit("<dict>", "<dict")
        let result = try program("-e", "print('ran')")
        #expect(result.status == .exited(65) && result.stderr.contains("configure the container anew"))
    }

    @Test("a changed program is refused with 64 and the command that approves it; a script that catches it goes on")
    func changedProgram() throws {
        try configure("grant", "run", program.scratch.file("bin/tool"))
        #expect(try row("run").contains("approved"))
        try program.scratch.writeProgram("#!/bin/sh\necho changed\n", to: "bin/tool")
        let result = try program("-e", "print(1) print(io.popen('tool'):read('a'))")
        #expect(result.status == .exited(64) && result.stdout == "1\n")
        #expect(result.stderr.contains("config grant run tool"), "\(result.stderr)")
        #expect(try program("-e", "print(pcall(io.popen, 'tool'))").status == .exited(0))
        #expect(try row("run").contains("changed"))
        #expect(try program("doctor").stdout.contains("changed"))
        try configure("grant", "run", program.scratch.file("bin/tool"))
        #expect(try program("-e", "print(io.popen('tool'):read('a'))").stdout == "changed\n\n")
    }

    @Test("a granted path that is gone is told, one that became a link is refused") func paths() throws {
        try configure("grant", "read", inbox)
        #expect(rename(inbox, inbox + ".old") == 0)
        let gone = try program("-e", "print('ran')")
        #expect(gone.stdout == "ran\n" && gone.stderr.contains("is not there"))
        symlink("/etc", inbox)
        let linked = try program("-e", "print('ran')")
        #expect(linked.status == .exited(64) && linked.stderr.contains("leads by a link"), "\(linked.stderr)")
    }

    @Test("scripts reach the folder neither by a grant of all above it, nor by a program")
    func closed() throws {
        try configure("set", "time-limit", "60")
        let path = try file()
        let before = try String(contentsOfFile: path, encoding: .utf8)
        let home = program.scratch.file("home")
        let script = """
            print(fs.read('\(path)'), fs.write('\(path)', 'x'), fs.list('\(folder)'), fs.move('\(home)/.config', '\(home)/x'))
            os.execute("echo x > '\(path)'; rm -f '\(path)'; mv '\(home)/.config' '\(home)/away'")
            """
        let result = try program("--allow-write", home, "--allow-run", "-e", script)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == before, "\(result.stderr)")
        #expect(result.stdout.hasPrefix("nil\t"))
    }

    @Test("without a home folder nothing is configured, and everything runs") func homeless() throws {
        var environment: [String: String?] = ["HOME": program.scratch.file("nowhere")]
        #expect(try program(["-e", "print(1)"], environment: environment).stdout == "1\n")
        environment["XDG_CONFIG_HOME"] = program.scratch.file("xdg")
        let setting = ["config", "set", "time-limit", "5"]
        #expect(try program(setting, environment: environment).status == .exited(0))
        #expect(program.scratch.names("xdg/cubby").count == 1)
        environment["XDG_CONFIG_HOME"] = program.container
        let inside = try program(setting, environment: environment)
        #expect(inside.status == .exited(64) && inside.stderr.contains("lies in the container"))
    }

    @Test("doctor shows the file, the settings and the grants") func doctor() throws {
        #expect(try program("doctor").stdout.contains("configuration"))
        try configure("set", "time-limit", "60")
        try configure("grant", "read", inbox)
        let text = try program("doctor").stdout
        #expect(text.contains("mode 600") && text.contains("time-limit") && text.contains("as approved"), "\(text)")
    }

    // MARK: At the prompt

    @Test("a change is asked about at the prompt: no leaves, yes approves") func question() throws {
        try configure("grant", "read", inbox)
        try edit("/inbox<", "<")
        var terminal = try program.terminal()
        try terminal.expect("Approve it?")
        try terminal.sendLine("perhaps")
        try terminal.expect("Approve it?")
        try terminal.sendLine("n")
        #expect(try terminal.waitForExit() == .exited(64))
        terminal = try program.terminal()
        try terminal.expect("Approve it?")
        try terminal.sendLine("y")
        try terminal.waitForPrompt()
        try terminal.enter("fs.read('\(inbox)/letter'):upper()", andExpect: "MAIL")
        #expect(try program("--read-only", "-e", "print('ran')").stdout == "ran\n")
    }

    @Test("a changed program is asked about at the prompt, and approved for good") func changedAtPrompt() throws {
        try configure("grant", "run", program.scratch.file("bin/tool"))
        try program.scratch.writeProgram("#!/bin/sh\necho altered\n", to: "bin/tool")
        let terminal = try program.terminal()
        try terminal.waitForPrompt()
        try terminal.begin("io.popen('tool'):read('a')", andExpect: "Approve it as it is now?")
        try terminal.sendLine("n")
        try terminal.expect("has changed since it was granted; cubby")
        try terminal.expect("> ")
        try terminal.begin("io.popen('tool'):read('a')", andExpect: "Approve it as it is now?")
        try terminal.sendLine("y")
        try terminal.expect("altered")
        try terminal.expect("> ")
        #expect(try program("--read-only", "-e", "print(io.popen('tool'):read('a'))").stdout == "altered\n\n")
    }
}
