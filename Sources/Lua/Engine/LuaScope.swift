internal import CLuaShim

/// Names that a run's chunk alone has, with functions and objects that are taken back when the run ends.
///
/// ```swift
/// var scope = LuaScope()
/// scope.set("order", to: order)
/// scope.register("stock", ["article"]) { (article: String) async throws in try await store.stock(of: article) }
/// let total = try await engine.run("return order.price * stock('lamp')", as: Double.self, scope: scope)
/// ```
///
/// The chunk finds its names before those of its globals; other chunks of the environment, also those that it loads, do
/// not. What a script has kept of it raises an error at each use once the run has ended, whether it returned, failed or
/// was stopped, and the engine has let go of the closures and objects. Objects that members of an object return are not
/// of the scope.
///
/// A scope is a value: the same one can be given to several runs, which take back their own.
public struct LuaScope: Sendable {
    /// Makes a name's value, and has it taken back by a lease.
    fileprivate typealias Entry = @Sendable (LuaState, ScopeLease) -> LuaValue

    fileprivate private(set) var entries: [(name: String, make: Entry)] = []

    /// Creates a scope without names.
    public init() {}

    private mutating func add(_ name: String, _ entry: @escaping Entry) {
        entries.removeAll { $0.name == name }
        entries.append((name, entry))
    }

    /// Gives a name to an object.
    ///
    /// - Parameters:
    ///   - name: the name, in the place of an earlier one.
    ///   - object: the object, which the script uses on the engine's thread.
    public mutating func set<Object: LuaObject & Sendable>(_ name: String, to object: Object) {
        add(name) { state, lease in lease.lend(object, as: name, in: state) }
    }

    /// Gives a name to an async function: the script waits for it, while other runs of the engine continue.
    ///
    /// - Parameters:
    ///   - name: the name, in the place of an earlier one.
    ///   - parameters: the names of the parameters, for errors.
    ///   - body: called in a separate task, as by `register` of ``LuaEngine``.
    public mutating func register<each Argument: Decodable & Sendable, Result: Encodable & Sendable>(
        _ name: String, _ parameters: [String] = [],
        calling body: @escaping @Sendable (repeat each Argument) async throws -> Result
    ) {
        add(TypedFunction(name, parameters, "", example: "", results: .value, awaiting: body))
    }

    /// Gives a name to an async function without a result.
    public mutating func register<each Argument: Decodable & Sendable>(
        _ name: String, _ parameters: [String] = [],
        calling body: @escaping @Sendable (repeat each Argument) async throws -> Void
    ) {
        add(TypedFunction(name, parameters, "", example: "", results: .nothing, awaiting: body))
    }

    /// Gives a name to a function that is called on the engine's thread and returns immediately.
    public mutating func register<each Argument: Decodable & Sendable, Result: Encodable & Sendable>(
        _ name: String, _ parameters: [String] = [],
        calling body: @escaping @Sendable (repeat each Argument) throws -> Result
    ) {
        add(TypedFunction(name, parameters, "", example: "", results: .value, calling: body))
    }

    /// Gives a name to a function without a result that is called on the engine's thread and returns immediately.
    public mutating func register<each Argument: Decodable & Sendable>(
        _ name: String, _ parameters: [String] = [],
        calling body: @escaping @Sendable (repeat each Argument) throws -> Void
    ) {
        add(TypedFunction(name, parameters, "", example: "", results: .nothing, calling: body))
    }

    private mutating func add(_ function: TypedFunction) {
        add(function.declaration.name) { state, lease in lease.lend(function, in: state) }
    }
}

/// What a run has of a scope, until it is taken back. Used on the engine's thread.
final class ScopeLease {
    /// A function's body until it is taken back.
    private final class Loan {
        var body: TypedFunction.Body?
        init(_ body: TypedFunction.Body) { self.body = body }
    }

    private var loans: [Loan] = []
    private var objects: [(name: String, reference: LuaReference)] = []

    /// The globals of the run's chunk: the scope's names in front of an environment's globals.
    func enclose(_ globals: LuaTable, _ scope: LuaScope) -> LuaTable {
        let state = globals.state
        let table = state.makeTable(fields: scope.entries.count)
        for (name, make) in scope.entries { table[name] = make(state, self) }
        table.setMetatable(state.makeTable(["__index": globals, "__newindex": globals, "__metatable": false]))
        return table
    }

    fileprivate func lend<Object: LuaObject>(_ object: Object, as name: String, in state: LuaState) -> LuaValue {
        let L = state.current
        let reference = Unmanaged<AnyObject>.passUnretained(object)
        let cls = state.objectClass(Swift.type(of: object)).pointer
        if clua_pushownhandle(L, cls, reference.toOpaque()) != 0 { _ = reference.retain() }
        let value = state.popValue(on: L)
        if case .userdata(let userdata) = value { objects.append((name, userdata.reference)) }
        return value
    }

    fileprivate func lend(_ function: TypedFunction, in state: LuaState) -> LuaValue {
        let loan = Loan(function.body)
        loans.append(loan)
        let name = function.declaration.name
        return .function(
            state.makeOwnedFunction(function.declaration) { call in
                guard let body = loan.body else { throw LuaError(.argument, Self.message(name)) }
                return try body.invoke(call)
            })
    }

    /// Takes everything back. No code of the state may run.
    func end(in state: LuaState) {
        for loan in loans { loan.body = nil }
        for (name, reference) in objects { state.reading(reference) { clua_revoke($0, -1, Self.message(name)) } }
        (loans, objects) = ([], [])
        clua_drain_releases(state.host)
    }

    private static func message(_ name: String) -> String { "'\(name)' was given to a run that has ended" }
}
