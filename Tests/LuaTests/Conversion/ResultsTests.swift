import Testing

@testable import Lua

/// Functions that the world may refuse.
@Suite("nil and an error") struct ResultsTests {
    struct Refusal: Error, LuaErrorDetails, Equatable {
        var luaDomain: String { "Tests" }
        var luaCode: LuaErrorCode { .word("refused") }
        var luaMessage: String { "no such file" }
        var luaPath: String? { "/a" }
    }

    let state: LuaState

    init() throws {
        state = try LuaState()
        let module = LuaModule("m", doc: "Functions.", in: state)
        module.function("read", ["path"], doc: "A file's text.") { (path: String) in
            guard !path.isEmpty else { throw LuaError(.argument, "a path expected") }
            return Result { () throws(Refusal) in
                guard path == "there" else { throw Refusal() }
                return path
            }
        }
        module.function("find", ["name"], doc: "A number or nil.") { (name: String) -> Result<Int?, any Error> in
            name == "one" ? .success(1) : name == "none" ? .success(nil) : .failure(Refusal())
        }
        state.globals["m"] = .table(module.table)
    }

    private func show(_ text: String) throws -> String {
        try state.load(text.utf8, name: "=test").call().map(\.description).joined(separator: " ")
    }

    @Test("a success is the value, a failure nil and the error, and what is thrown is raised")
    func values() throws {
        #expect(try show("return m.read('there')") == #""there""#)
        let failure = "local text, err = m.read('x') return text, err.domain, err.code, err.message, err.path"
        #expect(try show(failure) == #"nil "Tests" "refused" "no such file" "/a""#)
        #expect(try show("return select('#', m.find('none')), m.find('one'), (m.find('x'))") == "1 1 nil")
        #expect(#expect(throws: LuaError.self) { try show("m.read('')") }?.message == "test:1: a path expected")
    }

    @Test("the declaration says so")
    func declaration() {
        let signatures = state.declarations["m"]?.functions.map { $0.signature() }
        #expect(
            signatures == ["read(path) → string or nil, Error or nil", "find(name) → integer or nil, Error or nil"])
    }

    @Test("a result without a call")
    func bare() throws {
        #expect(try Result<Int, Refusal>(lua: 5) == .success(5))
        #expect(Result<Int, Refusal>.success(5).luaValue(in: state).integerValue == 5)
        #expect(Result<Int, Refusal>.failure(Refusal()).luaValue(in: state).isNil)
    }
}
