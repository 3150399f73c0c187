import Synchronization
import Testing

@testable import Lua

/// Tables of named options as structs.
@Suite("Options") struct LuaOptionsTests {
    enum Format: String, CaseIterable, LuaRepresentable { case plain, rich }

    struct Page: LuaOptions {
        var title = "Items"
        var format = Format.plain
        var width: Int?

        static var luaOptions: [LuaOption<Page>] {
            LuaOption("title", \.title, doc: "the page's")
            LuaOption("format", \.format, doc: "plain if not given")
            LuaOption("width", \.width, doc: "in pixels")
        }
    }

    let state: LuaState

    init() throws {
        state = try LuaState()
        let module = LuaModule("m", doc: "Functions.", in: state)
        module.function("page", ["path": "where", "page": "how"], doc: "Describes a page.") {
            (path: String, page: Page) in
            guard page.width != 0 else { throw LuaMismatch("option 'width': not 0", argument: "page") }
            return "\(path) \(page.title) \(page.format) \(page.width ?? -1)"
        }
        state.globals["m"] = .table(module.table)
    }

    private func show(_ expression: String) throws -> String {
        try state.load("return \(expression)".utf8, name: "=test").call().map(\.description).joined(separator: " ")
    }

    @Test(
        "what is not given has the struct's default",
        arguments: [
            ("m.page('a')", #""a Items plain -1""#), ("m.page('a', nil)", #""a Items plain -1""#),
            ("m.page('a', {})", #""a Items plain -1""#),
            ("m.page('a', { title = 'T', format = 'rich', width = 3.0 })", #""a T rich 3""#),
        ])
    func values(expression: String, expected: String) throws {
        #expect(try show(expression) == expected)
    }

    @Test(
        "what is wrong names the option",
        arguments: [
            ("{ titel = 'T' }", "unknown option 'titel'; did you mean 'title'?"),
            ("{ width = 'x' }", "option 'width': integer expected, got string"),
            (
                "{ format = 'riche' }",
                "option 'format': \"plain\" or \"rich\" expected, got \"riche\"; did you mean 'rich'?"
            ),
            ("{ title = 'T', [1] = 2 }", "unknown option [1]; there are 'title', 'format', 'width'"),
            ("{ [true] = 2 }", "unknown option [true]; there are 'title', 'format', 'width'"),
            ("{ width = 0 }", "option 'width': not 0"), ("5", "table of options expected, got number"),
        ])
    func refusals(options: String, message: String) throws {
        let error = #expect(throws: LuaError.self) { try show("m.page('a', \(options))") }
        #expect(error?.message == "test:1: bad argument #2 'page' to 'm.page' (\(message))")
    }

    @Test("an unknown name is refused wherever the options are")
    func nested() throws {
        let module = LuaModule("n", doc: "Functions.", in: state)
        module.function("all", ["pages"], doc: "Counts.") { (pages: [String: [Page]]) in pages.count }
        module.function("of", ["f"], doc: "The title.") { (f: LuaCallback<Page, Int>) in try f(1).title }
        state.globals["n"] = .table(module.table)
        let given = "n.all{ a = { { width = 1 }, {} } }, n.of(function() return { title = 'T' } end)"
        #expect(try show(given) == #"1 "T""#)
        for call in ["n.all{ a = { { titel = 1 } } }", "n.of(function() return { titel = 1 } end)"] {
            let error = #expect(throws: LuaError.self) { try show(call) }
            #expect(error?.message.contains("unknown option 'titel'; did you mean 'title'?") == true, "\(call)")
        }
    }

    @Test("the declaration has the options; they may be left out")
    func declaration() throws {
        let function = try #require(state.declarations["m"]?.functions.first)
        #expect(function.signature() == "page(path, [page]) → string")
        let expected: LuaFields = [
            LuaParameter("title", .text, "the page's"),
            LuaParameter("format", .choice(["plain", "rich"]), "plain if not given"),
            LuaParameter("width", .integer, "in pixels"),
        ]
        #expect(function.parameters.last?.type == .optional(.options(expected)))
    }

    struct Rare: LuaOptions {
        static let makings = Mutex(0)
        var depth = 1

        static var luaOptions: [LuaOption<Rare>] {
            makings.withLock { $0 += 1 }
            return [LuaOption("depth", \.depth, doc: "how deep")]
        }
    }

    @Test("the options are made when a call, help or completion asks for them, once for the declaration")
    func laziness() throws {
        let module = LuaModule("rare", doc: "Functions.", in: state)
        module.function("dig", ["options": "how"], doc: "Digs.") { (options: Rare) in options.depth }
        state.globals["rare"] = .table(module.table)
        #expect(Rare.makings.withLock { $0 } == 0)
        #expect(try show("rare.dig()") == "1")
        #expect(Rare.makings.withLock { $0 } == 0)
        let type = try #require(state.declarations["rare"]?.functions.first?.parameters.first?.type)
        guard case .optional(.options(let fields)) = type else { throw LuaMismatch("no options: \(type)") }
        #expect(fields.map(\.name) == ["depth"] && fields.count == 1 && fields == fields)
        #expect(Rare.makings.withLock { $0 } == 1)
        #expect(try show("rare.dig({ depth = 3 })") == "3")
        #expect(throws: LuaError.self) { try show("rare.dig({ dept = 3 })") }
    }

    @Test("a struct without a call")
    func bare() throws {
        #expect(try Page(lua: .nil).title == "Items")
        #expect(try Page(lua: Page(title: "T", width: 5).luaValue(in: state)).width == 5)
        let table = state.makeTable()
        table["format"] = 7
        #expect(throws: LuaMismatch("option 'format': \"plain\" or \"rich\" expected, got number")) {
            try Page(lua: .table(table))
        }
    }
}
