internal import CLuaShim

/// A chunk of Lua that is compiled once, and run in any environment of any ``LuaEngine``.
///
/// ```swift
/// let discount = try LuaChunk("return order.total * 0.9", name: "@discount.lua")
/// let total = try await engine.run(discount, as: Double.self, in: environment)
/// ```
///
/// It is made from text alone, and neither leaves the process nor comes from outside: Lua does not verify bytecode. Its
/// errors have the names and lines of its text.
public struct LuaChunk: Sendable {
    /// The chunk's name, in Lua's notation.
    let name: String
    /// Bytecode of this process's Lua.
    fileprivate let code: [UInt8]

    /// Compiles a chunk, in time and memory in proportion to its text.
    ///
    /// - Parameters:
    ///   - source: Lua text; bytecode is refused.
    ///   - name: the chunk's name in errors, in Lua's notation: `@` before a file's name, `=` before a literal name.
    /// - Throws: ``LuaError`` of kind `syntax`, or `memory`.
    public init(_ source: String, name: String = "=script") throws(LuaError) {
        let state = try LuaState()
        self.name = name
        code = try state.load(source.utf8, name: name).code()
    }

    /// The name as a module's origin: without Lua's mark.
    var origin: String { name.hasPrefix("@") || name.hasPrefix("=") ? String(name.dropFirst()) : name }
}

extension LuaFunction {
    /// The bytecode of a function without variables of its surroundings.
    fileprivate func code() throws(LuaError) -> [UInt8] {
        let L = try state.enter(capacity: 2)
        var code: [UInt8] = []
        state.push(reference, on: L)
        defer { clua_settop(L, -2) }
        withUnsafeMutablePointer(to: &code) { code in
            clua_dump(
                L,
                { code, bytes, count in
                    guard let code else { return }
                    code.assumingMemoryBound(to: [UInt8].self).pointee
                        .append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
                }, code)
        }
        return code
    }
}

extension LuaState {
    /// A compiled chunk as a function, not yet called.
    ///
    /// - Parameters:
    ///   - chunk: the chunk.
    ///   - environment: the table of its globals.
    /// - Returns: a new function.
    /// - Throws: an error of kind `memory`.
    func load(_ chunk: LuaChunk, environment: LuaTable) throws(LuaError) -> LuaFunction {
        let L = try enter(capacity: 4)
        let base = clua_gettop(L)
        let status = chunk.code.withUnsafeBytes { clua_load_dumped(L, $0.baseAddress, $0.count) }
        return try loaded(status, chunk.name, environment, on: L, above: base)
    }
}

/// Runs of compiled chunks.
extension LuaEngine {
    /// Runs a compiled chunk and decodes its first result.
    ///
    /// - Parameters:
    ///   - chunk: the chunk; no run changes it.
    ///   - type: the result's type, converted by ``LuaDecoder``.
    ///   - environment: the globals; nil for the engine's own, which persist between runs.
    ///   - timeLimit: the time after which the script is stopped, including waits; nil for none.
    ///   - deadline: the moment at which it is stopped, or after which it is not begun; nil for none.
    ///   - limits: limits of the whole engine's memory, and of this run's output and call depth; nil for the engine's.
    ///   - output: receives this run's output; nil for the engine's.
    ///   - scope: names that this chunk alone has, taken back when the run ends; nil for none.
    ///   - usage: called with what the run used, once, when it has ended or failed. Its `LuaError` has it, too.
    /// - Returns: the first result.
    /// - Throws: as for a text, without errors of kind `syntax`.
    public nonisolated(nonsending) func run<T: Decodable & Sendable>(
        _ chunk: LuaChunk, as type: T.Type, in environment: LuaEnvironment? = nil, timeLimit: Duration? = nil,
        deadline: ContinuousClock.Instant? = nil, limits: LuaLimits? = nil, output: Output? = nil,
        scope: LuaScope? = nil, usage: ((LuaUsage) -> Void)? = nil
    ) async throws -> T {
        let options = RunOptions(timeLimit: timeLimit, deadline: deadline, limits: limits, output: output, scope: scope)
        return try await run(options, usage, decoding: { try LuaDecoder().decode(type, from: $0.first ?? .nil) }) {
            session in
            try session.start(chunk, in: environment)
        }
    }

    /// Runs a compiled chunk and decodes its results, as many as the types.
    ///
    /// - Parameters:
    ///   - chunk: the chunk; no run changes it.
    ///   - types: two or more types, converted by ``LuaDecoder``. One that may be missing is optional, and its result nil.
    ///   - environment: the globals; nil for the engine's own, which persist between runs.
    ///   - timeLimit: the time after which the script is stopped, including waits; nil for none.
    ///   - deadline: the moment at which it is stopped, or after which it is not begun; nil for none.
    ///   - limits: limits of the whole engine's memory, and of this run's output and call depth; nil for the engine's.
    ///   - output: receives this run's output; nil for the engine's.
    ///   - scope: names that this chunk alone has, taken back when the run ends; nil for none.
    ///   - usage: called with what the run used, once, when it has ended or failed. Its `LuaError` has it, too.
    /// - Returns: the results.
    /// - Throws: as for a text, without errors of kind `syntax`.
    public nonisolated(nonsending) func run<
        First: Decodable & Sendable, Second: Decodable & Sendable, each Other: Decodable & Sendable
    >(
        _ chunk: LuaChunk, as types: (First, Second, repeat each Other).Type, in environment: LuaEnvironment? = nil,
        timeLimit: Duration? = nil, deadline: ContinuousClock.Instant? = nil, limits: LuaLimits? = nil,
        output: Output? = nil, scope: LuaScope? = nil,
        usage: ((LuaUsage) -> Void)? = nil
    ) async throws -> (First, Second, repeat each Other) {
        let options = RunOptions(timeLimit: timeLimit, deadline: deadline, limits: limits, output: output, scope: scope)
        return try await run(options, usage, as: types) { session in try session.start(chunk, in: environment) }
    }

    /// Runs a compiled chunk and ignores its results.
    ///
    /// - Parameters:
    ///   - chunk: the chunk; no run changes it.
    ///   - environment: the globals; nil for the engine's own, which persist between runs.
    ///   - timeLimit: the time after which the script is stopped, including waits; nil for none.
    ///   - deadline: the moment at which it is stopped, or after which it is not begun; nil for none.
    ///   - limits: limits of the whole engine's memory, and of this run's output and call depth; nil for the engine's.
    ///   - output: receives this run's output; nil for the engine's.
    ///   - scope: names that this chunk alone has, taken back when the run ends; nil for none.
    ///   - usage: called with what the run used, once, when it has ended or failed. Its `LuaError` has it, too.
    /// - Throws: ``LuaError``, as above.
    public nonisolated(nonsending) func run(
        _ chunk: LuaChunk, in environment: LuaEnvironment? = nil, timeLimit: Duration? = nil,
        deadline: ContinuousClock.Instant? = nil, limits: LuaLimits? = nil,
        output: Output? = nil, scope: LuaScope? = nil,
        usage: ((LuaUsage) -> Void)? = nil
    ) async throws(LuaError) {
        let options = RunOptions(timeLimit: timeLimit, deadline: deadline, limits: limits, output: output, scope: scope)
        do {
            try await run(options, usage, decoding: { _ in }) { session in try session.start(chunk, in: environment) }
        } catch { throw LuaError(error) }
    }
}
