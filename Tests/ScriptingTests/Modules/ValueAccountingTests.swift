import Lua
import PropertyList
import TestSupport
import Testing

@testable import Scripting

/// Each value that goes through Lua comes back equal, or is named by an error.
@Suite("Lua's tables account for every value")
struct LuaValueAccountingTests {
    @Test("a value is a Lua value, and again itself but for a real's width and a key's kind of number")
    func roundTrip() throws {
        let scratch = try TemporaryDirectory()
        let embedding = try Embedding(scratch.file("container"))
        defer { embedding.end() }
        let bridge = embedding.host.values
        var foreign = ForeignValues(seed: 5)
        var refused = 0
        for _ in 0..<Accounting.values {
            let value = PropertyListValue.array([foreign.value()])
            let lua: LuaValue
            do throws(LuaError) { lua = try bridge.lua(value) } catch {
                refused += 1
                #expect(error.message.contains("equal key"), "\(error.message) for \(value)")
                continue
            }
            #expect(try bridge.propertyList(lua) == Self.inLua(value), "\(value)")
        }
        #expect(refused < Accounting.values / 10)
    }

    /// Lua has one width of reals, and a real key that is whole is an integer one.
    private static func inLua(_ value: PropertyListValue) -> PropertyListValue {
        switch value {
        case .single(let number): return .real(Double(number))
        case .array(let elements): return .array(elements.map(inLua))
        case .set(let elements): return .set(elements.map(inLua))
        case .dictionary(let entries):
            return .dictionary(PropertyListDictionary(entries.entries.map { (key(inLua($0.key)), inLua($0.value)) }))
        default: return value
        }
    }

    private static func key(_ key: PropertyListValue) -> PropertyListValue {
        if case .real(let number) = key, let whole = Int64(exactly: number) { .integer(whole) } else { key }
    }
}

@Suite("A query of a graph says what it leaves out")
struct GraphQueryLeftOutTests {
    @Test("objects whose values a comparison does not take are counted, and are an error in strict hosts")
    func strict() throws {
        let scratch = try TemporaryDirectory()
        func run(_ predicate: String, strictly: Bool) throws -> String {
            let embedding = try Embedding(scratch.file("\(strictly)")) { $0.isStrict = strictly }
            defer { embedding.end() }
            return embedding.run(
                """
                local graph = archiver.open(archiver.archivedData({ { n = 7 }, { n = "n/a" }, { n = "x" }, { m = 1 } }))
                return #graph:query("\(predicate)")
                """)
        }
        let text = try run("n > 5", strictly: true)
        #expect(text.contains("with --strict: graph:query: n > 5 left out 2 objects whose n is text"), "\(text)")
        #expect(try run("n > 5", strictly: false) == "1")
        #expect(try run("m == 1 AND n > 5", strictly: true) == "0")
    }
}
