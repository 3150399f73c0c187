import CommandTestSupport
import TestSupport
import Testing

/// An entry that follows a new size of the terminal fits it, also where its keys come before the signal of the size.
@Suite(
    "A prompt whose terminal changes its size", .serialized)
struct PromptSizeTests {
    static let wide = "a cell that is left out"

    @Test("every table fits the size that the terminal had when it was asked for", arguments: [false, true])
    func tables(isAttached: Bool) throws {
        let program = try Program()
        let host = isAttached ? try program.host() : nil
        let prompt = isAttached ? try program.terminal("attach") : try program.terminal()
        try prompt.expect("> ")
        try prompt.sendLine(
            "for _ = 1, 3 do items:createItem{ name = 'Bear', a = ('x'):rep(20), b = ('y'):rep(20), c = '\(Self.wide)' } end"
        )
        try prompt.expect("3 items created")
        for _ in 1...20 {
            for (columns, isShown) in [(44, false), (160, true)] as [(UInt16, Bool)] {
                prompt.resize(columns: columns, rows: 20)
                try prompt.sendLine("items:query()")
                #expect(try prompt.expect("3 rows").contains(Self.wide) == isShown)
            }
        }
        prompt.terminate()
        host?.terminate()
    }
}
