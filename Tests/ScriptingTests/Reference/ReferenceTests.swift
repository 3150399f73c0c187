import Cubby
import Foundation
import Lua
import Scripting
import TestSupport
import Testing

/// The texts that are made from the declarations.
@Suite("Reference")
struct ReferenceTests {
    let reference: APIReference

    init() throws { reference = try APIReference.standard() }

    static let folder = "\(Project.root)/docs/reference"

    @Test("docs/reference is what the declarations give: scripts/reference makes it so")
    func files() throws {
        let pages = reference.pages
        #expect(try FileManager.default.contentsOfDirectory(atPath: Self.folder).sorted() == pages.map(\.path).sorted())
        for page in pages {
            let text = try? String(contentsOfFile: "\(Self.folder)/\(page.path)", encoding: .utf8)
            #expect(text == page.text, "docs/reference/\(page.path) is out of date: run scripts/reference")
        }
    }

    @Test("two hosts give the same text, byte for byte", arguments: ReferenceFormat.allCases)
    func deterministic(format: ReferenceFormat) throws {
        #expect(try reference.text(format) == APIReference.standard().text(format))
    }

    @Test("every link between pages leads somewhere")
    func links() {
        let known = Set(reference.pages.map(\.path))
        for page in reference.pages {
            for link in page.text.matches(of: /\]\(([a-z]+\.md)(#[a-z]+)?\)/) {
                #expect(known.contains(String(link.1)), "\(page.path) links to \(link.1)")
            }
        }
    }

    @Test("annotations are Lua, and name no class that they do not declare")
    func annotations() throws {
        let text = try reference.text(.luacats)
        _ = try LuaState().load(text.utf8, name: "=annotations")
        let declared = Set(text.matches(of: /@(?:class|alias) ([\w.]+)/).map { String($0.1) })
        let ends = CharacterSet(charactersIn: "|?[]():, ")
        for line in text.split(separator: "\n") {
            guard let match = line.firstMatch(of: /^---@(?:param|field) \S+ (\S+)/) else { continue }
            for word in match.1.components(separatedBy: ends) where word.first?.isUppercase == true {
                #expect(declared.contains(word), "\(word) in \(line)")
            }
            for word in match.1.components(separatedBy: ends) where word.hasPrefix("cubby.") {
                #expect(declared.contains(word), "\(word) in \(line)")
            }
        }
    }

    @Test(
        "annotations have members with their types, options as classes, callbacks and typed events",
        arguments: [
            "---@field valueInDollars integer Its value in whole dollars; of another kind, or nil, if an application's archive has it so.",
            "---@field serialNumber string? Its serial number, or nil.",
            "---@operator len: integer", "---@operator sub(date): number",
            "---@field [integer] Item? The item at a position, from 1.",
            "---@param fields? cubby.fields values by field name; custom ones, too\n---@return Item\nfunction items:createItem(fields) end",
            "---@param predicate? string|(fun(item: Item): boolean)|Predicate ",
            "---@param order? \"ascending\"|\"descending\"",
            "---@class cubby.diff.update\n---@field itemKey? string", "---@return cubby.failure[]",
            "---@field stats cubby.statistics", "---@field applicationDidEnterBackground? fun(app: app) called",
            "---@class cubby.csv.rows.options\n---@field header? boolean",
            "---@param options? cubby.csv.rows.options", "---@return fun(): integer, Item",
            "---@overload fun(moment?: number|string|date|cubby.date.moment): date?, Error?",
            "---| \"didEnterBackground\" #",
            "---@class DidSaveEvent: Event\n---@field ok boolean",
            "---@overload fun(self: items, event: \"willUpdate\",", "handler?: fun(event: WillUpdateEvent)): Hook",
            "function help(subject) end",
        ])
    func annotation(expected: String) throws {
        #expect(try reference.text(.luacats).contains(expected))
    }

    @Test("JSON has every declaration with its members, and the events")
    func json() throws {
        let value = try JSONSerialization.jsonObject(with: Data(try reference.text(.json).utf8))
        let document = try #require(value as? [String: Any])
        #expect(document["version"] as? Int == 1)
        let declarations = try #require(document["declarations"] as? [[String: Any]])
        #expect(declarations.count == reference.declarations.count)
        let items = try #require(declarations.first { $0["name"] as? String == "items" })
        let functions = try #require(items["functions"] as? [[String: Any]])
        let create = try #require(functions.first { $0["name"] as? String == "createItem" })
        #expect(create["signature"] as? String == "items:createItem([fields]) → Item")
        #expect((create["example"] as? String)?.isEmpty == false)
        #expect((document["events"] as? [[String: Any]])?.count == EventDeclaration.all.count)
    }

    @Test(
        "help knows globals, Lua's own that the host makes anew, functions by themselves, and events",
        arguments: [
            ("help(print)", "print(…)"), ("help(io)", "io.open(path, [mode])"),
            ("help(io.open)", "io.open(path, [mode])"),
            ("help('require')", "require(module)"), ("help(help)", "help([subject])"), ("help(date)", "date([moment])"),
            ("help('didEnterBackground')", "app:on(\"didEnterBackground\", …)"),
            ("help(app.on)", "app:on(event"), ("help(fs.read)", "fs.read(path)"),
            ("help('app.on')", "    budget: number, seconds"), ("help('willUpdate')", "event.field: string"),
            ("help('willUpdate')", "event:veto(reason)"),
            ("help('didEnterBackgrund')", "did you mean 'didEnterBackground'"), ("help(items)", "items[integer]"),
        ])
    func help(call: String, expected: String) throws {
        let scratch = try TemporaryDirectory()
        let embedding = try Embedding(scratch.file("container"))
        embedding.host.launch()
        _ = embedding.run(call)
        #expect(embedding.recorder.output.contains(expected))
        embedding.end()
    }

    @Test("functions of a class itself are in help and in all forms of the reference")
    func statics() throws {
        final class Lamp {}
        let scratch = try TemporaryDirectory()
        let embedding = try Embedding(scratch.file("container"))
        let lamps = LuaClass<Lamp>("Lamp", doc: "A lamp.", in: embedding.host.state)
        lamps.method("dim", doc: "Turns it down.") { _, call in call.returnsNothing() }
        lamps.function("named", [LuaParameter("room", .text)], returns: [.object("Lamp")], doc: "A new lamp.") { call in
            call.returns(Lamp(), lamps)
        }
        embedding.host.state.globals["Lamp"] = .table(lamps.table)
        embedding.host.launch()
        for call in ["help('Lamp')", "help(Lamp.named)", "help('Lamp.named')", "help(Lamp)"] {
            let before = embedding.recorder.output.count
            #expect(embedding.run(call) == "")
            let text = embedding.recorder.output.dropFirst(before)
            #expect(text.contains("Lamp.named(room) → Lamp"), "\(call): \(text)")
        }
        let reference = APIReference(embedding.host)
        #expect(try reference.text(.markdown).contains("`Lamp.named(room) → Lamp`"))
        #expect(try reference.text(.json).contains("\"signature\" : \"Lamp.named(room) → Lamp\""))
        #expect(try reference.text(.luacats).contains("function Lamp.named(room) end"))
        #expect(try reference.text(.luacats).contains("function Lamp:dim() end"))
        embedding.end()
    }

    @Test("on takes the events that are declared, and no others")
    func events() throws {
        let scratch = try TemporaryDirectory()
        let embedding = try Embedding(scratch.file("container"))
        embedding.host.launch()
        for event in EventDeclaration.all {
            let other = event.owner == .app ? "items" : "app"
            #expect(embedding.run("return \(event.owner):on('\(event.name)', function() end).event") == event.name)
            #expect(embedding.run("\(other):on('\(event.name)', function() end)").contains("unknown event"))
        }
        embedding.end()
    }
}
