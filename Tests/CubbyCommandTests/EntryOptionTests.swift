import CommandTestSupport
import TestSupport
import Testing

/// `cubby -e` and `cubby attach -e`: what an expression or a call gives is printed.
@Suite("-e prints values", .serialized)
struct EntryOptionTests {
    private let program: Program

    init() throws { program = try Program() }

    private static let entries: [(code: String, output: String)] = [
        ("1 + 1", "2\n"), ("=1 + 1", "2\n"), (" = 'x'", "\"x\"\n"), ("1, 2, nil", "1\n2\nnil\n"), ("nil", "nil\n"),
        ("items:query():count()", "0\n"), ("print('a')", "a\n"), ("local x = 1", ""), ("(function() end)()", ""),
        ("return 5", "5\n"), ("local function f() return 7 end return f()", "7\n"), ("x = 1 y = 2", ""),
        ("io.write('a')", "a"), ("io.stdout:write('a\\n')", "a\n"), ("{ 1, { 2 } }", "{ 1, { 2 } }\n"),
        ("items:export('-', { format = 'jsonl', columns = { 'name' } })", ""),
        ("csv.write('-', { { a = 1 } })", "a\r\n1\r\n"),
        ("#items, 'b'", "0\n\"b\"\n"), ("pcall(error, 'e')", "false\n\"e\"\n"), ("", ""), ("-- nothing", ""),
    ]

    @Test("a chunk that is an expression or a call", arguments: entries)
    func chunk(_ code: String, output: String) throws {
        let result = try program("-e", code)
        #expect(result.stdout == output && result.status == .exited(0), "\(result.stderr)")
    }

    @Test("a pipe gets tables and texts whole, on a running host as well")
    func whole() throws {
        let setUp = """
            for i = 1, 120 do
              items:createItem{ name = ("long "):rep(30) .. i, serialNumber = ("s"):rep(50), room = ("r"):rep(90), note = ("n"):rep(60) }
            end
            """
        _ = try program("-e", setUp)
        let host = try program.host()
        defer { host.terminate() }
        for code in [
            "items:query()", "items:query():first(120)", "items[7]", "('x'):rep(5000)",
            "(function() local t = {} for i = 1, 99 do t[i] = { n = i, text = ('t'):rep(99) } end return t end)()",
        ] {
            let attached = try program("attach", "-e", code)
            let own = try program("--read-only", "-e", code)
            #expect(own.status == .exited(0) && own.stdout == attached.stdout, "\(code): \(own.stderr)")
            #expect(!own.stdout.contains("…") && !own.stdout.contains("\u{1B}"), "\(code)")
            if code.hasPrefix("items") { #expect(own.stdout.contains(String(repeating: "r", count: 90))) }
            if code == "items:query()" {
                #expect(own.stdout.contains(" 120 ") && own.stdout.hasSuffix("120 rows\n"))
                #expect(own.stdout.split(separator: "\n").count == 122)
            }
        }
        #expect(try program("attach", "-e", "=#items").stdout == "120\n")
        #expect(try program("attach", "-e", "('x'):rep(9 << 20)").standardOutput.count == (9 << 20) + 3)
        #expect(try program("attach", "-e", "io.write('a')").stdout == "a")
    }

    @Test("an export says how many items on standard error, and nothing else on standard output")
    func exports() throws {
        _ = try program("-e", "for i = 1, 1234 do items:createItem{ name = 'Lamp' } end")
        let piped = try program("export", "--format", "jsonl", "--columns", "name")
        #expect(piped.stderr == "1,234 items exported\n" && piped.stdout.split(separator: "\n").count == 1234)
        let file = try program("export", "name == 'none'", "none.csv", directory: program.scratch.path)
        #expect(file.stdout == "" && file.stderr == "0 items exported to none.csv\n", "\(file.stderr)")
        #expect(try program("--log-level", "warning", "export", "--format", "csv").stderr == "")
        let logged = try program("--log-format", "json", "export", "--format", "csv").stderr
        #expect(
            logged.contains("\"level\":\"info\"") && logged.contains("\"message\":\"1,234 items exported\""),
            "\(logged)")
    }
}
