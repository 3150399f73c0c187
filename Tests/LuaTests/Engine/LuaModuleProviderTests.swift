import Foundation
import Lua
import Synchronization
import TestSupport
import Testing

/// `require` of an engine: the modules that the host gives.
@Suite("Modules of the host")
struct LuaModuleProviderTests {
    struct NoConnection: Error, CustomStringConvertible {
        var description: String { "no connection" }
    }

    /// An engine with modules by name, and a provider of further ones.
    private static func make() async throws -> LuaEngine {
        let engine = try await LuaEngine(limits: LuaLimits(memory: 8 << 20)) { _ in }
        try await engine.register(modules: [
            "tax": LuaChunk(
                "local name, origin = ... runs = (runs or 0) + 1 return { name, origin }", name: "@tax.lua"),
            "shop.prices": LuaChunk("local tax = require 'tax' return { lamp = 40, of = tax[1] }", name: "=prices"),
        ])
        try await engine.register { name in
            switch name {
            case "slow":
                await Task.yield()
                return try LuaChunk("return 'slow but sure'", name: "@slow.lua")
            case "wrong": return try LuaChunk("return return", name: "@wrong.lua")
            case "failing": return try LuaChunk("local x = 1\nerror('boom')", name: "@failing.lua")
            case "quiet": return try LuaChunk("loads = (loads or 0) + 1")
            case "unreachable": throw NoConnection()
            case "own": return try LuaChunk("return require 'own'", name: "=own")
            case "cycle": return try LuaChunk("return require 'back'", name: "=cycle")
            case "back": return try LuaChunk("local forth = require 'cycle' return forth", name: "=back")
            default: return nil
            }
        }
        return engine
    }

    private static func message(_ script: String, in engine: LuaEngine) async -> String {
        do {
            try await engine.run(script)
            return "no error"
        } catch { return error.message }
    }

    @Test("are run once in each environment, with its globals, their name and their origin")
    func environments() async throws {
        let early = try await LuaEngine()
        let before: [LuaEnvironment?] = [nil, try await early.makeEnvironment()]
        try await early.run("mine = 1")
        try await early.register(modules: ["tax": LuaChunk("return { rate = 0.25 }")])
        for environment in before {
            #expect(try await early.run("return require('tax').rate", as: Double.self, in: environment) == 0.25)
        }
        let engine = try await Self.make()
        for environment in [nil, try await engine.makeEnvironment(), try await engine.makeEnvironment()] {
            let script = """
                local tax, origin = require "tax"
                local again = select("#", require "tax")
                return require("shop.prices").of, tax[2], origin, again, runs, tax == require "tax"
                """
            let (name, given, origin, again, runs, isSame) = try await engine.run(
                script, as: (String, String, String, Int, Int, Bool).self, in: environment)
            #expect(name == "tax" && given == "tax.lua" && origin == "tax.lua" && again == 1 && runs == 1 && isSame)
            try await engine.run("require('tax')[1] = 'changed'", in: environment)
        }
    }

    @Test("come from the provider after those by name, and their values are kept as in Lua")
    func provider() async throws {
        let engine = try await Self.make()
        #expect(try await engine.run("return require 'slow'", as: String.self) == "slow but sure")
        let quiet = "local first = require 'quiet' return first, require 'quiet', loads"
        let (first, second, loads) = try await engine.run(quiet, as: (Bool, Bool, Int).self)
        #expect(first && second && loads == 1)
        #expect(try await engine.run("return require 'string' == string and require 'math' == math", as: Bool.self))
        try await engine.register("shop.open") { () -> Bool in true }
        #expect(try await engine.run("return require('shop').open()", as: Bool.self))
        // In a place where Lua cannot yield, the engine's thread waits.
        let sorting = "local t = { 2, 1 } table.sort(t, function(a, b) return require 'slow' and a < b end) return t[1]"
        let other = try await engine.makeEnvironment()
        #expect(try await engine.run(sorting, as: Int.self, in: other) == 1)
        try await engine.register(modules: ["slow": LuaChunk("return 'fast'")])
        try await engine.register { _ in nil }
        #expect(try await engine.run("return require 'slow'", as: String.self) == "slow but sure")
        let later = try await engine.makeEnvironment()
        #expect(try await engine.run("return require 'slow'", as: String.self, in: later) == "fast")
        #expect(try await engine.run("return pcall(require, 'quiet')", as: Bool.self, in: later) == false)
    }

    @Test("raise Lua's errors at the line of the call, and leave nothing half loaded")
    func errors() async throws {
        let engine = try await Self.make()
        let start = "local x = 1\n"
        let cases = [
            ("require 'missing'", "script:2: module 'missing' not found"),
            ("require '../../etc/passwd'", "script:2: module '../../etc/passwd' not found"),
            ("require(12)", "script:2: module '12' not found"),
            ("require '\\xFF'", "script:2: module '\\xff' not found"),
            ("require()", "script:2: bad argument #1 to 'require' (string expected, got no value)"),
            ("require({})", "script:2: bad argument #1 to 'require' (string expected, got table)"),
            (
                "require 'wrong'",
                "script:2: error loading module 'wrong':\n\twrong.lua:1: unexpected symbol near 'return'"
            ),
            ("require 'unreachable'", "script:2: error loading module 'unreachable':\n\tno connection"),
            ("require 'failing'", "failing.lua:2: boom"),
            ("require 'own'", "script:2: module 'own' requires itself, by way of what it requires"),
            ("require 'cycle'", "back:1: module 'cycle' requires itself, by way of what it requires"),
        ]
        for _ in 0..<2 {
            for (script, message) in cases {
                #expect(await Self.message(start + script, in: engine) == message)
                let caught = try await engine.run(
                    "local _, reason = pcall(function() \(script) end) return reason", as: String.self)
                #expect(!caught.isEmpty)
            }
        }
        let long = await Self.message("require(('x'):rep(100000))", in: engine)
        #expect(long.hasSuffix("' not found") && long.utf8.count < 300)
        let unreachable = await #expect(throws: LuaError.self) { try await engine.run("require 'unreachable'") }
        #expect(unreachable?.underlying is NoConnection && unreachable?.kind == .runtime)
        let wrong = await #expect(throws: LuaError.self) { try await engine.run("require 'wrong'") }
        #expect((wrong?.underlying as? LuaError)?.kind == .syntax(incomplete: false))
    }

    @Test("are not there without modules of the host, and a function of that name is the host's")
    func without() async throws {
        let engine = try await LuaEngine()
        #expect(try await engine.run("return require == nil and package == nil", as: Bool.self))
        try await engine.register("require") { (name: String) -> String in name + "!" }
        #expect(try await engine.run("return require 'a'", as: String.self) == "a!")
        try await engine.register(modules: ["a": LuaChunk("return 'module'")])
        let environment = try await engine.makeEnvironment()
        for environment in [nil, environment] {
            #expect(try await engine.run("return require 'a'", as: String.self, in: environment) == "module")
        }
        try await engine.register("require") { (name: String) -> String in name + "?" }
        for environment in [nil, environment, try await engine.makeEnvironment()] {
            #expect(try await engine.run("return require 'a'", as: String.self, in: environment) == "a?")
        }
    }

    @Test("have the memory and the time of the run that requires them")
    func limits() async throws {
        let watchdog = Watchdog("limits", needsTasks: true)
        defer { watchdog.done() }
        let engine = try await Self.make()
        try await engine.register(modules: [
            "large": LuaChunk("return '" + String(repeating: "x", count: 16 << 20) + "'"),
            "endless": LuaChunk("while true do pcall(error) end", name: "=endless"),
        ])
        let large = await #expect(throws: LuaError.self) { try await engine.run("require 'large'") }
        #expect(large?.kind == .memory)
        #expect(large?.message.hasPrefix("script:1: error loading module 'large':\n\tnot enough memory") == true)
        let endless = await #expect(throws: LuaError.self) {
            try await engine.run("pcall(require, 'endless')", timeLimit: .milliseconds(20))
        }
        #expect(endless?.kind == .deadline)
        let (asked, asks) = AsyncStream.makeStream(of: Void.self)
        try await engine.register { _ in
            asks.yield()
            try await Task.sleep(for: .seconds(3600))
            return nil
        }
        let cancelled = Task { try await engine.run("pcall(require, 'late')") }
        for await _ in asked { break }
        cancelled.cancel()
        let stopped = await #expect(throws: LuaError.self) { try await cancelled.value }
        #expect(stopped?.kind == .cancelled)
        let late = await #expect(throws: LuaError.self) {
            try await engine.run("pcall(require, 'late')", timeLimit: .milliseconds(200))
        }
        #expect(late?.kind == .deadline && late?.message.contains("(environment)") == false)
        #expect(try await engine.run("return require('shop.prices').lamp", as: Int.self) == 40)
    }

    @Test("may wait while they are loaded: another run loads them for itself, and the first value stays")
    func concurrent() async throws {
        let watchdog = Watchdog("concurrent", needsTasks: true)
        defer { watchdog.done() }
        let engine = try await LuaEngine()
        let (begun, begins) = AsyncStream.makeStream(of: Void.self)
        let (ended, ends) = AsyncStream.makeStream(of: Void.self)
        let calls = Mutex(0)
        try await engine.register("pause") { () async -> Int in
            let number = calls.withLock { calls in
                calls += 1
                return calls
            }
            guard number == 1 else { return number }
            begins.yield()
            for await _ in ended { break }
            return number
        }
        try await engine.register(modules: ["waiting": LuaChunk("return { pause() }")])
        let first = Task { try await engine.run("return require('waiting')[1]", as: Int.self) }
        for await _ in begun { break }
        #expect(try await engine.run("return require('waiting')[1]", as: Int.self) == 2)
        ends.yield()
        #expect(try await first.value == 2)
        #expect(try await engine.run("return require('waiting')[1]", as: Int.self) == 2)
    }

    @Test("go with their environments")
    func released() async throws {
        let engine = try await LuaEngine(limits: LuaLimits(memory: 16 << 20))
        try await engine.register(modules: ["big": LuaChunk("return { text = ('x'):rep(1 << 20) }")])
        for _ in 0..<40 {
            let environment = try await engine.makeEnvironment()
            #expect(try await engine.run("return #require('big').text", as: Int.self, in: environment) == 1 << 20)
        }
    }
}
