internal import CLuaShim

/// A global table of functions. Its error for an unknown name lists the nearest names.
public final class LuaModule {
    /// The name, for errors and help.
    package let name: String
    /// The table of its functions.
    public let table: LuaTable
    private let state: LuaState
    private let metatable: LuaTable

    /// Whether it holds a class's static functions, which are declared with the class.
    private let isOfClass: Bool
    /// Whether its functions replace Lua's own, which ignore surplus arguments.
    private let isOfLua: Bool

    /// Declares a module of the host.
    public convenience init(_ name: String, doc: String, in state: LuaState) {
        self.init(name, ofClass: false, in: state)
        state.declare(LuaDeclaration(kind: .module, name: name, documentation: doc))
    }

    init(_ name: String, ofClass isOfClass: Bool, in state: LuaState) {
        self.isOfClass = isOfClass
        isOfLua = false
        self.name = name
        self.state = state
        table = state.makeTable(fields: 8)
        let unknown = LuaFunctionDeclaration("__index", [LuaParameter("…", .variadic(.any))])
        let index = state.makeFunction(unknown, owner: name + ".") { [unowned state] call in
            throw LuaModule.unknown(call.value(1), of: name, in: state, ofClass: isOfClass)
        }
        metatable = state.makeTable(["__index": index, "__name": name, "__metatable": false])
        table.setMetatable(metatable)
    }

    /// Declares the host's replacements of a standard library's functions in the library's own table.
    ///
    /// - Parameters:
    ///   - library: the library's global: `io`.
    ///   - doc: for `help`.
    ///   - state: the state; the result is nil if it does not have the library.
    package init?(extending library: String, doc: String, in state: LuaState) {
        guard case .table(let table) = state.globals[library] else { return nil }
        name = library
        isOfClass = false
        isOfLua = true
        self.state = state
        self.table = table
        metatable = state.makeTable()
        var declaration = LuaDeclaration(kind: .module, name: library, documentation: doc)
        declaration.isPartOfLua = true
        state.declare(declaration)
    }

    /// Declares a function of the module.
    @usableFromInline package func function(
        _ name: String, _ parameters: [LuaParameter] = [], returns results: [LuaType] = [], doc: String = "",
        example: String = "", body: @escaping (LuaCall) throws -> LuaResults
    ) {
        let declaration = LuaFunctionDeclaration(name, parameters, returns: results, doc: doc, example: example)
        table[name] = .function(
            state.makeFunction(declaration, owner: self.name + ".", base: 1, ignoresSurplus: isOfLua, body: body))
        state.update(self.name, isOfClass ? .class : .module) {
            if isOfClass { $0.statics.append(declaration) } else { $0.functions.append(declaration) }
        }
    }

    /// Makes the module callable: `date(…)`.
    ///
    /// - Parameters:
    ///   - parameters: the parameters of the call.
    ///   - results: the types of the results.
    ///   - doc: for `help`.
    ///   - example: a script that calls it.
    ///   - body: returns the results.
    @usableFromInline package func callable(
        _ parameters: [LuaParameter], returns results: [LuaType], doc: String, example: String = "",
        body: @escaping (LuaCall) throws -> LuaResults
    ) {
        callable(parameters, returns: results, doc: doc, example: example, numbers: nil, body: body)
    }

    /// The same, with a conversion of finite numbers that bypasses the body.
    package func callable(
        _ parameters: [LuaParameter], returns results: [LuaType], doc: String, example: String = "",
        numbers: LuaNumberConversion?, body: @escaping (LuaCall) throws -> LuaResults
    ) {
        let shown = LuaFunctionDeclaration("", parameters, returns: results, doc: doc, example: example)
        let declaration = LuaFunctionDeclaration("", parameters, returns: results, doc: doc)
        metatable["__call"] = .function(
            state.makeFunction(declaration, owner: name, base: 2, numbers: numbers, body: body))
        state.update(name, .module) { $0.functions.insert(shown, at: 0) }
    }

    private static func unknown(
        _ member: LuaValue, of name: String, in state: LuaState, ofClass isOfClass: Bool
    ) -> LuaError {
        let word = member.textValue ?? state.describe(member).description
        let declaration = state.declarations[name, isOfClass ? .class : .module]
        let known = (isOfClass ? declaration?.statics.map(\.name) : declaration?.memberNames) ?? []
        return LuaError(.argument, "'\(name)' has no member '\(word)'\(NearestNames.hint(for: word, among: known))")
    }
}

extension LuaState {
    /// Declares a global function, `print(…)`, and sets it.
    ///
    /// - Parameters:
    ///   - declaration: its name, parameters and documentation.
    ///   - isPartOfLua: whether standard Lua has a function of this name.
    ///   - body: returns the results.
    package func setGlobal(
        _ declaration: LuaFunctionDeclaration, isPartOfLua: Bool = false, body: @escaping (LuaCall) throws -> LuaResults
    ) {
        globals[declaration.name] = declareGlobal(declaration, isPartOfLua: isPartOfLua, body: body)
    }

    /// Makes and declares a function that the caller assigns to the global of its name, or to `a.b` in a table.
    func declareGlobal(
        _ declaration: LuaFunctionDeclaration, isPartOfLua: Bool = false, body: @escaping (LuaCall) throws -> LuaResults
    ) -> LuaValue {
        let function = makeFunction(declaration, base: 1, ignoresSurplus: isPartOfLua, body: body)
        var owner = LuaDeclaration(
            kind: .global, name: declaration.name, documentation: declaration.documentation)
        owner.isPartOfLua = isPartOfLua
        owner.functions = [
            LuaFunctionDeclaration(
                "", declaration.parameters, returns: declaration.results, doc: declaration.documentation,
                example: declaration.example)
        ]
        declare(owner)
        return .function(function)
    }

    /// A Swift function as a Lua value, which lives as long as the state. More arguments than its parameters are an
    /// error in a call that a script has written, unless the last parameter is ``LuaType/variadic(_:)``.
    ///
    /// - Parameters:
    ///   - declaration: its name, parameters and documentation.
    ///   - owner: the prefix of the name in errors: `fs.` or `items:`.
    ///   - body: returns the results.
    /// - Returns: the function.
    @usableFromInline package func makeFunction(
        _ declaration: LuaFunctionDeclaration, owner: String = "", body: @escaping (LuaCall) throws -> LuaResults
    ) -> LuaFunction {
        makeFunction(declaration, owner: owner, base: 1, body: body)
    }

    /// A declared function that is released when Lua collects it.
    func makeOwnedFunction(
        _ declaration: LuaFunctionDeclaration, body: @escaping (LuaCall) throws -> LuaResults
    ) -> LuaFunction {
        let L = current
        let function = LuaNativeFunction(declaration, owner: "", base: 1, body: body)
        clua_pushownedfunction(L, Unmanaged.passRetained(function).toOpaque())
        return LuaFunction(state: self, reference: takeReference(on: L))
    }

    /// The same for a function whose argument 0 is at another stack index.
    ///
    /// - Parameters:
    ///   - declaration: its name, parameters and documentation.
    ///   - owner: the prefix of the name in errors: `fs.` or `items:`.
    ///   - base: the stack index of argument 0: 2 skips a receiver.
    ///   - ignoresSurplus: whether it ignores arguments beyond its parameters, as Lua's own functions do.
    ///   - numbers: with a receiver, the conversion of a finite number, which bypasses the body.
    ///   - body: returns the results.
    /// - Returns: the function.
    package func makeFunction(
        _ declaration: LuaFunctionDeclaration, owner: String = "", base: Int, ignoresSurplus: Bool = false,
        numbers: LuaNumberConversion? = nil, body: @escaping (LuaCall) throws -> LuaResults
    ) -> LuaFunction {
        let function = LuaNativeFunction(
            declaration, owner: owner, base: Int32(base), ignoresSurplus: ignoresSurplus, body: body)
        let L = current
        if let numbers {
            clua_pushconstructor(L, retain(function), numbers.cls, numbers.offset)
        } else {
            clua_pushfunction(L, retain(function))
        }
        return LuaFunction(state: self, reference: takeReference(on: L))
    }
}
