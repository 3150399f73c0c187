import Foundation
import TestSupport
import Testing

/// Another program cuts or overwrites the archive in place, under a host that has it mapped.
@Suite("An archive that is cut under a host", .enabled(if: Program.isBuilt, Comment(rawValue: Project.cubbyIsAbsent)))
struct CutArchiveTests {
    struct Use: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var code: String
    }

    static let uses = [
        Use(testDescription: "items are read", code: "for _, item in items:each() do local text = item.name end"),
        Use(testDescription: "a query scans", code: "print(items:query(\"name CONTAINS 'absent'\"):count())"),
        Use(testDescription: "a query sorts", code: "print(items:query():sorted('name'):first())"),
        Use(testDescription: "a key is looked for", code: "print(items:item('key 4321').name)"),
        Use(testDescription: "a save reads", code: "items[1].valueInDollars = 1 print(items:saveChanges())"),
        Use(
            testDescription: "an export reads",
            code: "print(items:export(app.container.documents .. '/out.csv', { format = 'csv' }))"),
    ]

    let program: Program

    init() throws {
        program = try Program()
        let output = try program(
            "-e",
            "for i = 1, 5000 do items:createItem{ name = 'a name that is long ' .. i, itemKey = 'key ' .. i } end",
            "-e", "assert(items:saveChanges())", "-e", "items:createItem{ name = 'committed' }")
        #expect(output.status == .exited(0), "\(output.stderr)")
    }

    private var index: String { "\(program.container)/Library/Caches/items.index" }
    private var journal: String { "\(program.container)/Documents/items.journal" }

    /// Runs a program of the system's on a file, then a script.
    private func run(_ command: String, _ path: String, then code: String) throws -> ProcessOutput {
        try program("--allow-run", "-e", "local _ = assert(os.execute([[\(command) '\(path)']]))", "-e", code)
    }

    @Test("the host says so and ends with 74; the next launch says what to do, with 65", arguments: uses)
    func cut(_ use: Use) throws {
        let committed = try Data(contentsOf: URL(fileURLWithPath: journal))
        let output = try run("truncate -s 0", program.archive, then: use.code)
        #expect(output.status == .exited(74), "\(output.stdout)\(output.stderr)")
        #expect(output.stderr.contains("items.archive can no longer be read"), "\(output.stderr)")
        #expect(output.stdout == "")
        #expect(try Data(contentsOf: URL(fileURLWithPath: program.archive)).isEmpty)
        #expect(try Data(contentsOf: URL(fileURLWithPath: journal)).starts(with: committed.prefix(64)))
        for arguments in [["-e", "print(#items)"], ["--read-only", "-e", "print(#items)"]] {
            let next = try program(arguments)
            #expect(next.status == .exited(65), "\(next.stdout)\(next.stderr)")
            #expect(next.stdout == "")
            for part in ["items.archive is empty (0 bytes)", "cubby restore", "Nothing was changed"] {
                #expect(next.stderr.contains(part), "\(next.stderr)")
            }
        }
        #expect(try program("check", program.container).status == .exited(65))
    }

    @Test("a cut index costs the process, and no item")
    func cutIndex() throws {
        let output = try run("truncate -s 0", index, then: "print(items:item('key 4321').name)")
        #expect(output.status == .exited(74), "\(output.stdout)\(output.stderr)")
        #expect(output.stderr.contains("items.index can no longer be read"))
        #expect(
            try program("-e", "print(#items, items:item('key 4321').name)").stdout == "5001\ta name that is long 4321\n"
        )
    }

    @Test("at the prompt the terminal is given back")
    func prompt() throws {
        let script = "echo before $(stty -g); \"$CUBBY\"; echo status $?; echo after $(stty -g)"
        let terminal = try PseudoTerminal(
            "sh", ["-c", script], environment: program.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 },
            directory: program.scratch.path, columns: 200, rows: 30)
        let modes = { (word: String) in
            try terminal.expect(matching: "\(word)[0-9a-f:]+\\s").split(whereSeparator: \.isWhitespace).last
        }
        let before = try modes("before ")
        try terminal.waitForPrompt()
        truncate(program.archive, 0)
        try terminal.sendLine("print(items:query(\"name CONTAINS 'absent'\"):count())")
        try terminal.expect("can no longer be read")
        try terminal.expect("status 74")
        #expect(try modes("after ") == before)
    }
}
