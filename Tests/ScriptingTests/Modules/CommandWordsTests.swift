import Lua
import Testing

@testable import Scripting

@Suite("Commands without a shell")
struct CommandWordsTests {
    @Test(
        "are split as a shell would",
        arguments: [
            ("tool", ["tool"]), ("  tool \t a  b ", ["tool", "a", "b"]), ("", []), ("   ", []),
            ("tool 'a b' \"c d\"", ["tool", "a b", "c d"]), ("tool a'b c'd\"e f\"g", ["tool", "ab cde fg"]),
            ("tool '' \"\"", ["tool", "", ""]), ("tool a\\ b \\'c\\'", ["tool", "a b", "'c'"]),
            ("tool '$HOME;|&`<>*?'", ["tool", "$HOME;|&`<>*?"]), ("tool \"a;b|c*\"", ["tool", "a;b|c*"]),
            ("tool \"\\$HOME \\\" \\\\ \\n\"", ["tool", "$HOME \" \\ \\n"]), ("tool '\\n'", ["tool", "\\n"]),
            ("tool a~b c#d", ["tool", "a~b", "c#d"]), ("tool \\~ '#x' \\;", ["tool", "~", "#x", ";"]),
            ("tool 'two\nlines'", ["tool", "two\nlines"]), ("töl 'ä ö'", ["töl", "ä ö"]),
            ("tool '\u{301}'", ["tool", "\u{301}"]),
            ("tool -DateTimeOriginal=x -d%Y", ["tool", "-DateTimeOriginal=x", "-d%Y"]),
        ] as [(String, [String])])
    func words(command: String, words: [String]) throws {
        #expect(try CommandWords.split(command, for: "os.execute") == words)
    }

    @Test(
        "are refused where a shell would do something",
        arguments: [
            "a; b", "a | b", "a & b", "a && b", "a > b", "a < b", "a $HOME", "a \"$HOME\"", "a `b`", "a \"`b`\"",
            "a $(b)", "a *", "a b?", "a [x]", "(a)", "a ~", "a ~/b", "a #b", "a\nb", "a\rb", "a 'b", "a \"b", "a \\",
            "a \\\nb", "a \"b\\",
        ])
    func refused(command: String) {
        let error = #expect(throws: LuaError.self) { try CommandWords.split(command, for: "io.popen") }
        #expect(error?.message.hasPrefix("io.popen: ") == true)
        #expect(error?.message.contains("--allow-run") == true)
    }
}
