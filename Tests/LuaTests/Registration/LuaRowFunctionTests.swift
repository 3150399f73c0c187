import TestSupport
import Testing

@testable import Lua

@Suite("Functions of rows") struct LuaRowFunctionTests {
    let state: LuaState

    init() throws { state = try LuaState() }

    private func function(_ code: String) throws -> LuaRowFunction {
        guard
            case .function(let function)? = try state.load("return function(row) \(code) end".utf8, name: "=test")
                .call().first
        else {
            throw TestFailure("no function")
        }
        return LuaRowFunction(function)
    }

    /// Calls with texts by name, and gives the differences in the order of their names.
    private func differences(
        _ function: LuaRowFunction, _ texts: [(String, String?)]
    ) throws -> (outcome: LuaRowFunction.Outcome, changes: [String]) {
        for (name, _) in texts.dropFirst(function.count) { try function.addName(Array(name.utf8)) }
        let bytes = texts.map { $0.1.map { Array($0.utf8) } }
        var buffers: [UnsafeMutableBufferPointer<UInt8>?] = []
        for text in bytes {
            buffers.append(
                text.map { text in
                    let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, text.count))
                    _ = buffer.update(fromContentsOf: text)
                    return UnsafeMutableBufferPointer(rebasing: buffer[..<text.count])
                })
        }
        defer { for buffer in buffers { buffer?.baseAddress?.deallocate() } }
        var changes: [String] = []
        let outcome = try function.call { place in
            buffers[place].map { .text(UnsafeBufferPointer($0)) } ?? .absent
        } _: { change in
            switch change {
            case .changed(let place, let value): changes.append("\(texts[place].0)=\(value)")
            case .removed(let place): changes.append("-\(texts[place].0)")
            case .added(let key, let value): changes.append("+\(key)=\(value)")
            }
        }
        return (outcome, changes.sorted())
    }

    @Test("tell what they have changed, and nothing else") func changes() throws {
        let long = String(repeating: "n", count: 60)
        let row = [("a", "1"), ("b", "x"), ("c", nil), (long, "y"), ("d", "gone")] as [(String, String?)]
        let same = try differences(try function("return row"), row)
        #expect(same.changes.isEmpty)
        let changed = try differences(
            try function("row.b, row.c, row.d, row.e, row.\(long) = 'z', 2, nil, true, 'y' return row"), row)
        #expect(changed.changes == ["+\"e\"=true", "-d", "b=\"z\"", "c=2"], "\(changed.changes)")
        let other = try differences(try function("return { b = row.b, [1] = row.a }"), row)
        #expect(other.changes == ["+1=\"1\"", "-a", "-d", "-\(long)"], "\(other.changes)")
    }

    @Test("answer nil, or raise") func outcomes() throws {
        guard case .nothing = try differences(try function("return nil"), [("a", "1")]).outcome else {
            Issue.record("a row")
            return
        }
        guard case .other(.integer(5)) = try differences(try function("return 5"), [("a", "1")]).outcome else {
            Issue.record("no number")
            return
        }
        #expect(throws: LuaError.self) { try differences(try function("error('no')"), [("a", "1")]) }
    }

    @Test("names may come later, and there may be many") func manyNames() throws {
        let function = try function("return row")
        for count in [1, 5, 300] {
            let row = (0..<count).map { ("name\($0)", Optional("\($0)")) }
            #expect(try differences(function, row).changes.isEmpty)
        }
    }
}
