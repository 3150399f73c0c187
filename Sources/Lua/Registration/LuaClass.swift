internal import CLuaShim

/// A Swift type as a class in Lua, declared a member at a time:
///
/// ```swift
/// let lamps = LuaClass<Lamp>("Lamp", "A lamp of the house.", in: state)
/// lamps.integer("watts", "Power it draws.", get: { $0.watts }, set: { $0.watts = $1 })
/// lamps.method("dim", [LuaParameter("percent", .integer)], "Turns it down.") { lamp, call in
///     lamp.dim(to: try call.integer(0))
///     return call.returnsNothing()
/// }
/// ```
public final class LuaClass<T> {
    /// How Lua holds the values.
    public enum Kind {
        /// One handle an object: the same object is the same value in Lua, also as a table's key.
        case object
        /// A handle of its own for each push; values are compared by the class's `__eq`.
        case box
    }

    public let name: String
    let state: LuaState
    let pointer: OpaquePointer
    let host: OpaquePointer
    let decode: (UnsafeMutableRawPointer) -> T
    let encode: (T, OpaquePointer, OpaquePointer) -> Void
    let find: (Int32, OpaquePointer, OpaquePointer) -> T?

    private init(
        _ name: String, _ documentation: String, in state: LuaState, kind: clua_kind,
        decode: @escaping (UnsafeMutableRawPointer) -> T, encode: @escaping (T, OpaquePointer, OpaquePointer) -> Void,
        find: @escaping (Int32, OpaquePointer, OpaquePointer) -> T?,
        unknownMember: ((T, String, LuaCall) throws -> Int32)?, unknownKey: ((T, LuaCall) throws -> Int32)?,
        assignUnknown: ((T, LuaCall) throws -> Void)?
    ) {
        self.name = name
        self.state = state
        host = state.host
        self.decode = decode
        self.encode = encode
        self.find = find
        let fallback = LuaFallbackAccessor<T>(
            name: name, decode: decode,
            getter: { [unowned state] object, call in
                guard clua_type(call.L, 2) == LuaBasicType.string.rawValue else {
                    if let unknownKey { return try unknownKey(object, call) }
                    throw LuaError(.argument, "\(name) is not indexed by a \(call.value(0).typeName)")
                }
                let member = call.value(0)
                if let unknownMember, let key = member.textValue {
                    let results = try unknownMember(object, key, call)
                    if results != 0 { return results }
                }
                throw Self.unknown(member, of: name, in: state)
            },
            setter: { [unowned state] object, call in
                if let assignUnknown { return try assignUnknown(object, call) }
                throw Self.unknown(call.value(0), of: name, in: state)
            })
        let box = state.retain(fallback)
        pointer = clua_newclass(state.current, name, kind, box, box)
        state.declare(LuaDeclaration(kind: .class, name: name, documentation: documentation))
    }

    /// The error of a member that nobody declared, with the nearest names.
    static func unknown(_ member: LuaValue, of name: String, in state: LuaState) -> LuaError {
        let word = member.textValue ?? state.describe(member).description
        let known = state.declarations[name]?.memberNames ?? []
        return LuaError(
            .argument, "\(name) has no property or method '\(word)'\(NearestNames.hint(for: word, among: known))")
    }

    public func push(_ object: T, on L: OpaquePointer) {
        precondition(clua_host_of(L) == host, "the class \(name) was declared to another LuaState")
        encode(object, pointer, L)
    }
    func object(at index: Int32, on L: OpaquePointer) -> T? { find(index, pointer, L) }

    /// The object as a value that Swift keeps.
    public func value(_ object: T) -> LuaValue {
        let L = state.current
        push(object, on: L)
        defer { clua_settop(L, -2) }
        return state.value(at: -1, on: L)
    }

    /// The object behind a value of this class.
    public func object(of value: LuaValue) -> T? {
        guard case .userdata(let userdata) = value else { return nil }
        let L = state.current
        state.push(userdata.reference, on: L)
        defer { clua_settop(L, -2) }
        return object(at: -1, on: L)
    }

    // MARK: Members

    /// A property of any type: `get` gives one result, `set` finds the value as argument 0.
    public func property(
        _ name: String, _ type: LuaType, _ documentation: String, set: ((T, LuaCall) throws -> Void)? = nil,
        get: @escaping (T, LuaCall) throws -> Int32
    ) {
        add(
            LuaGeneralAccessor(name: "\(self.name).\(name)", type: type, decode: decode, getter: get, setter: set),
            name,
            type, isReadOnly: set == nil, documentation)
    }

    func add(
        _ accessor: LuaAccessor, _ name: String, _ type: LuaType, isReadOnly: Bool, _ documentation: String
    ) {
        let box = state.retain(accessor)
        clua_addproperty(state.current, pointer, name, box, isReadOnly ? nil : box)
        state.update(self.name) {
            $0.properties.append(
                LuaPropertyDeclaration(name: name, type: type, isReadOnly: isReadOnly, documentation: documentation))
        }
    }

    /// A method: called with a colon, its arguments by position from 0.
    public func method(
        _ name: String, _ parameters: [LuaParameter] = [], returns results: [LuaType] = [], _ documentation: String,
        example: String = "", body: @escaping (T, LuaCall) throws -> Int32
    ) {
        let declaration = LuaFunctionDeclaration(
            name, parameters, returns: results, documentation, example: example)
        let className = self.name
        let find = find
        let pointer = pointer
        let function = LuaNativeFunction(declaration, owner: "\(className):", base: 2) { call in
            guard let receiver = find(1, pointer, call.L) else {
                throw LuaError(.argument, "\(className):\(name) is a method: call it with a colon, on a \(className)")
            }
            return try body(receiver, call)
        }
        let L = state.current
        clua_pushfunction(L, state.retain(function))
        clua_addmethod(L, pointer, name)
        state.update(className) { $0.functions.append(declaration) }
    }

    /// A method without parameters and results.
    public func method(_ name: String, _ documentation: String, body: @escaping (T, LuaCall) throws -> Int32) {
        method(name, [], returns: [], documentation, body: body)
    }

    /// A metamethod whose first operand is of this class; `__len`, `__call`, `__tostring`, `__pairs`.
    public func metamethod(_ name: String, body: @escaping (T, LuaCall) throws -> Int32) {
        let find = find
        let pointer = pointer
        let className = self.name
        rawMetamethod(name) { call in
            guard let receiver = find(1, pointer, call.L) else {
                throw LuaError(.argument, "\(className) expected, got \(call.allValues.first?.typeName ?? "no value")")
            }
            return try body(receiver, LuaCall(L: call.L, base: 2))
        }
    }

    /// A metamethod that may get operands of any kind: `__eq`, `__lt`, `__add`, … with both as arguments 0 and 1.
    public func rawMetamethod(_ name: String, body: @escaping (LuaCall) throws -> Int32) {
        let function = LuaNativeFunction(
            LuaFunctionDeclaration(name, [LuaParameter("…", .variadic(.any))]), owner: "\(self.name).", base: 1,
            body: body)
        let L = state.current
        clua_pushfunction(L, state.retain(function))
        clua_addmetamethod(L, pointer, name)
    }
}

extension LuaClass where T: AnyObject {
    /// Declares a class of objects.
    ///
    /// - Parameters:
    ///   - name: of the class, as errors and `tostring` show it.
    ///   - documentation: what `help` says of it.
    ///   - state: the state that the class belongs to.
    ///   - kind: an object has one handle, a box one for each push.
    ///   - unknownMember: serves names that no member has; returns 0 results when it does not know them either.
    ///   - unknownKey: serves keys that are no strings, `items[1]`.
    ///   - assignUnknown: takes assignments that no property takes: key and value are arguments 0 and 1.
    public convenience init(
        _ name: String, _ documentation: String, in state: LuaState, kind: Kind = .object,
        unknownMember: ((T, String, LuaCall) throws -> Int32)? = nil,
        unknownKey: ((T, LuaCall) throws -> Int32)? = nil, assignUnknown: ((T, LuaCall) throws -> Void)? = nil
    ) {
        self.init(
            name, documentation, in: state, kind: kind == .object ? CLUA_OBJECT : CLUA_BOX,
            decode: { Unmanaged<T>.fromOpaque($0).takeUnretainedValue() },
            encode: { object, cls, L in
                let reference = Unmanaged.passUnretained(object)
                if clua_pushobject(L, cls, reference.toOpaque()) != 0 { _ = reference.retain() }
            },
            find: { index, cls, L in
                clua_toobject(L, index, cls).map { Unmanaged<T>.fromOpaque($0).takeUnretainedValue() }
            },
            unknownMember: unknownMember, unknownKey: unknownKey, assignUnknown: assignUnknown)
    }

    /// An integer property.
    public func integer(
        _ name: String, _ documentation: String, get: @escaping (T) throws -> Int64,
        set: ((T, Int64) throws -> Void)? = nil
    ) {
        let accessor = LuaIntegerAccessor<T>(name: "\(self.name).\(name)", get: get, set: set ?? { _, _ in })
        add(accessor, name, .integer, isReadOnly: set == nil, documentation)
    }

    /// A text property that is always there.
    public func text(
        _ name: String, _ documentation: String, get: @escaping (T) throws -> String,
        set: ((T, String) throws -> Void)? = nil
    ) {
        let accessor = LuaTextAccessor<T>(
            name: "\(self.name).\(name)", isOptional: false, get: get, set: { try set?($0, $1 ?? "") })
        add(accessor, name, .text, isReadOnly: set == nil, documentation)
    }

    /// A text property that may be nil.
    public func optionalText(
        _ name: String, _ documentation: String, get: @escaping (T) throws -> String?,
        set: ((T, String?) throws -> Void)? = nil
    ) {
        let accessor = LuaTextAccessor<T>(
            name: "\(self.name).\(name)", isOptional: true, get: get, set: { try set?($0, $1) })
        add(accessor, name, .optional(.text), isReadOnly: set == nil, documentation)
    }
}

extension LuaClass where T: LuaInline {
    /// Declares a class of values that Lua holds in place.
    public convenience init(
        inline name: String, _ documentation: String, in state: LuaState,
        unknownMember: ((T, String, LuaCall) throws -> Int32)? = nil
    ) {
        self.init(
            name, documentation, in: state, kind: CLUA_INLINE,
            decode: { T(luaBits: $0.load(as: UInt64.self)) },
            encode: { value, cls, L in clua_pushinline(L, cls, value.luaBits) },
            find: { index, cls, L in
                var bits: UInt64 = 0
                return clua_toinline(L, index, cls, &bits) != 0 ? T(luaBits: bits) : nil
            },
            unknownMember: unknownMember, unknownKey: nil, assignUnknown: nil)
    }
}
