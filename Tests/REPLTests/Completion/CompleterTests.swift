import LineEditor
import Lua
import TestSupport
import Testing

@testable import REPL

@Suite("Completion") struct CompleterTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let text: String
        let found: [String]
        /// Whether these are all; else some of them.
        let isWhole: Bool
        var testDescription: String { text }

        init(_ text: String, _ found: [String], whole: Bool = false) {
            self.text = text
            self.found = found
            isWhole = whole
        }
    }

    static let cases: [Case] = [
        // Names.
        Case("ite", ["items"], whole: true), Case("whi", ["while"], whole: true),
        Case("if item", ["items"], whole: true), Case("ses", ["session"], whole: true),
        Case("local count = 1\ncoun", ["count"], whole: true), Case("local fun", ["function"], whole: true),
        Case("ITE", ["items"], whole: true),
        // Members, through calls by declared types.
        Case("items:cre", ["createIndex", "createItem"], whole: true), Case("items.has", ["hasChanges"], whole: true),
        Case("items.createI", ["createIndex", "createItem"], whole: true),
        Case("items[1].val", ["valueInDollars"], whole: true), Case("items[1].ro", ["room"], whole: true),
        Case("items:query(\"room == 'Attic'\"):sor", ["sorted"], whole: true),
        Case("items:query():sorted(\"name\"):limit(3):fir", ["first"], whole: true),
        Case("items:query():first().dateC", ["dateCreated"], whole: true),
        Case("items[1].dateCreated.yea", ["year"], whole: true), Case("items[1].name:upp", ["upper"], whole: true),
        Case("items:createItem{ name = \"x\" }.na", ["name"], whole: true),
        Case("app.container.doc", ["documents"], whole: true), Case("(\"x\"):rep(2):upp", ["upper"], whole: true),
        Case("date():form", ["format"], whole: true), Case("(items):que", ["query"], whole: true),
        Case("assert(image.open(\"x\")):res", ["resized"], whole: true),
        Case("require(\"cubby\").items:undo", ["undo"], whole: true), Case("os.cl", ["clock"], whole: true),
        Case("string.format(\"%d\", 1):upp", ["upper"], whole: true),
        // What the text itself declares.
        Case("local q = items:query()\nq:grou", ["groupBy"], whole: true),
        Case("local a, b = 1, items[1]\nb.ser", ["serialNumber"], whole: true),
        Case("for i, thing in items:each() do thing.ite", ["itemKey"], whole: true),
        Case("for _, thing in ipairs(items:query():all()) do thing.na", ["name"], whole: true),
        Case("app:on(\"didSave\", function(event) event.sec", ["seconds"], whole: true),
        Case("items:on(\"willUpdate\", function(e) e.item.na", ["name"], whole: true),
        Case("items:on(\"willUpdate\", function(e) e:ve", ["veto"], whole: true),
        Case("items:query(function(thing) return thing.room == thing.na", ["name"], whole: true),
        // Live tables, __index tables followed raw, the session's locals.
        Case("things.al", ["alpha"], whole: true), Case("things.inner.be", ["beta"], whole: true),
        Case("object:gre", ["greet"], whole: true), Case("kept.re", ["red"], whole: true),
        Case("things[\"al", ["alpha"], whole: true), Case("items[1][\"ro", ["room"], whole: true),
        Case("raising.x", [], whole: true), Case("raising.", [], whole: true),
        // Strings, by what they are for.
        Case("app:on(\"didEnter", ["didEnterBackground"], whole: true),
        Case("items:on('willI", ["willInsert"], whole: true),
        Case("items:query():sorted(\"value", ["valueInDollars"], whole: true),
        Case("items:query():sorted(\"name\", \"desc", ["descending"], whole: true),
        Case("items:query(\"ro", ["room"], whole: true), Case("items:query(\"room BEG", ["BEGINSWITH"], whole: true),
        Case("items:query(\"room == 'At", ["Attic"], whole: true),
        Case("items:query(\"name == 'x' AND val", ["valueInDollars"], whole: true),
        Case("items:query \"ro", ["room"], whole: true), Case("items:item(\"key-", ["key-of-bear"], whole: true),
        Case("require \"cub", ["cubby"], whole: true),
        Case("help(\"items.createI", ["items.createIndex", "items.createItem"], whole: true),
        Case("fs.read(app.container.documents .. \"/no", [], whole: true),
        // Tables of options, and of fields.
        Case("app:on(\"didSave\", { pri", ["priority"], whole: true),
        Case("app:on(\"didSave\", { id = \"x\", gr", ["group"], whole: true),
        Case("items:createItem{ ser", ["serialNumber"], whole: true),
        Case("items:createItem{ roo", ["room"], whole: true),
        Case("items:createItem{ name = ite", ["items"], whole: true),
        Case("app:hooks{ event = \"didS", ["didSave"], whole: true),
        // Commands and questions.
        Case(":his", ["history"], whole: true), Case(":out j", ["json"], whole: true),
        Case("?items.cre", ["createIndex", "createItem"], whole: true), Case(":time items:que", ["query"], whole: true),
        // Nothing to say.
        Case("-- ite", [], whole: true), Case("\"ite", [], whole: true), Case("12", [], whole: true),
        Case("goto ite", [], whole: true), Case("nothing.at.all.", [], whole: true), Case("x = 1 .", [], whole: true),
        Case("items:query(", ["items"]), Case("", ["items", "app"]),
    ]

    @Test("finds what can stand there, and runs nothing", arguments: cases)
    func completes(_ each: Case) throws {
        let test = try TestHost()
        try test.enter("items:createItem{ name = 'Bear', room = 'Attic', itemKey = 'key-of-bear' }")
        try test.enter("session = 1 things = { alpha = 1, inner = { beta = 2 } }")
        try test.enter("object = setmetatable({}, { __index = { greet = function() end } })")
        try test.enter("ran = 0 raising = setmetatable({}, { __index = function() ran = ran + 1 error('no') end })")
        try test.enter("local kept = { red = 1 }")
        let found = test.complete(each.text)
        if each.isWhole { #expect(found == each.found) } else { #expect(Set(found).isSuperset(of: each.found)) }
        #expect(try test.enter("ran") == "0\n")
    }

    @Test("a name is found among any number of others, in a table, as a key, as a global")
    func manyNames() throws {
        let test = try TestHost()
        try test.enter("many = {} for i = 1, 60000 do many['n' .. i] = i _G['g' .. i] = i end")
        try test.enter("many.zebra = 1 zebraCrossing = 2")
        #expect(test.complete("many.zeb") == ["zebra"])
        #expect(test.complete("many[\"zeb") == ["zebra"])
        #expect(test.complete("zebra") == ["zebraCrossing"])
    }

    @Test("a declared field comes with what it is, as a member, as an argument and in a predicate")
    func declaredFields() throws {
        let test = try TestHost()
        try test.enter("items:declare{ price = { kind = 'real', least = 0, desc = 'what it cost' } }")
        try test.enter("items:declare{ serialNumber = { unique = true } } items:createItem{ price = 1 }")
        let completer = Completer(host: test.host, locals: nil, functions: FunctionTexts(test.host))
        for text in ["items[1].pri", "items:createItem{ pri", "items:query(\"pri", "items:query():sorted(\"pri"] {
            let found = completer.complete(text, text.utf8.count)?.candidates.first { $0.text == "price" }
            #expect(found?.documentation == "what it cost: a real, at least 0.0.", "\(text)")
        }
        let serial = completer.complete("items[1].ser", 12)?.candidates.first { $0.text == "serialNumber" }
        #expect(serial?.documentation == "Its serial number, or nil. A declared field: a string, unique.")
    }

    @Test("no text makes it fail", arguments: 0..<10)
    func survives(seed: Int) throws {
        let pieces = [
            "items", ":", ".", "(", ")", "[", "]", "{", "}", "\"", "'", "query", "=", ",", " ", "\n", "function", "end",
            "local", "for", "in", "1", "--", "[[", "]]", "é", "app", "on", "?", "do", "\\", "$", "..", "::",
        ]
        var state = UInt64(seed) &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        func next(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(count))
        }
        let test = try TestHost()
        for _ in 0..<400 {
            let text = (0..<next(24)).map { _ in pieces[next(pieces.count)] }.joined()
            _ = test.complete(text)
            _ = LuaHighlighter.spans(text)
            _ = BlockDepth.indentation(after: text)
            _ = TopLevelLocals(text)
        }
    }
}
