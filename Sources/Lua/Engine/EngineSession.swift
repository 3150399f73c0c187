/// An engine's state, and one run after the other in it. Used on the engine's thread alone once it is prepared.
final class EngineSession {
    let state: LuaState
    /// Stops all runs: the engine is shut down.
    let stop: StopFlag
    private let limits: LuaLimits
    private let makeGlobals: EnvironmentFactory
    /// The globals of runs without an environment, made at the first use.
    private var ownGlobals: LuaTable?
    private var isClosed = false

    init(libraries: LuaLibraries, limits: LuaLimits, output: LuaEngine.Output?) throws(LuaError) {
        state = try LuaState(limits: limits)
        stop = StopFlag(state.interrupter)
        self.limits = limits
        makeGlobals = try EnvironmentFactory(state, output: output)
        libraries.narrow(state.globals)
    }

    /// Throws when the engine is shut down.
    func check() throws(LuaError) {
        guard !stop.isSet, !isClosed else { throw Self.shutDown }
    }

    /// Closes the state. Idempotent.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        ownGlobals = nil
        state.close()
    }

    func makeEnvironment() throws(LuaError) -> LuaEnvironment {
        try check()
        return LuaEnvironment(reference: try makeGlobals().reference)
    }

    /// The globals of an environment; the engine's own for nil.
    func globals(of environment: LuaEnvironment?) throws(LuaError) -> LuaTable {
        try check()
        if let environment {
            guard environment.reference.releases === state.releases else {
                throw LuaError(.argument, "the environment is of another LuaEngine")
            }
            return LuaTable(state: state, reference: environment.reference)
        }
        if let ownGlobals { return ownGlobals }
        let globals = try makeGlobals()
        ownGlobals = globals
        return globals
    }

    /// Runs a chunk and returns its first result.
    func run(
        _ source: String, name: String, in environment: LuaEnvironment?, timeLimit: Duration?, limits: LuaLimits?,
        cancellation: StopFlag
    ) throws(LuaError) -> LuaValue {
        let globals = try globals(of: environment)
        state.apply(limits ?? self.limits)
        state.interruptHandler = { [stop] reasons in
            if stop.isSet { return .stop(Self.shutDown, depth: 1) }
            if cancellation.isSet { return .stop(Self.cancelled, depth: 1) }
            return reasons.contains(.deadline) ? .stop(LuaError(.deadline, "time is up"), depth: 1) : .goOn
        }
        defer {
            state.setDeadline(nil)
            state.interruptHandler = { _ in .goOn }
        }
        // A request before this line is read here; a later one interrupts the chunk.
        if cancellation.isSet { throw Self.cancelled }
        if let timeLimit { state.setDeadline(max(timeLimit / .seconds(1), 1e-6)) }
        return try state.load(source.utf8, name: name, environment: globals).call().first ?? .nil
    }

    private static let cancelled = LuaError(.cancelled, "the script was cancelled")
    private static let shutDown = LuaError(.cancelled, "the LuaEngine is shut down")
}
