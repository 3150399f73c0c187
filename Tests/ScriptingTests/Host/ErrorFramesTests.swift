import Lua
import Testing

@testable import Scripting

@Suite("The calls of an error") struct ErrorFramesTests {
    @Test(
        "a recursion is one call and a number; all else is as it came",
        arguments: [
            ("a;b;c", "a;b;c"), ("a;a;b", "a;a;b"), ("a;a;a;b", "a;... (2 more calls of it);b"),
            ("a;a;...\t(skipping 999974 levels);a;a;b", "a;... (999,977 more calls of it);b"),
            ("a;b;a;b", "a;b;a;b"), ("a;a;...\t(skipping 9 levels);b;b", "a;a;...\t(skipping 9 levels);b;b"),
            ("[C]: in function 'error';a;[C]: in ?", "a"),
        ])
    func frames(calls: String, shown: String) throws {
        var error = LuaError(.runtime, "x")
        error.traceback = "stack traceback:\n" + calls.split(separator: ";").map { "\t\($0)\n" }.joined()
        #expect(try #require(ErrorText.frames(of: error)).joined(separator: ";") == shown)
    }
}
