import Lua
import Testing

/// Runs with several results.
@Suite("Several results of a run")
struct SeveralResultsTests {
    @Test("have a type each; one that may be missing is nil, and stands where it stands")
    func values() async throws {
        let engine = try await LuaEngine()
        let (count, name) = try await engine.run("return 3, 'lamps'", as: (Int, String).self)
        #expect(count == 3 && name == "lamps")
        let (first, second, third, rest) = try await engine.run(
            "return nil, { 1, 2 }, nil, { a = true }", as: (Int?, [Int], String?, [String: Bool]).self)
        #expect(first == nil && second == [1, 2] && third == nil && rest == ["a": true])
    }

    @Test(
        "fewer or more of them are an error that counts them",
        arguments: [
            ("return", "0 results"), ("return 1", "1 result,"), ("return 1, 2, 3", "more than 2 results"),
            ("return 1, 2, nil", "more than 2 results"),
            ("local function f() return 1, 2, 3 end return f()", "more than 2 results"),
        ])
    func number(script: String, counted: String) async throws {
        let engine = try await LuaEngine()
        let error = await #expect(throws: LuaError.self) { try await engine.run(script, as: (Int, Int?).self) }
        #expect(error?.message.contains("returned \(counted)") == true)
        #expect(error?.message.contains("not 2") == true && error?.usage != nil)
    }

    @Test("one of another type is an error that names its position, and where in it")
    func position() async throws {
        let engine = try await LuaEngine()
        for (script, path) in [
            ("return 'x', {}, 1", ["result 1"]), ("return 1, 'x', 1", ["result 2"]),
            ("return 1, {{ a = 'x' }}, 1", ["result 2", "Index 0", "a"]), ("return 1, {}, nil", ["result 3"]),
        ] {
            let error = await #expect(throws: DecodingError.self) {
                try await engine.run(script, as: (Int, [[String: Int]], Double).self)
            }
            let context: DecodingError.Context? =
                switch error {
                case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
                    context
                default: nil
                }
            #expect(context?.codingPath.first?.stringValue == path[0], "\(script)")
            #expect(context?.codingPath.count == path.count, "\(script)")
            #expect(context?.debugDescription.hasPrefix(path[0] + ": ") == true, "\(script)")
        }
    }
}
