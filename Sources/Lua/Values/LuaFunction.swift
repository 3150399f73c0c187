internal import CLuaShim

/// A Lua function held by Swift.
public struct LuaFunction {
    let state: LuaState
    let reference: LuaReference

    /// Calls the function in protected mode.
    ///
    /// - Throws: the `LuaError` raised by the function, with its traceback.
    @discardableResult
    public func call(_ arguments: LuaValue...) throws(LuaError) -> [LuaValue] {
        try call(arguments: arguments)
    }

    /// The same with an array of arguments.
    public func call(arguments: [LuaValue]) throws(LuaError) -> [LuaValue] {
        let L = try state.enter(room: arguments.count + 4)
        let base = clua_gettop(L)
        state.push(reference, on: L)
        for argument in arguments { state.push(argument, on: L) }
        let status = clua_pcall(L, Int32(arguments.count), -1)
        guard status == 0 else { throw state.takeError(status, on: L, top: base) }
        return state.takeValues(on: L, above: base)
    }

    /// The location of the definition.
    public var place: LuaFunctionPlace {
        let L = state.current
        state.push(reference, on: L)
        var frame = clua_frame()
        // A value with `__call` has that function's place.
        if clua_type(L, -1) != LuaBasicType.function.rawValue {
            clua_settop(L, -2)
            guard case .function(let called)? = metatable?["__call"] else { return LuaFunctionPlace(clua_frame()) }
            return called.place
        }
        clua_getfunction(L, &frame)
        return LuaFunctionPlace(frame)
    }
}

extension LuaFunction {
    private var metatable: LuaTable? {
        let L = state.current
        state.push(reference, on: L)
        defer { clua_settop(L, -2) }
        guard clua_getmetatable(L, -1) != 0 else { return nil }
        return LuaTable(state: state, reference: state.takeReference(on: L))
    }
}

extension LuaValue {
    /// The value as a function: a function, or a table or an object with `__call`, which is called like one.
    package var callable: LuaFunction? {
        let (state, reference): (LuaState, LuaReference)
        switch self {
        case .function(let function): return function
        case .table(let table): (state, reference) = (table.state, table.reference)
        case .userdata(let object): (state, reference) = (object.state, object.reference)
        default: return nil
        }
        let L = state.current
        state.push(reference, on: L)
        defer { clua_settop(L, -2) }
        return clua_iscallable(L, -1) != 0 ? LuaFunction(state: state, reference: reference) : nil
    }
}

/// The location of a function's definition: its chunk and first line.
public struct LuaFunctionPlace: Sendable {
    /// The chunk's name, shortened as in error messages.
    public let source: String
    /// The first line of the definition, counted from 1; 0 for a main chunk.
    public let line: Int
    /// Whether it is a function of the host or of Lua's libraries.
    public let isNative: Bool

    init(_ frame: clua_frame) {
        source = withUnsafeBytes(of: frame.source) { raw in
            String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
        }
        line = Int(frame.definedAt)
        isNative = frame.isC != 0
    }
}
