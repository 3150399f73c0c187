import Lua
import Scripting
import Testing

@testable import REPL

@Suite("Profiles") struct ProfileTests {
    private static func call(_ name: String?, _ line: Int = 1, definedAt: Int = 1, native: Bool = false)
        -> LuaActiveCall
    {
        LuaActiveCall(
            .init(name: name, source: native ? "[C]" : "a.lua", line: native ? 0 : definedAt, isNative: native),
            line: native ? 0 : line)
    }

    @Test("time is added to each caller once, to the innermost call's line, and a recursion is one call")
    func tree() {
        var profile = Profile()
        let main = Self.call(nil, 20, definedAt: 0)
        profile.add(1, in: [main, Self.call("f", 3), Self.call("f", 2), Self.call("f", 4)])
        profile.add(2, in: [main, Self.call("f", 3), Self.call("sort", native: true)])
        profile.add(4, in: [main])
        profile.add(8, in: [])
        #expect(profile.seconds == 15)
        #expect(profile.nodes.map(\.total) == [15, 7, 3, 2])
        #expect(profile.nodes.map(\.own) == [8, 4, 1, 2])
        #expect(profile.nodes[2].lines == [4: 1])
        #expect(profile.samples == 4)
    }

    @Test("the report has the longest call first, the costly lines with their text, and nothing below a hundredth")
    func report() {
        var profile = Profile()
        let sources = SourceTexts()
        sources.remember("one\n  two()\nthree\u{1B}[0m", as: "a.lua")
        let main = Self.call(nil, 2, definedAt: 0)
        profile.add(0.2, in: [main, Self.call("short", 3)])
        profile.add(0.7, in: [main, Self.call("long", 2), Self.call("sort", native: true)])
        profile.add(0.1, in: [main])
        profile.add(0.0001, in: [main, Self.call("rare", 2)])
        let text = ProfileReport(profile: profile, sources: sources, columns: 60).text
        #expect(
            text == """
                1.0 s, 4 samples
                 1.0 s  100 %  a.lua
                100 ms   10 %  · line 2  two()
                700 ms   70 %  ├ long  a.lua:1
                700 ms   70 %  │ └ sort  (native)
                200 ms   20 %  └ short  a.lua:1
                200 ms   20 %    · line 3  three\\27[0m

                """)
        let narrow = ProfileReport(profile: profile, sources: sources, columns: 24).text
        let lines: [Substring] = narrow.split(separator: "\n")
        for line in lines.dropFirst() { #expect(line.count <= 24) }
    }

    @Test(
        "an entry's calls are found: Lua's, native ones, those in coroutines and timers, and waits",
        arguments: [
            (
                "local function busy() local s = 0 for i = 1, 4e6 do s = s + i % 7 end return s end busy()", "busy",
                false
            ),
            ("local t = {} for i = 1, 60000 do t[i] = i * 7919 % 60013 end table.sort(t) ", "sort", true),
            ("local co = coroutine.wrap(function() for i = 1, 4e6 do end end) co()", "co", true),
            ("timer.sleep(0.05)", "sleep", true),
            ("table.sort({ 2, 1 }, function(a, b) timer.sleep(0.05) return a < b end)", "sleep", true),
        ])
    func entries(script: String, name: String, isNative: Bool) throws {
        let test = try TestHost()
        var result: Result<[LuaValue], LuaError>?
        let profiler = try #require(Profiler(test.host))
        #expect(Profiler(test.host) == nil)
        result = test.evaluator.evaluate(script)
        let profile = profiler.end()
        #expect(throws: Never.self) { try result?.get() }
        let found = profile.nodes.filter { $0.function?.name == name && $0.function?.isNative == isNative }
        #expect(!found.isEmpty, "\(profile.nodes.map { $0.function?.name ?? "-" })")
        if name == "sleep" { #expect(found.reduce(0) { $0 + $1.total } >= 0.04) }
        #expect(test.host.state.sampler == nil)
    }

    @Test(
        "durations have three digits",
        arguments: [
            (1.0, "1.00 s"), (12.34, "12.3 s"), (123.4, "123 s"), (0.0123456, "12.3 ms"), (1.2649e-6, "1.26 µs"),
            (9.999e-6, "10.0 µs"), (0.99999, "1.00 s"), (4.2e-8, "42.0 ns"), (0, "0.00 ns"), (9.5e-10, "0.95 ns"),
        ])
    func durations(seconds: Double, text: String) { #expect(Benchmark.text(seconds) == text) }

    @Test("a benchmark's loop runs an entry so often, and gives its error")
    func loop() throws {
        let test = try TestHost()
        try test.enter("count = 0")
        let function = try test.host.state.load(Array("count = count + 1".utf8), name: "=:bench")
        _ = try test.host.run(try Benchmark.loop(function, runs: 70, on: test.host)).get()
        #expect(try test.enter("count") == "70\n")
        let failing = try test.host.state.load(Array("error('refused')".utf8), name: "=:bench")
        let loop = try Benchmark.loop(failing, runs: 1, on: test.host)
        #expect(throws: LuaError.self) { try test.host.run(loop).get() }
    }

    @Test(
        "rounds grow until they are long enough; a long entry has few",
        arguments: [(1e-6, 7, 100_000...200_000), (0.004, 7, 30...80), (0.2, 7, 1...1), (0.7, 3, 1...1), (9, 1, 1...1)])
    func rounds(seconds: Double, count: Int, runs: ClosedRange<Int>) {
        var benchmark = Benchmark()
        var all: [Int] = []
        while let next = benchmark.next, all.count < 40 {
            all.append(next)
            benchmark.add(seconds * Double(next))
        }
        #expect(runs.contains(all.last ?? 0))
        #expect(all.count { $0 == all.last } == count)
        #expect(benchmark.text.hasPrefix(Benchmark.text(seconds)))
    }
}
