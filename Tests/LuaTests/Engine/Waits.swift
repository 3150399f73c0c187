import Foundation
import Lua
import Synchronization

/// Functions that wait, registered in an engine, and what the tests learn of them.
final class Waits: Sendable {
    struct Refusal: Error, CustomStringConvertible {
        var description: String { "refused" }
    }

    struct Page: Codable, Equatable, Sendable {
        var title: String
        var links: [Int]
    }

    let engine: LuaEngine
    /// Yields when a function that does not end by itself has begun.
    let begun: AsyncStream<Void>
    /// Yields when its task has been cancelled.
    let cancelled: AsyncStream<Void>
    private let began = Atomic<Bool>(false)
    var hasBegun: Bool { began.load(ordering: .acquiring) }
    private let notes = Mutex<[String]>([])

    var noted: [String] { notes.withLock { $0 } }

    init(limits: LuaLimits = LuaLimits(), libraries: LuaLibraries = .standard) async throws {
        engine = try await LuaEngine(libraries: libraries, limits: limits)
        let (begun, begins) = AsyncStream.makeStream(of: Void.self)
        let (cancelled, cancels) = AsyncStream.makeStream(of: Void.self)
        (self.begun, self.cancelled) = (begun, cancelled)
        try await engine.register("echo", ["value"]) { (value: Int) async -> Int in
            await Task.yield()
            return value
        }
        try await engine.register("refuse") { (_: Int?) async throws -> Int in throw Refusal() }
        try await engine.register("refuseText") { () async throws in throw LuaError(.runtime, "no text") }
        try await engine.register("page") { (page: Page, data: Data, note: String?) async -> Page in
            Page(title: page.title + (note ?? ""), links: page.links + [data.count])
        }
        // Ends when it is cancelled.
        try await engine.register("forever") { [weak self] () async throws in
            self?.began.store(true, ordering: .releasing)
            begins.yield()
            do { try await Task.sleep(for: .seconds(3600)) } catch {
                cancels.yield()
                throw error
            }
        }
        // Never ends.
        try await engine.register("stubborn") { [weak self] () async in
            self?.began.store(true, ordering: .releasing)
            begins.yield()
            await withTaskCancellationHandler {
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            } onCancel: {
                cancels.yield()
            }
        }
        try await engine.register("note") { [weak self] (text: String) in
            self?.notes.withLock { $0.append(text) }
        }
    }

    /// Scripts that wait in every kind of place, by the name of the function that they call.
    static let places: [(name: String, script: String)] = [
        ("the chunk", "F()"),
        ("pcall", "pcall(F)"),
        ("a loop of pcall", "while true do pcall(F) end"),
        ("xpcall", "xpcall(F, function(e) return e end)"),
        ("a coroutine", "coroutine.wrap(F)()"),
        ("three coroutines", "coroutine.wrap(function() coroutine.wrap(function() coroutine.wrap(F)() end)() end)()"),
        ("coroutine.resume", "while true do coroutine.resume(coroutine.create(function() pcall(F) end)) end"),
        ("an iterator", "for _ in coroutine.wrap(function() F() coroutine.yield(1) end) do end"),
        ("__index", "local x = setmetatable({}, {__index = function() F() end}).y"),
        ("__close", "do local x <close> = setmetatable({}, {__close = function() F() end}) end"),
        ("__close after an error", "local x <close> = setmetatable({}, {__close = function() F() end}) error('x')"),
        ("a comparison", "table.sort({3, 2, 1}, function(a, b) F() return a < b end)"),
        ("a pattern's function", "pcall(string.gsub, 'abc', '.', function() F() end)"),
        ("a comparison in a coroutine", "coroutine.wrap(function() table.sort({2, 1}, function() F() end) end)()"),
        ("a coroutine in a comparison", "table.sort({2, 1}, function() coroutine.wrap(F)() end)"),
        ("__tostring", "tostring(setmetatable({}, {__tostring = function() F() return '' end}))"),
        (
            "closing a coroutine",
            "local c = coroutine.create(function() local x <close> = setmetatable({}, {__close = function() F() end}) "
                + "coroutine.yield() end) coroutine.resume(c) coroutine.close(c)"
        ),
    ]
}
