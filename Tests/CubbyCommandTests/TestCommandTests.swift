import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// `cubby test`: files with tests, each test in a host of its own.
@Suite("cubby test")
struct TestCommandTests {
    let program: Program

    init() throws { program = try Program() }

    /// Writes a file with tests, and runs it.
    private func run(_ text: String, _ options: [String] = [], name: String = "a_test.lua") throws -> ProcessOutput {
        try program.scratch.write(text, to: "tests-here/\(name)")
        return try program(["test"] + options + ["tests-here"], directory: program.scratch.path)
    }

    /// Expects that all tests of a file pass.
    private func pass(
        _ text: String, _ options: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let output = try run(text, options)
        #expect(output.status == .exited(0), "\(output.stdout)\(output.stderr)", sourceLocation: sourceLocation)
        #expect(output.stdout.contains(" passed in "), sourceLocation: sourceLocation)
    }

    @Test("a test that eats memory fails, and the others run")
    func memory() throws {
        let tests = """
            test("greedy", function() local t = {} for i = 1, 1e9 do t[i] = ("x"):rep(1000) .. i end end)
            test("modest", function() end)
            """
        let output = try run(tests, ["--memory-limit", "32"])
        #expect(output.status == .exited(1) && output.stdout.contains("not enough memory"), "\(output.stdout)")
        #expect(output.stdout.contains("1 passed, 1 failed"))
    }

    @Test("tests pass, fail and are left out; the status and the count say so")
    func outcomes() throws {
        let output = try run(
            """
            test("one", function() expect(1 + 1):equals(2) end)
            test.group("group", function()
              test("two", function()
                print("shown")
                expect({ name = "Lamp", tags = { 1, 2 } }):equals{ name = "Lump", tags = { 1, 3 } }
              end)
              test.skip("three", function() error("never") end)
            end)
            test("four", function() skip("no network") end)
            test("five", function() error("broken") end)
            """)
        #expect(output.status == .exited(1))
        let lines = output.stdout.split(separator: "\n").map(String.init)
        #expect(lines.first == "tests-here/a_test.lua")
        #expect(lines.contains("  ok    one"))
        #expect(lines.contains("  FAIL  group › two"))
        #expect(output.stdout.contains("tests-here/a_test.lua:5: the values differ:"))
        #expect(output.stdout.contains(".name: expected \"Lump\", got \"Lamp\""))
        #expect(output.stdout.contains(".tags[2]: expected 3, got 2"))
        #expect(output.stdout.contains("          shown"))
        #expect(lines.contains("  skip  group › three: left out"))
        #expect(lines.contains("  skip  four: no network"))
        #expect(output.stdout.contains("a_test.lua:10: broken"))
        #expect(lines.last?.hasPrefix("1 passed, 2 failed, 2 skipped in ") == true)
    }

    @Test("nothing is shared by tests: items, hooks, globals and modules are those of a new launch")
    func isolation() throws {
        try program.scratch.write(
            "local count = 0 return function() count = count + 1 return count end", to: "tests-here/counter.lua")
        try pass(
            """
            local counter = require "counter"
            calls = 0
            app:on("didEnterBackground", function() calls = calls + 1 end)
            for _, name in ipairs{ "first", "second" } do
              test(name, function()
                expect(#items):equals(0)
                items:createItem{ name = name }
                app:pressHome()
                expect(calls):equals(1)
                expect(counter()):equals(1)
                expect(#app:hooks()).isNot:equals(0)
              end)
            end
            """)
    }

    @Test("before and after run around each test of their groups, from the outside to the inside")
    func around() throws {
        let output = try run(
            """
            test.before(function() print("outer before") end)
            test.after(function() print("outer after") end)
            test.group("g", function()
              test.before(function() print("inner before") end)
              test.after(function() print("inner after") end)
              test("t", function() print("body") error("to see it") end)
            end)
            """)
        #expect(output.status == .exited(1))
        let printed = output.stdout.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        let start = printed.firstIndex(of: "printed:") ?? 0
        #expect(
            printed[(start + 1)...].prefix(5)
                == ["outer before", "inner before", "body", "inner after", "outer after"])
    }

    @Test("expectations hold, and their opposites do not")
    func expectations() throws {
        try pass(
            """
            test("equal", function()
              expect(1):equals(1.0)
              expect(0/0):equals(0/0)
              expect({ 1, { a = "b" } }):equals{ 1, { a = "b" } }
              expect({ 1 }).isNot:equals{ 1, 2 }
              expect(date("2026-01-01")):equals(date("2026-01-01"))
              expect(data("ab")):equals(data("ab"))
              expect(data("ab")).isNot:equals(data("ac"))
              local lamp = items:createItem{ name = "Lamp", tags = { "a", "b" } }
              expect(lamp):equals(items[1])
              expect(lamp.tags):equals{ "a", "b" }
              expect(lamp):has{ name = "Lamp", tags = { "a", "b" } }
              expect(lamp).isNot:equals(lamp:copy())
              local knot = {} knot.self = knot
              local other = {} other.self = other
              expect(knot):equals(other)
            end)
            test("archived", function()
              local Foo = archiver.class("Foo", { secure = true })
              function Foo:encode(coder) coder:encodeObject(self.name, "name") end
              function Foo:init(coder) self.name = coder:decodeObject("name") end
              local bytes = assert(archiver.archivedData(Foo{ name = "James" }))
              expect(archiver.unarchivedObject({ Foo, "NSString" }, bytes)):equals(Foo{ name = "James" })
              expect(Foo{ name = "James" }).isNot:equals(Foo{ name = "Jim" })
              expect(assert(archiver.open(bytes)).root):has{ name = "James" }
            end)
            test("matching", function()
              expect("12 files"):matches("^%d+ files$")
              expect("f(x)"):matches("f(x)")
              expect("a").isNot:matches("b")
              expect(function() error("no room") end):raises("no room")
              expect(function() items:createItem{ [1] = 2 } end):raises("a field's name is text")
              expect(function() end).isNot:raises() expect(nil):equals(nil)
              expect(function() expect(1):equals(2) end):raises("expected 2, got 1")
              expect(true):isTrue() expect(false):isFalse() expect(nil):isNil() expect(1).isNot:isTrue()
              expect(0.1 + 0.2):isNear(0.3) expect(math.huge):isNear(math.huge) expect("a[b"):matches("[")
            end)
            """)
    }

    @Test(
        "a failed expectation says what it found",
        arguments: [
            ("expect(1):equals(2)", "expected 2, got 1"),
            ("expect(nil):equals(2)", "expected 2, got nil"),
            ("expect('a'):isNil()", "expected nil, got \"a\""),
            ("expect(5):isTrue()", "expected true, got 5"),
            ("expect({ a = 1 }):equals{ a = 1, b = 2 }", ".b: expected 2, got nothing"),
            ("expect({ a = 1, c = 3 }):equals{ a = 1 }", ".c: expected nothing, got 3"),
            ("expect('Lamp'):matches('^Lump')", "no match in \"Lamp\", for the pattern \"^Lump\""),
            ("expect('x').isNot:matches('[')", "malformed pattern (missing ']'): \"[\", which does not occur in \"x\""),
            ("expect(nil):equals()", "value expected, got none"),
            ("expect(function() end):raises('room')", "an error was expected, and there was none"),
            ("expect(function() error('a', 0) end):raises('b')", "the error \"a\" has no match for \"b\""),
            ("expect(1).isNot:equals(1)", "expected another value than 1"),
            ("expect(('x'):rep(80) .. 'a'):equals(('x'):rep(80) .. 'b')", "differ from byte 81, line 1"),
            (
                "expect(date('2026-01-01')):equals(date('2026-01-02'))",
                "expected 2026-01-02 00:00:00 +0000, got 2026-01-01"
            ),
            ("pcall(function() expect(1):equals(2) end)", "its error was caught:"),
            ("expect(5):raises('x')", "raises needs a function"),
            ("expect(fs.read('/none')):equals('text')", "got nil (cannot open /none: it is outside the sandbox"),
            ("test('inner', function() end)", "not within a test that runs"),
            ("fault.save('full')", "fault.save(\"full\") was set, and no save came"),
            ("app:terminate(3)", "the application ended with the status 3 before the test was over"),
            ("while true do end", "time is up: the limit is 0.5 s"),
            ("app:run()", "time is up: the limit is 0.5 s"),
        ])
    func failures(body: String, expected: String) throws {
        let output = try run("test('fails', function() \(body) end)", ["--time-limit", "0.5"])
        #expect(output.status == .exited(1), "\(output.stdout)")
        #expect(output.stdout.contains(expected), "\(output.stdout)")
    }

    @Test("the clock stands, and moves without waiting: timers, dates, os.time, budgets and daily timers follow")
    func clock() throws {
        try pass(
            """
            test("stands", function()
              local start, seconds = date(), os.time()
              clock:advance(3600)
              expect(date() - start):equals(3600)
              expect(os.time() - seconds):equals(3600)
              clock:set(date("2026-11-21T04:13:00Z"))
              expect(date()):equals(date("2026-11-21T04:13:00Z"))
              expect(os.date("!%Y-%m-%d %H:%M")):equals("2026-11-21 04:13")
              expect(items:createItem{ name = "Lamp" }.dateCreated):equals(date())
            end)
            test("timers", function()
              local times, start = {}, date()
              timer.every(60, function() times[#times + 1] = date() - start end)
              timer.after(90, function() times[#times + 1] = "once" end)
              clock:advance(59.999)
              expect(times):equals{}
              clock:advance(180.001)
              expect(times):equals{ 60, "once", 120, 180, 240 }
            end)
            test("waits", function()
              local start = date()
              timer.sleep(7200)
              expect(date() - start):equals(7200)
            end)
            test("daily", function()
              clock:set("2026-11-21T02:29:00Z")
              local days = {}
              timer.at("02:30", "UTC", function() days[#days + 1] = date():format("yyyy-MM-dd HH:mm") end)
              clock:advance(3 * 86400)
              expect(days):equals{ "2026-11-21 02:30", "2026-11-22 02:30", "2026-11-23 02:30" }
            end)
            test("budgets", function()
              app:on("didEnterBackground", { id = "slow" }, function() clock:advance(3) for _ = 1, 1e6 do end end)
              app:on("didEnterBackground", function() timer.sleep(60) end)
              app:pressHome()
              expect(#app:errors()):equals(2)
              expect(app:errors()[1].message):matches("time is up")
            end)
            """)
    }

    @Test("programs are replaced, with their output, their status and their input")
    func programs() throws {
        try pass(
            """
            test("replaced", function()
              local got
              replace.program("tar", function(arguments) got = arguments return "12 files\\n", 3 end)
              local file = io.popen("tar -cf 'a b.tar' c")
              expect(file:read("a")):equals("12 files\\n")
              expect({ file:close() }):equals({ nil, "exit", 3 })
              expect(got):equals{ "-cf", "a b.tar", "c" }
              expect({ os.execute("tar x") }):equals({ nil, "exit", 3 })
              expect(test.output()):equals("12 files\\n")
              replace.program("true", function() end)
              expect(os.execute("true > /dev/null")):isTrue()
              expect(pcall(os.execute, "false")):isFalse()
            end)
            test("input", function()
              local read
              replace.program("mail", function(arguments, input) read = input end)
              local pipe = assert(io.popen("mail me", "w"))
              pipe:write("Subject: ", "done\\n")
              expect(read()):equals("Subject: done\\n")
              expect(pipe:close()):isTrue()
            end)
            """)
    }

    @Test("a save fails where a test says so; handlers see it, and the next one succeeds")
    func savesFail() throws {
        try pass(
            """
            local seen = {}
            app:on("didSave", function(event) seen[#seen + 1] = event.ok and "saved" or event.error end)
            test("fails", function()
              items:createItem{ name = "Lamp" }
              fault.save("disk full")
              app:pressHome()
              expect(#seen):equals(1)
              expect(seen[1]):matches("disk full")
              expect(test.log()):matches("Could not save any of the Items")
              app:open()
              app:pressHome()
              expect(seen[2]):equals("saved")
            end)
            test("returns", function()
              items:createItem{ name = "Lamp" }
              fault.save("disk full")
              local done, err = items:saveChanges()
              expect(done):isNil()
              expect(err.message):matches("disk full")
              expect((assert(items:saveChanges()))):isTrue()
            end)
            """)
    }

    @Test(
        "a kill at any step of a save loses nothing that was committed",
        arguments: ["write", "sync", "rename", "journal"])
    func kills(step: String) throws {
        try pass(
            """
            app:on("didSave", function() print("saved") end)
            test("killed", function()
              items:createItem{ name = "Lamp" }
              assert(items:saveChanges())
              items:createItem{ name = "Chair" }
              fault.kill("\(step)")
              app:pressHome()
              error("not reached")
            end, function(last)
              expect(last.killed):isTrue()
              expect(last.status):equals(137)
              expect(last.output):equals("saved\\n")
              expect(#items):equals(2)
              expect(items[2].name):equals("Chair")
              for _, name in ipairs(fs.list(app.container.documents)) do expect(name).isNot:matches("%.tmp$") end
              assert(items:saveChanges())
            end, function(last)
              expect(last.killed):isFalse()
              expect(#items):equals(2)
            end)
            """)
    }

    @Test("a later function is a launch after an orderly end, or after a script's own")
    func launches() throws {
        try program.scratch.write("print('job', ...) os.exit(2)", to: "tests-here/job.lua")
        try pass(
            """
            test("in order", function()
              app.restoration = { count = 5, start = date() }
              app:pressHome()
              clock:advance(100)
            end, function(last)
              expect(last.status):equals(0)
              expect(app.restoration.count):equals(5)
              expect(date() - app.restoration.start):equals(100)
            end)
            test("a job", function()
              test.run("job.lua", "a")
            end, function(last)
              expect(last.status):equals(2)
              expect(last.output):equals("job\\ta\\n")
            end)
            """)
    }

    @Test("a file may read beside it and write in the test's folder, and nothing else")
    func fence() throws {
        try program.scratch.write("secret", to: "secret.txt")
        try program.scratch.write("text", to: "tests-here/data.txt")
        try pass(
            """
            test("fence", function()
              expect(fs.read(test.path("data.txt"))):equals("text")
              expect(fs.read(test.path("../secret.txt"))):isNil()
              expect(fs.write(test.path("new.txt"), "x")):isNil()
              assert(fs.write(test.folder() .. "/new.txt", "x"))
              expect(fs.read(test.folder() .. "/new.txt")):equals("x")
              assert(app:backup(test.folder() .. "/backup"))
            end)
            """)
    }

    @Test("TAP has a line for each test, and the plan at its end")
    func tap() throws {
        let output = try run(
            """
            test("one", function() end)
            test("two #2", function() error("broken") end)
            test.skip("three")
            """, ["--format", "tap"])
        #expect(output.status == .exited(1))
        let lines = output.stdout.split(separator: "\n").map(String.init)
        #expect(lines.first == "TAP version 14")
        #expect(lines.contains("ok 1 - tests-here/a_test.lua: one"))
        #expect(lines.contains("not ok 2 - tests-here/a_test.lua: two \\#2"))
        #expect(lines.contains("  line: 2"))
        #expect(lines.contains("ok 3 - tests-here/a_test.lua: three # SKIP left out"))
        #expect(lines.last == "1..3")
    }

    @Test("JUnit's XML is well formed, whatever a test says")
    func junit() throws {
        let output = try run(
            """
            test("a < b & \\"c\\"", function() print("\\1]]>") error("broken <tag> \\2") end)
            test("fine", function() end)
            """, ["--format", "junit"])
        #expect(output.status == .exited(1))
        let script = """
            import sys, xml.etree.ElementTree as tree
            root = tree.parse(sys.stdin).getroot()
            print(*[each.tag for each in root.iter()])
            print(root.get("tests"), root.get("failures"), root.find(".//testcase").get("name"))
            print("broken <tag> " in root.find(".//failure").get("message"))
            """
        let read = try TestSupport.run("/usr/bin/python3", ["-c", script], input: output.stdout)
        #expect(
            read.stdout
                == "testsuites testsuite testcase failure system-out testcase\n2 1 a < b & \"c\"\nTrue\n",
            "\(read.stderr)\(output.stdout)")
    }

    @Test("a filter chooses by name; a seed orders the tests, the same for the same number")
    func choice() throws {
        let names = (1...20).map { "t\($0)" }
        let text = names.map { "test('\($0)', function() end)" }.joined(separator: "\n")
        let some = try run(text, ["--filter", "t1"])
        #expect(some.stdout.contains("11 passed"))
        #expect(!some.stdout.contains("t2\n"))
        let none = try run(text, ["--filter", "nothing like it"])
        #expect(none.status == .exited(64))
        #expect(none.stderr.contains("no test has 'nothing like it' in its name"))
        func order(_ seed: String) throws -> [String] {
            let output = try run(text, ["--seed", seed])
            #expect(output.stdout.contains(", seed \(seed)\n"))
            return output.stdout.split(separator: "\n").filter { $0.hasPrefix("  ok") }.map { String($0.dropFirst(8)) }
        }
        let first = try order("7")
        #expect(first != names && first.sorted() == names.sorted())
        #expect(try order("7") == first)
        #expect(try order("8") != first)
    }

    @Test("coverage counts the lines of scripts and modules that tests run, in a table and for lcov")
    func coverage() throws {
        try program.scratch.write(
            """
            local module = {}
            function module.half(n)
              if n % 2 == 0 then
                return n // 2
              end
              return nil
            end
            function module.unused()
              return 5
            end
            return module
            """, to: "tests-here/module.lua")
        let output = try run(
            """
            local module = require "module"
            test("half", function() expect(module.half(4)):equals(2) end)
            """, ["--coverage"])
        #expect(output.status == .exited(0), "\(output.stdout)")
        #expect(output.stdout.contains("  tests-here/module.lua\n"))
        let lcov = String(decoding: try program.scratch.read("lcov.info"), as: UTF8.self)
        let lines = lcov.split(separator: "\n").map(String.init)
        #expect(lines.first { $0.hasPrefix("SF:") }?.hasSuffix("/tests-here/module.lua") == true)
        #expect(lines.contains("DA:4,1") && lines.contains("DA:6,0") && lines.contains("DA:9,0"))
        #expect(lines.contains("DA:1,2"), "loaded to find the tests, and for the one: \(lcov)")
        #expect(lines.last == "end_of_record" && !lcov.contains("a_test.lua"))
    }

    @Test("files are found by their names, and in folders named tests, which reach the modules beside them")
    func finding() throws {
        for name in [
            "one_test.lua", "deeper/two_test.lua", "tests/three.lua", "tests/deeper/not.lua", "other.lua",
            ".hidden_test.lua",
        ] {
            try program.scratch.write("test('t', function() end)", to: "all/\(name)")
        }
        try program.scratch.write("return { answer = 42 }", to: "all/module.lua")
        try program.scratch.write(
            "test('t', function() expect(require('module').answer):equals(42) end)", to: "all/tests/three.lua")
        let output = try program(["test", "all"], directory: program.scratch.path)
        #expect(output.status == .exited(0), "\(output.stdout)")
        let files = output.stdout.split(separator: "\n").filter { !$0.hasPrefix(" ") }.dropLast()
        #expect(files == ["all/deeper/two_test.lua", "all/one_test.lua", "all/tests/three.lua"])
        #expect(try program(["test", "all/other.lua"], directory: program.scratch.path).status == .exited(0))
    }

    @Test("what cannot be run is an error of the command line, or a failure of its file")
    func refusals() throws {
        let folder = program.scratch.path
        #expect(try program(["test", "none"], directory: folder).status == .exited(64))
        #expect(try program(["test", "--format", "xml"], directory: folder).status == .exited(64))
        #expect(try program(["test", "--seed", "x"], directory: folder).status == .exited(64))
        try program.scratch.write("", to: "empty/script.lua")
        let empty = try program(["test", "empty"], directory: folder)
        #expect(empty.status == .exited(64))
        #expect(empty.stderr.contains("there are no tests in empty"))
        for (text, expected) in [
            ("test('a', function() end", "a_test.lua:1:"), ("error('no')", "a_test.lua:1: no"),
            ("test('a', function() end) test('a', function() end)", "there is a test 'a' already"),
            ("app:terminate()", "the application ended"), ("test('a')", "bad argument #2"),
        ] {
            let output = try run(text)
            #expect(output.status == .exited(1), "\(text)")
            #expect(output.stdout.contains("FAIL  the file is loaded"))
            #expect(output.stdout.contains(expected), "\(output.stdout)")
        }
    }

    @Test("only cubby test knows tests; init writes a first one, which passes")
    func elsewhere() throws {
        #expect(try program("-e", "return expect").status == .exited(1))
        let folder = program.scratch.file("scripts")
        #expect(try program("init", folder).stdout.contains("wrote \(folder)/first_test.lua\n"))
        #expect(try program(["test", "scripts"], directory: program.scratch.path).status == .exited(0))
        #expect(try program("init", folder).stdout.contains("kept \(folder)/first_test.lua\n"))
    }
}
