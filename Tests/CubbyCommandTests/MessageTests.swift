import CommandTestSupport
import Foundation
import Glibc
import TestSupport
import Testing

/// What the program says when something is wrong: what happened, and what to do.
@Suite("Messages")
struct MessageTests {
    let program: Program

    init() throws { program = try Program() }

    /// A command line, its status, what its message says, and what it does not say.
    struct Mistake: CustomTestStringConvertible {
        let arguments: [String]
        let status: Int32
        let says: [String]
        var hidesNot: [String] = []

        init(_ arguments: [String], _ status: Int32, _ says: String..., not hidden: [String] = []) {
            self.arguments = arguments
            self.status = status
            self.says = says
            hidesNot = hidden
        }

        var testDescription: String { arguments.joined(separator: " ") }
    }

    @Test("on a terminal of any width messages are broken between words", arguments: [40, 80, 200] as [UInt16])
    func width(columns: UInt16) throws {
        // A path is one word, which has to fit.
        let file = try program.scratch.write("", to: "t")
        let prompt = try program.terminal(columns: columns)
        try prompt.expect("> ")
        // An entry, what ends its message, and the message.
        for (entry, end, message) in [
            (
                "items:createItem{ valueInDollars = ('many dollars '):rep(3) }", "is not one",
                "valueInDollars takes an integer: \"many dollars many dollars many dollars \" is not one"
            ),
            (
                "log.warning(('more words than fit '):rep(4) .. 'in' .. ' it')", "in it",
                String(repeating: "more words than fit ", count: 4) + "in it"
            ),
            (
                "fs.read('\(file)')", "[n]o: ",
                "Allow reading \(file)? [y]es, its whole [f]older, [n]o:"
            ),
        ] {
            try prompt.sendLine(entry)
            try prompt.expect("\n")
            try prompt.expect(end)
            var screen = Screen(columns: Int(columns), rows: 60)
            screen.apply(prompt.rawTranscript)
            // The terminal breaks a full row anywhere; the program continues a message with a margin.
            let rows = zip(screen.lines, screen.lines.dropFirst() + [""]).map { row, next in
                row.count == Int(columns) && !next.hasPrefix(" ")
                    ? row + "¶" : row.trimmingCharacters(in: .whitespaces)
            }
            #expect(rows.joined(separator: " ").contains(message), "\(screen.lines)")
        }
        try prompt.sendLine("n")
        prompt.terminate()
    }

    @Test(
        "mistakes on the command line",
        arguments: [
            Mistake(["--time-limit", "-3", "-e", "x=1"], 64, "seconds above 0", not: ["Missing value"]),
            Mistake(["--memory-limit", "-3", "-e", "x=1"], 64, "megabytes from 1", not: ["Missing value"]),
            Mistake(["--callback-time", "-1", "-e", "x=1"], 64, "seconds above 0", not: ["Missing value"]),
            Mistake(["--background-time", "-1", "-e", "x=1"], 64, "seconds above 0", not: ["Missing value"]),
            Mistake(["inspect", "--depth", "-1", "x"], 64, "number from 0", not: ["Missing value"]),
            Mistake(["run", "--time-limit", "-3", "x.lua"], 64, "seconds above 0"),
            Mistake(["help", "nosuch"], 64, "no command 'nosuch'"),
            Mistake(["help", "bakup"], 64, "did you mean 'backup'?"),
            Mistake(
                ["bakup", "x"], 64, "no command and no file 'bakup'; did you mean 'backup'?", not: ["cannot open"]),
            Mistake(["docter"], 64, "did you mean 'doctor'?"),
            Mistake(["nothinglikeit"], 74, "No such file or directory"),
            Mistake(["./bakup"], 74, "No such file or directory"),
            Mistake(["--containr", "x", "-e", "x=1"], 64, "did you mean '--container'?"),
            Mistake(["--containr=x"], 64, "did you mean '--container'?"),
            Mistake(["--read-onyl"], 64, "did you mean '--read-only'?"),
            Mistake(["run", "--containr", "x", "y"], 64, "--container'?"),
            Mistake(["--container", "", "-e", "x=1"], 64, "--container has an empty value"),
            Mistake(["--container=", "doctor"], 64, "--container has an empty value"),
            Mistake(["run", "--allow-read=", "--no-init", "x.lua"], 64, "--allow-read"),
            Mistake(["sql", "--shared=", "x", "select 1"], 64, "--shared has an empty value"),
            Mistake(["config", "--container", ""], 64, "--container has an empty value"),
            Mistake(["doctor", "--container", ""], 64, "--container has an empty value"),
            Mistake(["--shared", "", "-e", "x=1"], 64, "--shared has an empty value"),
            Mistake(["--bundle", "", "-e", "x=1"], 64, "--bundle has an empty value"),
            Mistake(["--allow-read", "x", "--allow-read", "", "-e", "x=1"], 64, "--allow-read has an empty value"),
            Mistake(["--allow-write", "", "-e", "x=1"], 64, "--allow-write has an empty value"),
            Mistake(["--allow-net", "", "-e", "x=1"], 64, "--allow-net"),
            Mistake(["--module-path", "", "-e", "x=1"], 64, "--module-path has an empty value"),
            Mistake(["--offline", "queue", "-e", "x=1"], 64, "--offline queue is for a shared collection"),
            Mistake(["--host-name", "desk", "-e", "x=1"], 64, "--host-name is for a shared collection"),
            Mistake(["backup", "x.zip"], 64, "no .zip", ".tar.gz"), Mistake(["backup", "x.gz"], 64, "no .gz"),
            Mistake(["backup", "X.7Z"], 64, ".tar.zst"),
        ])
    func commandLine(mistake: Mistake) throws {
        let output = try program(mistake.arguments, directory: program.scratch.path)
        #expect(output.status == .exited(mistake.status), "\(output.stdout)\(output.stderr)")
        for text in mistake.says { #expect(output.stderr.contains(text), "\(output.stderr)") }
        for text in mistake.hidesNot { #expect(!output.stderr.contains(text), "\(output.stderr)") }
        #expect(!FileManager.default.fileExists(atPath: program.scratch.file("x.zip")))
    }

    @Test(
        "what only looks at a container makes none where there is none",
        arguments: [
            ["--read-only", "-e", "#items"], ["export", "--read-only", "--format", "csv"],
            ["shared", "conflicts", "postgres://h/d?collection=c"], ["shared", "push", "postgres://h/d?collection=c"],
        ])
    func noContainer(arguments: [String]) throws {
        let path = program.scratch.file("typo")
        let output = try program(arguments, environment: ["CUBBY_CONTAINER": path])
        #expect(output.status == .exited(74) && output.stderr.contains("there is no container"), "\(output.stderr)")
        #expect(output.stdout == "" && !FileManager.default.fileExists(atPath: path))
    }

    @Test(
        "help on a command that there is goes on as ever", arguments: ["help start", "help", "help backup", "--help"])
    func help(line: String) throws {
        let output = try program(line.split(separator: " ").map(String.init))
        #expect(output.status == .exited(0) && output.stdout.contains("USAGE"), "\(output.stderr)")
    }

    @Test("a file whose name is near a command's runs")
    func nearFile() throws {
        try program.scratch.write("print('ran')", to: "bakup")
        #expect(try program("bakup", directory: program.scratch.path).stdout == "ran\n")
    }

    @Test("a home folder that is not there is not made, and told by its name")
    func home() throws {
        let home = program.scratch.file("nowhere")
        for arguments in [["-e", "print(1)"], ["doctor"], ["backup", "x"]] {
            let output = try program(arguments, environment: ["CUBBY_CONTAINER": nil, "HOME": home])
            #expect(output.status == .exited(64), "\(output.stderr)")
            #expect(output.stderr.contains("The home folder \(home) is not there: say with --container"))
        }
        #expect(!FileManager.default.fileExists(atPath: home))
    }

    @Test(
        "an element that is not there is named",
        arguments: [
            ("print(items[1].name)", "attempt to index a nil value (element 'items[1]')"),
            ("local t = { a = {} } print(t.a[7].x)", "attempt to index a nil value (element 't.a[7]')"),
            ("local a, b = {}, {} print(b[2], a[1].x)", "attempt to index a nil value (an element by its number)"),
            ("local t = {} t[1]()", "attempt to call a nil value (element 't[1]')"),
        ])
    func elements(code: String, message: String) throws {
        let output = try program("-e", code)
        // Only what is read from a file or typed has its line at hand; -e has it, too.
        #expect(output.stderr.contains(message) && !output.stderr.contains("integer index"), "\(output.stderr)")
    }

    @Test("a binary file run as a script shows no bytes of it")
    func binaryFile() throws {
        let path = program.scratch.file("picture.lua")
        try Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D, 0x49, 0xFF, 0x9B, 0x00]).write(
            to: URL(fileURLWithPath: path))
        let output = try program("run", path)
        #expect(output.status == .exited(1) && output.stderr.contains("picture.lua:1:"))
        #expect(!output.stderr.contains(" | ") && output.stderr.utf8.allSatisfy { $0 == 0x0A || $0 >= 0x20 })
    }

    @Test("a long line is shown around its mistake")
    func longLine() throws {
        let code = String(repeating: "x = 1 ", count: 20_000) + "nope() " + String(repeating: "y = 2 ", count: 20_000)
        let path = try program.scratch.write(code, to: "long.lua")
        let output = try program("run", path)
        let lines = output.stderr.split(separator: "\n")
        #expect(output.stderr.utf8.count < 1500 && lines.count >= 3)
        if lines.count >= 3, let caret = lines[2].firstIndex(of: "^") {
            let column = lines[2].distance(from: lines[2].startIndex, to: caret)
            #expect(lines[1].dropFirst(column).hasPrefix("nope"))
        }
    }

    @Test("at the prompt, with :time on, a table has its time once, and the plural is right")
    func times() throws {
        let terminal = try program.terminal()
        try terminal.waitForPrompt()
        try terminal.enter("items:createItem{ name = 'A' } print('do' .. 'ne')", andExpect: "done")
        try terminal.enter(":time", andExpect: "every entry's time is shown")
        try terminal.sendLine("items:query()")
        try terminal.expect("1 row ·")
        #expect(try terminal.expect("> ").matches(of: /[0-9.]+ (µs|ms|s)\n/).count == 1)
        try terminal.sendLine("6 * 7")
        try terminal.expect("42")
        #expect(try terminal.expect("> ").matches(of: /[0-9.]+ (µs|ms|s)\n/).count == 1)
    }

    @Test("the launch logs where the items are saved, and where they came from")
    func store() throws {
        let first = try program("--log-level", "debug", "-e", "items:createItem()")
        #expect(first.stderr.contains("Saving items to: \(program.archive)\n"), "\(first.stderr)")
        #expect(first.stderr.contains("Items: no items yet\n"))
        let second = try program("--log-level", "debug", "-e", "return")
        #expect(second.stderr.contains("Items: read 1 item from the archive\n"), "\(second.stderr)")
        #expect(!(try program("-e", "return").stderr.contains("Saving items to")))
    }
}
