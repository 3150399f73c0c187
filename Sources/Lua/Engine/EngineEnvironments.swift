/// The tables of globals of an engine.
final class EngineEnvironments {
    private let state: LuaState
    private let make: EnvironmentFactory
    /// The globals of runs without an environment, made on first use.
    private var own: LuaTable?
    /// The globals of environments in use.
    private var others: [Weak] = []

    private struct Weak { weak var reference: LuaReference? }

    init(_ state: LuaState, _ output: EngineOutput) throws(LuaError) {
        self.state = state
        make = try EnvironmentFactory(state, output)
    }

    func makeEnvironment() throws(LuaError) -> LuaEnvironment {
        let environment = LuaEnvironment(reference: try make().reference)
        others.removeAll { $0.reference == nil }
        others.append(Weak(reference: environment.reference))
        return environment
    }

    /// The globals of an environment; for nil, the engine's own.
    func globals(of environment: LuaEnvironment?) throws(LuaError) -> LuaTable {
        if let environment {
            guard environment.reference.releases === state.releases else {
                throw LuaError(.argument, "the environment is of another LuaEngine")
            }
            return LuaTable(state: state, reference: environment.reference)
        }
        if let own { return own }
        let globals = try make()
        own = globals
        return globals
    }

    /// Declares a global function in existing and future environments, whatever had its name.
    func declare(_ function: TypedFunction, body: @escaping (LuaCall) throws -> LuaResults) {
        state.setGlobal(function.declaration, body: body)
        let name = function.declaration.name
        let value = state.globals[name]
        own?[name] = value
        for reference in others.lazy.compactMap(\.reference) {
            LuaTable(state: state, reference: reference)[name] = value
        }
    }

    /// Releases references to the state.
    func forget() { own = nil }
}
