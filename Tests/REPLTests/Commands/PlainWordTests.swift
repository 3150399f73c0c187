import Testing

@testable import REPL

@Suite("Words that people type for a command")
struct PlainWordTests {
    @Test(
        arguments: [
            ("quit", "quit"), ("exit", "quit"), (" quit() ", "quit"), ("exit()", "quit"), ("help", "help"),
            ("help()", nil), ("quit(1)", nil), ("quit = 1", nil), ("exits", nil), ("", nil), ("()", nil), ("x", nil),
        ] as [(String, String?)])
    func words(entry: String, command: String?) {
        #expect(PlainWord.command(entry) { _ in false } == command)
    }

    @Test("a variable of the session is that variable")
    func defined() { #expect(PlainWord.command("quit") { $0 == "quit" } == nil) }
}
