import Application
import Files
import Lua
package import Scripting

/// `test` and `expect`: the tests of a file.
package enum TestModule: ScriptModule {
    package static let name = "test"

    package static func declare(in host: ScriptHost) throws -> [Global] {
        let state = host.state
        let module = LuaModule("test", doc: "The tests of a file, which `cubby test` runs.", in: state)
        module.callable(
            [
                "name": "what is tested, another text for each test of a group",
                "body": .callback("()", "the test"),
                "later": .callback(
                    "(last: table)",
                    "what is checked in the next launch of the same container, one function for each launch; it gets a table of `status`, `killed`, `output` and `log` of the launch before"
                ),
            ],
            doc:
                "Declares a test: it runs in a new host, with a container of its own in memory, and the file is loaded anew for it.",
            example: "test(\"adds\", function() expect(1 + 1):equals(2) end)"
        ) { [unowned host] (name: String, body: LuaFunction, later: LuaVariadic<LuaFunction>) in
            try suite(host).add(name, [body] + later.values)
            return LuaNothing()
        }
        declareGroups(module, host)
        declareContents(module, host)
        ScriptRunning.declare(on: module, host)
        declareSkip(host)
        try declareExpect(host)
        return [module.global] + ["expect", "skip"].map { ($0, state.globals[$0]) }
    }

    static func scene(_ host: ScriptHost) throws(LuaError) -> TestScene {
        guard let scene = host.replacements.scene else { throw LuaError(.argument, "only cubby test runs tests") }
        return scene
    }

    private static func suite(_ host: ScriptHost) throws(LuaError) -> TestSuite { try scene(host).suite }

    private static func declareGroups(_ module: LuaModule, _ host: ScriptHost) {
        module.function(
            "group", ["name": "what its tests have in common", "body": .callback("()", "declares the tests")],
            doc: "Declares a group of tests. What it has in `test.before` and `test.after` is for its own tests.",
            example: "test.group(\"sums\", function() test(\"adds\", function() expect(1 + 1):equals(2) end) end)"
        ) { [unowned host] (name: String, body: LuaFunction) in try suite(host).addGroup(name, body) }
        module.function(
            "before", ["body": .callback("()", "called before each test of the group, or of the file")],
            doc: "Has a function called before each test.",
            example: "test.before(function() items:createItem{ name = \"Lamp\" } end)"
        ) { [unowned host] (body: LuaFunction) in try suite(host).addBefore(body) }
        module.function(
            "after",
            [
                "body": .callback(
                    "()", "called after each test of the group, or of the file, also after one that failed")
            ],
            doc: "Has a function called after each test.",
            example: "test.after(function() expect(#app:errors()):equals(0) end)"
        ) { [unowned host] (body: LuaFunction) in try suite(host).addAfter(body) }
        module.function(
            "skip", ["name": "what would be tested", "body": .callback("()", "the test that is left out")],
            doc: "Declares a test that is left out, and counted.",
            example: "test.skip(\"rounds\", function() expect(1 // 2):equals(1) end)"
        ) { [unowned host] (name: String, body: LuaFunction?) in
            try suite(host).add(name, body.map { [$0] } ?? [], skipReason: "left out")
        }
    }

    private static func declareContents(_ module: LuaModule, _ host: ScriptHost) {
        module.function(
            "output", doc: "What scripts have printed in this launch.",
            example: "print(\"3 files\") expect(test.output()):matches(\"3 files\")"
        ) { [unowned host] in
            host.flushOutput()
            return LuaString(try scene(host).transcript.output)
        }
        module.function(
            "log", doc: "What was logged in this launch, and said on standard error.",
            example: "log.warning(\"no room\") expect(test.log()):matches(\"no room\")"
        ) { [unowned host] in LuaString(try scene(host).transcript.log) }
        module.function(
            "folder", doc: "A folder for files of this test, which its scripts may read and write; removed at the end.",
            example: "assert(fs.write(test.folder() .. \"/a.txt\", \"text\"))"
        ) { [unowned host] in try scene(host).folder }
        module.function(
            "path", ["name": "a name or a relative path"], doc: "The path of a file beside the file with the tests.",
            example: "return test.path(\"rows.csv\")"
        ) { [unowned host] (name: String) in PathText.absolute(name, from: try scene(host).scripts) }
    }

    private static func declareSkip(_ host: ScriptHost) {
        host.state.setGlobal(
            LuaFunctionDeclaration(
                "skip", [LuaParameter("reason", .optional(.text), "why it does not run here")],
                doc: "Ends the running test; it counts as left out.",
                example: "local ok = pcall(skip, \"no network here\") return ok")
        ) { [unowned host] call in
            let reason = call.isNil(0) ? "left out" : try call.text(0)
            try suite(host).skipReason = reason
            throw LuaError(.runtime, "skipped: \(reason)")
        }
    }

    private static func declareExpect(_ host: ScriptHost) throws {
        host.state.addClass(Expectation.self)
        let tools = try ExpectationTools(host)
        host.state.setGlobal(
            LuaFunctionDeclaration(
                "expect",
                [
                    LuaParameter("value", .any, "the value"),
                    LuaParameter(
                        "…", .variadic(.any),
                        "further results of the call: where the value is nil, the first of them, an error, is shown"),
                ], returns: [.object("Expectation")],
                doc: "What a test expects of a value: `expect(value):equals(5)`.",
                example: "expect(#items):equals(0)")
        ) { call in try Expectation(call.value(0), error: call.value(1), tools).push(as: call) }
    }
}

/// `test.run`: a script that is tested as a whole.
enum ScriptRunning {
    static func declare(on module: LuaModule, _ host: ScriptHost) {
        module.function(
            "run", ["script": "a file beside the one with the tests", "…": "its arguments, in `arg` and `…`"],
            doc:
                "Runs a script as `cubby run` does, in the host of the test, and returns its results. A script that ends the application ends this launch of the test, too: the next function of the test sees its status.",
            example: "return pcall(test.run, \"job.lua\", \"argument\")"
        ) { [unowned host] (name: String, arguments: LuaVariadic<LuaValue>) in
            let path = PathText.absolute(name, from: try TestModule.scene(host).scripts)
            let bytes: [UInt8]
            do throws(FileError) { bytes = try host.fence.layer.contents(of: path, limit: 256 << 20) } catch {
                throw LuaError(.runtime, error.message)
            }
            let table = host.state.makeTable(array: arguments.values.count, fields: 1)
            table[0] = .text(path)
            for (index, argument) in arguments.values.enumerated() { table[index + 1] = argument }
            host.state.globals["arg"] = .table(table)
            host.sources.remember(String(decoding: bytes, as: UTF8.self), as: path)
            let chunk = try host.state.load(ScriptHost.withoutShebang(bytes), name: "@" + path)
            return LuaVariadic(try chunk.call(arguments: arguments.values))
        }
    }
}
