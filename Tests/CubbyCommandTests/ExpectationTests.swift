import CommandTestSupport
import TestSupport
import Testing

/// What `cubby test` says of a failed expectation.
@Suite("Failed expectations")
struct ExpectationTests {
    let program: Program

    init() throws { program = try Program() }

    private func run(_ text: String, _ options: String...) throws -> ProcessOutput {
        try program.scratch.write(text, to: "tests-here/a_test.lua")
        return try program(["test"] + options + ["tests-here"], directory: program.scratch.path)
    }

    @Test(
        "a difference fails the test, whatever the bytes of its text are",
        arguments: [
            (
                "expect{ title = ('日本語'):rep(20) }:equals{ title = ('日本語'):rep(21) }",
                ".title: texts of 189 and 180 bytes differ from byte 181, line 1: "
            ),
            (#"expect("\xff"):equals("\xfe")"#, #"expected "\xfe", got "\xff""#),
            (#"expect(("ä"):rep(80) .. "\xff"):equals(("ä"):rep(80) .. "é")"#, "differ from byte 161"),
            (#"expect{ [("語"):rep(150)] = 1 }:equals{}"#, #"語"… (450 bytes)]: expected nothing, got 1"#),
            (#"expect("\xff"):isNil()"#, #"expected nil, got "\xff""#),
            (#"expect("\xffx").isNot:equals("\xffx")"#, #"expected another value than "\xffx""#),
            (#"expect(nil, "lost \xff"):equals(1)"#, #"got nil (lost \xff)"#),
            (#"expect(setmetatable({}, { __tostring = function() return "a\xff" end })):isNil()"#, #"got a\xff"#),
            (#"expect(function() error("\xff", 0) end):raises("\xfe")"#, #"the error "\xff" has no match for "\xfe""#),
            ("expect(0.1 + 0.2):equals(0.3)", "expected 0.3, got 0.30000000000000004"),
            ("expect{ 1e15 + 0.3 }:equals{ 1e15 }", "[1]: expected 1e+15, got 1000000000000000.2"),
            (
                "expect(data(('x'):rep(40) .. 'a')):equals(data(('x'):rep(40) .. 'b'))",
                "data of 41 and 41 bytes differ from byte 41: expected <62>, got <61>"
            ),
            ("expect(data('a')):equals(data('b'))", "expected <1 byte: 62>, got <1 byte: 61>"),
        ])
    func failures(body: String, expected: String) throws {
        let output = try run("test('fails', function() \(body) end)")
        #expect(output.status == .exited(1) && output.stdout.contains(expected), "\(output.stdout)")
        #expect(!output.stdout.contains("\u{FFFD}"), "\(output.stdout)")
    }

    @Test("equal bytes are equal, and a raised text matches by its bytes")
    func equal() throws {
        let output = try run(
            #"""
            test("bytes", function()
              expect("\xff"):equals("\xff") expect(("\xff"):rep(100)):equals(("\xff"):rep(100))
              expect(function() error("\xff", 0) end):raises("^\xff$")
              expect(data("\xff")):equals(data("\xff"))
            end)
            """#)
        #expect(output.status == .exited(0), "\(output.stdout)")
    }

    @Test("TAP is YAML also where the message begins with spaces")
    func indented() throws {
        let output = try run("test('fails', function() error('  two\\nlines', 0) end)", "--format", "tap")
        #expect(output.stdout.contains("  message: |2-\n      two\n    lines\n  ...\n"), "\(output.stdout)")
    }

    @Test("an application that ends in test.after fails the test")
    func endsAfterwards() throws {
        let output = try run(
            """
            test.after(function() error("left out") end)
            test.group("group", function()
              test.after(function() app:terminate(3) end)
              test("ends", function() end)
            end)
            """)
        #expect(output.status == .exited(1), "\(output.stdout)")
        #expect(
            output.stdout.contains("the application ended with the status 3 before the test was over"),
            "\(output.stdout)")
    }
}
