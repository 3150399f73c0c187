import Application
import Cubby
import Foundation
import Lua
import Scripting
import TestSupport
import Testing

/// What is declared to scripts is documented, typed, and shown by an example that runs.
@Suite("Declarations")
struct DeclarationTests {
    /// A function or a method of a declaration.
    struct Member: Sendable, CustomTestStringConvertible {
        let declaration: LuaDeclaration
        let function: LuaFunctionDeclaration
        var testDescription: String { declaration.signature(of: function) }
    }

    static let reference = Result { try APIReference.standard() }
    static let declarations = (try? reference.get().declarations) ?? []
    static let members = declarations.flatMap { declaration in
        declaration.functions.map { Member(declaration: declaration, function: $0) }
    }

    @Test("there are declarations")
    func some() throws {
        #expect(try Self.reference.get().declarations.count > 20)
    }

    @Test("a declaration, its properties and its operators say what they are", arguments: declarations.map(\.name))
    func documented(name: String) throws {
        for declaration in Self.declarations where declaration.name == name {
            Self.expectSentence(declaration.documentation, of: name)
            for property in declaration.properties {
                Self.expectSentence(property.documentation, of: "\(name).\(property.name)")
                for field in Self.options(of: property.type) { Self.expectExplained(field, of: property.name) }
            }
            for each in declaration.operators {
                Self.expectSentence(each.documentation, of: each.expression(on: name))
            }
            #expect(Set(declaration.memberNames).count == declaration.memberNames.count, "\(name) has a name twice")
        }
    }

    @Test("a function has documentation, an example, and parameters that are typed and explained", arguments: members)
    func documented(member: Member) {
        let title = member.testDescription
        Self.expectSentence(member.function.documentation, of: title)
        #expect(!member.function.example.isEmpty, "\(title) has no example")
        for parameter in member.function.parameters {
            Self.expectExplained(parameter, of: title)
            if parameter.type == .any {
                let takesAnything = Self.takesAnything.contains { title.hasPrefix($0) }
                #expect(takesAnything, "\(title): \(parameter.name) has no type")
            }
        }
        for result in member.function.results {
            for field in Self.options(of: result) { Self.expectExplained(field, of: title) }
        }
    }

    /// What only the hosts of cubby test have.
    private static let ofTests = ["test", "expect", "skip", "Expectation", "clock", "replace", "fault"]

    /// Functions with a parameter that may be any value at all.
    private static let takesAnything = [
        "json.encode(value, [options]) → string", "plist.encode(value", "plist.write(value",
        "archiver.archivedData(object",
        "archiver.archiveRootObject(object", "archiver.copy(object", "archiver.className(value", "KeyedArchiver:encode",
        "Groups:group(key", "expect(value", "Expectation:equals(expected", "Expectation:has(expected",
    ]

    @Test("an example runs in an empty container", arguments: members)
    func example(member: Member) throws {
        let scratch = try TemporaryDirectory()
        let isOfTests = Self.ofTests.contains(member.declaration.name)
        let embedding = try Embedding(
            scratch.file("container"),
            modules: ScriptHost.standardModules + (isOfTests ? ScriptHost.testModules : []))
        let clock = isOfTests ? VirtualClock() : nil
        defer { clock?.end() }
        if let clock {
            let folder = scratch.file("files")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            embedding.host.replacements.scene = TestScene(
                embedding.host, clock: clock, faults: SaveFaults(), folder: folder, scripts: folder)
            try embedding.host.fence.grant(folder, .readWrite)
        }
        embedding.host.launch()
        let result = embedding.host.run(Array(member.function.example.utf8), name: "=example")
        if case .failure(let error) = result {
            let hasEndedInOrder = error.kind == .cancelled && embedding.host.exitCode == 0
            #expect(hasEndedInOrder, "\(member.testDescription): \(error.message)\nin: \(member.function.example)")
        }
        // An example that shows a failure in place of a result shows nothing.
        if case .success(let values) = result, values.count == 2, case .nil = values[0] {
            let error = embedding.host.state.describe(values[1])
            Issue.record("\(member.testDescription): \(error)\nin: \(member.function.example)")
        }
        #expect(!embedding.recorder.errors.contains("error"), "\(member.testDescription): \(embedding.recorder.errors)")
        embedding.end()
    }

    @Test("an event says what it is and what its handler is given", arguments: EventDeclaration.all.map(\.name))
    func event(name: String) throws {
        let event = try #require(EventDeclaration.all.first { $0.name == name })
        Self.expectSentence(event.documentation, of: name)
        for field in event.payload { Self.expectExplained(field, of: name) }
        #expect(EventDeclaration.all.filter { $0.name == name }.count == 1)
    }

    private static func expectSentence(_ text: String, of title: String) {
        #expect(text.count > 3 && (text.hasSuffix(".") || text.hasSuffix("…")), "\(title): \(text.debugDescription)")
    }

    private static func expectExplained(_ parameter: LuaParameter, of title: String) {
        #expect(!parameter.documentation.isEmpty, "\(title): nothing is said of \(parameter.name)")
        for each in options(of: parameter.type) { expectExplained(each, of: "\(title), \(parameter.name)") }
    }

    private static func options(of type: LuaType) -> [LuaParameter] {
        switch type {
        case .options(let options), .record(_, let options): options.all
        case .optional(let inner), .variadic(let inner), .array(let inner): options(of: inner)
        case .union(let types): types.flatMap(options)
        default: []
        }
    }
}
