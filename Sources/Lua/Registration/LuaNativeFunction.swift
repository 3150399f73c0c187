internal import CLuaShim

/// A Swift function as called by the shim: checks the arguments against the declaration, then calls the body.
class LuaNativeFunction {
    let declaration: LuaFunctionDeclaration
    /// The prefix of the name in errors: `items:` or `fs.`.
    let owner: String
    /// The stack index of argument 0: 2 for a method, whose receiver is at 1.
    private let base: Int32
    /// The parameters in the shim's encoding, with which the shim checks conforming arguments by itself.
    private let parameters: UInt64
    /// The words of the choices, for the shim.
    private let words: LuaChoices?
    /// The stack index of the last argument that needs no further check; the greatest number for any.
    private let most: Int32
    /// Whether there may be arguments beyond the declared parameters.
    private let takesMore: Bool
    private let body: (LuaCall) throws -> LuaResults

    /// `ignoresSurplus` is whether arguments beyond the declared parameters are ignored, as Lua's own functions do.
    init(
        _ declaration: LuaFunctionDeclaration, owner: String, base: Int32, ignoresSurplus: Bool = false,
        body: @escaping (LuaCall) throws -> LuaResults
    ) {
        self.declaration = declaration
        self.owner = owner
        self.base = base
        self.body = body
        parameters = LuaType.takes(declaration.parameters)
        words = LuaChoices(declaration.parameters)
        // A metamethod gets operands that an operator of its kind does not use.
        let isOperator = declaration.name.hasPrefix("__") && declaration.name != "__call"
        takesMore = ignoresSurplus || isOperator || declaration.isVariadic
        let isChecked = declaration.parameters.last.map { $0.type.isVariadic && $0.type != .variadic(.any) } ?? false
        most =
            takesMore && !isChecked
            ? .max : base - 1 + Int32(clamping: declaration.parameters.count - (isChecked ? 1 : 0))
    }

    /// An undeclared function, which accepts any arguments.
    init(body: @escaping (LuaCall) throws -> LuaResults) {
        declaration = Self.anything
        owner = ""
        base = 1
        self.body = body
        parameters = 0
        words = nil
        most = .max
        takesMore = true
    }

    private static let anything = LuaFunctionDeclaration("function", [LuaParameter("…", .variadic(.any))])

    final func invoke(_ call: LuaCall) throws -> LuaResults {
        let call = LuaCall(L: call.L, base: base, function: .passUnretained(self))
        try check(call)
        do { return try body(call) } catch { throw explain(error) }
    }

    /// Calls a method with the receiver's object; nil for a receiver of another class.
    func invoke(on object: UnsafeMutableRawPointer?, _ L: OpaquePointer) throws -> LuaResults {
        try invoke(LuaCall(L: L, base: base))
    }

    /// Adds the names of the function and the parameter to an argument error.
    final func explain(_ error: any Error) -> any Error {
        switch (error as? any LuaErrorCarrier)?.passedOn ?? error {
        case let error as LuaMismatch:
            (error.position ?? declaration.parameters.firstIndex { $0.name == error.argument })
                .map { argumentError($0, error.message) } ?? LuaError(.argument, error.message)
        case let error: error
        }
    }

    /// The error for a receiver of another class, or one that was taken back.
    final func refuseReceiver(_ className: String, _ L: OpaquePointer) -> LuaError {
        let message =
            clua_revocation(L, 1).map { String(cString: $0) }
            ?? "\(className):\(declaration.name) is a method: call it with a colon, on \(className.withArticle)"
        return LuaError(.argument, message)
    }

    @inline(__always)
    final func check(_ call: LuaCall) throws {
        guard clua_conforms(call.L, base, parameters, words?.text, most) != 0 else { return try checkEach(call) }
    }

    @inline(never)
    private func checkEach(_ call: LuaCall) throws {
        var index = base
        for parameter in declaration.parameters {
            if case .variadic(let type) = parameter.type {
                guard type != .any else { return }
                // A nil is an argument where one is expected.
                if !type.isOptional { clua_dropnils(call.L, index) }
                let top = clua_gettop(call.L)
                while index <= top {
                    try check(type, parameter, index, call)
                    index += 1
                }
            } else {
                try check(parameter.type, parameter, index, call)
                index += 1
            }
        }
        guard !takesMore, clua_gettop(call.L) > most else { return }
        let surplus = clua_surplus(call.L, most, base == 1 ? 1 : 0)
        if surplus > 0 { throw surplusError(Int(surplus), call) }
    }

    /// The error for arguments that the function does not take: "items:moveItem takes 2 arguments, got 3".
    private func surplusError(_ surplus: Int, _ call: LuaCall) -> LuaError {
        // The operator's function has its object as the first parameter.
        let isCall = declaration.name == "__call"
        let taken = declaration.parameters.dropFirst(isCall ? 1 : 0)
        let name = isCall ? String(owner.dropLast()) : owner + declaration.name
        let takes = taken.isEmpty ? "no arguments" : taken.count.counted("argument")
        let names = taken.map { $0.type.isOptional && $0.type != .any ? "[\($0.name)]" : $0.name }.joined(
            separator: ", ")
        let form = taken.isEmpty ? "" : ": \(name)(\(names))"
        return LuaError(
            .argument,
            "\(name) takes \(takes), got \(taken.count + surplus)\(form)\(usualCause(of: surplus, call))")
    }

    /// The usual cause of a surplus argument, as an advice; empty if it is unlikely.
    private func usualCause(of surplus: Int, _ call: LuaCall) -> String {
        if owner.hasSuffix("."), base == 1, case .table(let table) = call.value(0),
            table.metatable?["__name"].textValue == String(owner.dropLast())
        {
            return "; it is called with a dot, \(owner)\(declaration.name)(…)"
        }
        guard call.count > 1 else { return "" }
        if surplus == 1, case .integer = call.value(call.count - 1), case .string = call.value(call.count - 2) {
            return "; if gsub gives the last one, its second result is a number: put the call in parentheses"
        }
        return "; if the last one is a call, it passes all its results: put it in parentheses to pass the first"
    }

    private func check(_ type: LuaType, _ parameter: LuaParameter, _ index: Int32, _ call: LuaCall) throws {
        if let mismatch = type.mismatch(at: index, on: call.L) {
            // An error that a function returned passes for its text.
            if type.takesText, call.state.takeErrorText(at: index, on: call.L) { return }
            throw argumentError(Int(index - base), mismatch)
        }
    }

    private func argumentError(_ position: Int, _ message: String) -> LuaError {
        let parameters = declaration.parameters
        let parameter =
            position < parameters.count ? parameters[position] : declaration.isVariadic ? parameters.last : nil
        let name = parameter.flatMap { $0.name == "…" ? nil : " '\($0.name)'" } ?? ""
        return LuaError(.argument, "bad argument #\(position + 1)\(name) to '\(owner)\(declaration.name)' (\(message))")
    }
}

/// A method of a class of objects. The shim checks the receiver and passes it unretained.
final class LuaNativeMethod<T: AnyObject>: LuaNativeFunction {
    private let className: String
    private let method: (T, LuaCall) throws -> LuaResults

    init(_ declaration: LuaFunctionDeclaration, of className: String, body: @escaping (T, LuaCall) throws -> LuaResults)
    {
        self.className = className
        method = body
        super.init(declaration, owner: "\(className):", base: 2) { _ in .none }
    }

    override func invoke(on object: UnsafeMutableRawPointer?, _ L: OpaquePointer) throws -> LuaResults {
        guard let object else { throw refuseReceiver(className, L) }
        let call = LuaCall(L: L, base: 2, function: .passUnretained(self))
        try check(call)
        do {
            return try Unmanaged<T>.fromOpaque(object)._withUnsafeGuaranteedRef { try method($0, call) }
        } catch { throw explain(error) }
    }
}

/// A method of a class of inline values.
final class LuaValueMethod<T>: LuaNativeFunction {
    private let className: String
    private let decode: (UnsafeMutableRawPointer) -> T
    private let method: (T, LuaCall) throws -> LuaResults

    init(
        _ declaration: LuaFunctionDeclaration, of className: String, decode: @escaping (UnsafeMutableRawPointer) -> T,
        body: @escaping (T, LuaCall) throws -> LuaResults
    ) {
        self.className = className
        self.decode = decode
        method = body
        super.init(declaration, owner: "\(className):", base: 2) { _ in .none }
    }

    override func invoke(on object: UnsafeMutableRawPointer?, _ L: OpaquePointer) throws -> LuaResults {
        guard let object else { throw refuseReceiver(className, L) }
        let call = LuaCall(L: L, base: 2, function: .passUnretained(self))
        try check(call)
        do { return try method(decode(object), call) } catch { throw explain(error) }
    }
}

/// The words of the `choice` parameters, in the shim's form.
final class LuaChoices {
    let text: UnsafePointer<CChar>

    /// Nil when no parameter is a choice.
    init?(_ parameters: [LuaParameter]) {
        guard let words = LuaType.words(parameters) else { return nil }
        let memory = UnsafeMutablePointer<CChar>.allocate(capacity: words.count)
        memory.initialize(from: words, count: words.count)
        text = UnsafePointer(memory)
    }

    deinit { text.deallocate() }
}

/// The functions called by the shim. None throws: they return a status, and C raises the error.
let luaCallbacks = clua_callbacks(
    call: { function, L in
        guard let function, let L else { return 0 }
        return Unmanaged<LuaNativeFunction>.fromOpaque(function)._withUnsafeGuaranteedRef { function in
            do { return try function.invoke(LuaCall(L: L, base: 1)).count } catch { return raise(error, L) }
        }
    },
    method: { function, object, L in
        guard let function, let L else { return 0 }
        return Unmanaged<LuaNativeFunction>.fromOpaque(function)._withUnsafeGuaranteedRef { function in
            do { return try function.invoke(on: object, L).count } catch { return raise(error, L) }
        }
    },
    get: { accessor, object, L in
        guard let accessor, let object, let L else { return 0 }
        return Unmanaged<LuaAccessor>.fromOpaque(accessor)._withUnsafeGuaranteedRef { accessor in
            do { return try accessor.get(object, L).count } catch { return raise(error, L) }
        }
    },
    set: { accessor, object, L in
        guard let accessor, let object, let L else { return 0 }
        return Unmanaged<LuaAccessor>.fromOpaque(accessor)._withUnsafeGuaranteedRef { accessor in
            do {
                try accessor.set(object, L)
                return 0
            } catch { return raise(error, L) }
        }
    },
    interrupt: { owner, L, reasons in
        guard let owner, let L else { return 0 }
        let state = Unmanaged<LuaState>.fromOpaque(owner).takeUnretainedValue()
        var reasons = LuaInterrupter.Reason(rawValue: Int(reasons))
        if reasons.remove(.sample) != nil {
            state.sampler?()
            if reasons.isEmpty { return 0 }
        }
        switch state.interruptHandler(reasons) {
        case .resume: return 0
        case .stop(let error, let depth): return state.stop(error, depth, on: L)
        }
    },
    stop: { owner, by, L in
        guard let owner, let by, let L else { return }
        let outer = Unmanaged<LuaState>.fromOpaque(by).takeUnretainedValue()
        let error = outer.errors.stop ?? LuaError(.cancelled, "interrupted")
        _ = Unmanaged<LuaState>.fromOpaque(owner).takeUnretainedValue().raise(error, on: L)
    },
    release: { object in
        guard let object else { return }
        Unmanaged<AnyObject>.fromOpaque(object).release()
    },
    pause: { owner, L, reasons, number in
        guard let owner, let L else { return 0 }
        let state = Unmanaged<LuaState>.fromOpaque(owner).takeUnretainedValue()
        guard case .stop(let error, let depth)? = state.debuggerInUse?.pause(reasons, number) else { return 0 }
        return state.stop(error, depth, on: L)
    },
    matches: { owner, name, number in
        guard let owner, let name else { return 0 }
        let debugger = Unmanaged<LuaState>.fromOpaque(owner).takeUnretainedValue().debuggerInUse
        return debugger?.isIn(String(cString: name), breakpoint: Int(number)) ?? false ? 1 : 0
    },
    line: { owner, name, line in
        guard let owner, let name else { return }
        let debugger = Unmanaged<LuaState>.fromOpaque(owner).takeUnretainedValue().debuggerInUse
        debugger?.onLine?(String(cString: name), Int(line))
    }
)

extension LuaState {
    /// Makes the running code stop down to a depth; the error is on the stack.
    fileprivate func stop(_ error: LuaError, _ depth: Int, on L: OpaquePointer) -> Int32 {
        clua_abort_above(host, Int32(clamping: depth))
        errors.stop = error
        return raise(error, on: L)
    }
}

private func raise(_ error: any Error, _ L: OpaquePointer) -> Int32 {
    Unmanaged<LuaState>.fromOpaque(clua_owner(L)).takeUnretainedValue().raise(error, on: L)
}
