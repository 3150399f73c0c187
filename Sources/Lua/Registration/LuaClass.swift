internal import CLuaShim

/// A Swift type as a class in Lua, declared member by member. Below the declarations of ``LuaObject``; by itself for the
/// members of our own bindings that need the host:
///
/// ```swift
/// let lamps = LuaClass<Lamp>("Lamp", doc: "A lamp of the house.", in: state)
/// lamps.integer("watts", doc: "Power it draws.", get: { $0.watts }, set: { $0.watts = $1 })
/// lamps.method("dim", ["percent": "0 is off"], doc: "Turns it down.") { (lamp, percent: Int) in lamp.dim(to: percent)
/// }
/// ```
@usableFromInline
package final class LuaClass<T> {
    /// The representation in Lua.
    package enum Kind {
        /// One handle for each object: the same object is the same value in Lua, also as a table's key.
        case object
        /// A new handle for each push; the class's `__eq` compares values.
        case box
    }

    /// The name, for errors, help and `tostring`.
    package let name: String
    unowned let state: LuaState
    /// Keeps the state alive while the class is in use.
    private var keeper: LuaState?
    let pointer: OpaquePointer
    /// Whether handles refer to objects, rather than hold inline values.
    let holdsObjects: Bool
    private var module: LuaModule?
    /// The module's table, for a class that the state owns.
    private var ownedTable: LuaReference?
    let host: OpaquePointer
    let decode: (UnsafeMutableRawPointer) -> T
    let encode: (T, OpaquePointer, OpaquePointer) -> Void
    let find: (Int32, OpaquePointer, OpaquePointer) -> T?

    init(
        _ name: String, _ documentation: String, in state: LuaState, kind: clua_kind,
        decode: @escaping (UnsafeMutableRawPointer) -> T, encode: @escaping (T, OpaquePointer, OpaquePointer) -> Void,
        find: @escaping (Int32, OpaquePointer, OpaquePointer) -> T?, isDeclared: Bool = true,
        unknownMember: ((T, String, LuaCall) throws -> LuaResults?)?, unknownKey: ((T, LuaCall) throws -> LuaResults)?,
        assignUnknown: ((T, LuaCall) throws -> Void)?
    ) {
        self.name = name
        self.state = state
        keeper = state
        holdsObjects = kind == CLUA_OBJECT || kind == CLUA_BOX
        host = state.host
        self.decode = decode
        self.encode = encode
        self.find = find
        pointer = clua_newclass(state.current, name, kind)
        if isDeclared { state.declare(LuaDeclaration(kind: .class, name: name, documentation: documentation)) }
        state[classOf: ObjectIdentifier(T.self)] = LuaClass(asPartOfState: self)
        serveUnknown(members: unknownMember, keys: unknownKey, assignments: assignUnknown)
    }

    /// Sets what serves names and keys without a member; the errors of those that nothing serves.
    func serveUnknown(
        members: ((T, String, LuaCall) throws -> LuaResults?)?, keys: ((T, LuaCall) throws -> LuaResults)? = nil,
        assignments: ((T, LuaCall) throws -> Void)?
    ) {
        let fallback = LuaGeneralAccessor<T>(
            name: name, type: .any, base: 2, decode: decode,
            getter: { [unowned state, name] object, call in
                guard clua_type(call.L, 2) == LuaBasicType.string.rawValue else {
                    if let keys { return try keys(object, call) }
                    throw LuaError(.argument, "\(name) is not indexed by \(call.value(0).typeName.withArticle)")
                }
                let member = call.value(0)
                if let key = member.textValue, let results = try members?(object, key, call) { return results }
                throw Self.unknown(member, of: name, in: state)
            },
            setter: { [unowned state, name] object, call in
                if let assignments { return try assignments(object, call) }
                throw Self.unknown(call.value(0), of: name, in: state)
            })
        let box = state.retain(fallback)
        clua_setfallback(pointer, box, box)
    }

    /// The same class for arguments and results of its type. It does not retain the state, which retains it.
    private init(asPartOfState cls: LuaClass) {
        (name, state, pointer, host, holdsObjects) = (cls.name, cls.state, cls.pointer, cls.host, cls.holdsObjects)
        (decode, encode, find) = (cls.decode, cls.encode, cls.find)
    }

    /// A subclass, to which members of this class are added.
    init(membersOf subclass: any DeclaredClass) where T: AnyObject {
        name = subclass.name
        state = subclass.state
        pointer = subclass.pointer
        holdsObjects = true
        host = state.host
        decode = { Unmanaged<T>.fromOpaque($0).takeUnretainedValue() }
        encode = { object, cls, L in pushReference(object, cls, on: L) }
        find = { index, cls, L in
            clua_toobject(L, index, cls).map { Unmanaged<T>.fromOpaque($0).takeUnretainedValue() }
        }
    }

    /// The class without the type of its values.
    @usableFromInline
    package var handle: LuaClassHandle { LuaClassHandle(pointer: pointer, host: host) }

    /// The class's static functions.
    var statics: LuaModule {
        if let module { return module }
        let made = LuaModule(name, ofClass: true, in: state)
        module = made
        return made
    }

    /// The table of static functions. Its error for an unknown name lists the nearest names.
    package var table: LuaTable { ownTable ?? statics.table }

    /// The same for a class that the state owns; nil without static functions.
    var ownTable: LuaTable? { ownedTable.map { LuaTable(state: state, reference: $0) } }

    /// Breaks the reference cycle of a class that the state owns.
    func becomePartOfState() {
        ownedTable = module?.table.reference
        module = nil
        keeper = nil
    }

    /// The error for an undeclared member, with the nearest names.
    static func unknown(_ member: LuaValue, of name: String, in state: LuaState) -> LuaError {
        let word = member.textValue ?? state.describe(member).description
        let known = state.declarations[name, .class]?.memberNames ?? []
        let hint = state.memberHint(name, word) ?? NearestNames.hint(for: word, among: known)
        return LuaError(.argument, "\(name) has no property or method '\(word)'\(hint)")
    }

    func push(_ object: T, on L: OpaquePointer) {
        check(L)
        encode(object, pointer, L)
    }

    @inline(__always)
    func check(_ L: OpaquePointer) {
        precondition(clua_host_of(L) == host, "the class \(name) was declared to another LuaState")
    }
    func object(at index: Int32, on L: OpaquePointer) -> T? { find(index, pointer, L) }

    /// A retained Lua value of the object.
    package func value(_ object: T) -> LuaValue {
        let L = state.current
        push(object, on: L)
        return state.popValue(on: L)
    }

    /// The object of a value; nil for another value.
    package func object(of value: LuaValue) -> T? {
        guard case .userdata(let userdata) = value else { return nil }
        return state.reading(userdata.reference) { object(at: -1, on: $0) }
    }

    // MARK: Members

    /// A property of any type: `get` returns one result, `set` reads the value from argument 0.
    @usableFromInline package func property(
        _ name: String, _ type: LuaType, doc: String, set: ((T, LuaCall) throws -> Void)? = nil,
        get: @escaping (T, LuaCall) throws -> LuaResults
    ) {
        add(
            LuaGeneralAccessor(name: "\(self.name).\(name)", type: type, decode: decode, getter: get, setter: set),
            name, type, isReadOnly: set == nil, doc)
    }

    func add(
        _ accessor: LuaAccessor, _ name: String, _ type: LuaType, isReadOnly: Bool, _ documentation: String
    ) {
        let box = state.retain(accessor)
        clua_addproperty(state.current, pointer, name, box, isReadOnly ? nil : box)
        state.update(self.name, .class) {
            $0.properties.append(
                LuaPropertyDeclaration(name: name, type: type, isReadOnly: isReadOnly, documentation: documentation))
        }
    }

    /// A method: called with a colon; arguments by position from 0.
    @usableFromInline package func method(
        _ name: String, _ parameters: [LuaParameter] = [], returns results: [LuaType] = [], doc: String = "",
        example: String = "", body: @escaping (T, LuaCall) throws -> LuaResults
    ) {
        let declaration = LuaFunctionDeclaration(
            name, parameters, returns: results, doc: doc, example: example)
        add(LuaValueMethod(declaration, of: self.name, decode: decode, body: body))
    }

    func add(_ method: LuaNativeFunction) {
        let L = state.current
        clua_pushmethod(L, pointer, state.retain(method))
        clua_addmethod(L, pointer, method.declaration.name)
        state.update(name, .class) { $0.functions.append(method.declaration) }
    }

    /// Declares an operator of the class; `metamethod` defines its function.
    ///
    /// - Parameters:
    ///   - name: the metamethod's name without underscores: `len`, `index`, `sub`.
    ///   - operand: the type of the other operand, or of an index's key; nil for none.
    ///   - result: the type of the result.
    ///   - doc: for the reference.
    package func declareOperator(_ name: String, _ operand: LuaType? = nil, returns result: LuaType, doc: String) {
        state.update(self.name, .class) {
            $0.operators.append(
                LuaOperatorDeclaration(name: name, operand: operand, result: result, documentation: doc))
        }
    }

    /// Declares that the class's only object is a global with the class's name.
    package func declareGlobalObject() { state.update(name, .class) { $0.isGlobalObject = true } }

    /// A metamethod whose first operand is an object of this class: `__len`, `__call`, `__tostring`, `__pairs`.
    package func metamethod(_ name: String, body: @escaping (T, LuaCall) throws -> LuaResults) {
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

    /// A metamethod with operands of any kind as arguments 0 and 1: `__eq`, `__lt`, `__add`.
    package func rawMetamethod(_ name: String, body: @escaping (LuaCall) throws -> LuaResults) {
        metamethod(LuaFunctionDeclaration(name, [LuaParameter("…", .variadic(.any))]), body: body)
    }

    /// A metamethod with operands of declared types.
    func metamethod(_ declaration: LuaFunctionDeclaration, body: @escaping (LuaCall) throws -> LuaResults) {
        let function = LuaNativeFunction(declaration, owner: "\(name).", base: 1, body: body)
        let L = state.current
        clua_pushfunction(L, state.retain(function))
        clua_addmetamethod(L, pointer, declaration.name)
    }
}

/// A class without the type of its values.
@usableFromInline
package struct LuaClassHandle {
    let pointer: OpaquePointer
    let host: OpaquePointer
}

extension LuaClass where T: AnyObject {
    /// Declares a class of objects.
    ///
    /// - Parameters:
    ///   - name: the class's name, for errors and `tostring`.
    ///   - doc: for `help`.
    ///   - state: the state that the class belongs to.
    ///   - kind: one handle for each object, or a new one for each push.
    ///   - isDeclared: whether the class has a declaration, for help and the reference.
    ///   - unknownMember: resolves names without a member; returns nil for an unknown name.
    ///   - unknownKey: resolves keys that are not strings: `items[1]`.
    ///   - assignUnknown: handles assignments to undeclared names: key and value are arguments 0 and 1.
    package convenience init(
        _ name: String, doc: String, in state: LuaState, kind: Kind = .object, isDeclared: Bool = true,
        unknownMember: ((T, String, LuaCall) throws -> LuaResults?)? = nil,
        unknownKey: ((T, LuaCall) throws -> LuaResults)? = nil, assignUnknown: ((T, LuaCall) throws -> Void)? = nil
    ) {
        self.init(
            name, doc, in: state, kind: kind == .object ? CLUA_OBJECT : CLUA_BOX,
            decode: { Unmanaged<T>.fromOpaque($0).takeUnretainedValue() },
            encode: { object, cls, L in pushReference(object, cls, on: L) },
            find: { index, cls, L in
                clua_toobject(L, index, cls).map { Unmanaged<T>.fromOpaque($0).takeUnretainedValue() }
            },
            isDeclared: isDeclared, unknownMember: unknownMember, unknownKey: unknownKey, assignUnknown: assignUnknown)
    }

    /// A class of the host's internal objects, inaccessible to scripts: without members and reference.
    package convenience init(hidden name: String, in state: LuaState) {
        self.init(name, doc: "", in: state, kind: .box, isDeclared: false)
    }

    /// A method: called with a colon; arguments by position from 0.
    package func method(
        _ name: String, _ parameters: [LuaParameter] = [], returns results: [LuaType] = [], doc: String = "",
        example: String = "", body: @escaping (T, LuaCall) throws -> LuaResults
    ) {
        let declaration = LuaFunctionDeclaration(
            name, parameters, returns: results, doc: doc, example: example)
        add(
            holdsObjects
                ? LuaNativeMethod(declaration, of: self.name, body: body)
                : LuaValueMethod(declaration, of: self.name, decode: decode, body: body))
    }

    /// An integer property: ``property(_:_:doc:get:set:)``, faster.
    package func integer(
        _ name: String, doc: String, get: @escaping (T) throws -> Int64, set: ((T, Int64) throws -> Void)? = nil
    ) {
        precondition(holdsObjects, "\(self.name) is a class of rows: declare a field")
        let accessor = LuaIntegerAccessor<T>(name: "\(self.name).\(name)", get: get, set: set ?? { _, _ in })
        add(accessor, name, .integer, isReadOnly: set == nil, doc)
    }

    /// A text property: ``property(_:_:doc:get:set:)``, faster.
    package func text(
        _ name: String, doc: String, get: @escaping (T) throws -> String,
        set: ((T, consuming String) throws -> Void)? = nil
    ) {
        precondition(holdsObjects, "\(self.name) is a class of rows: declare a field")
        let accessor = LuaTextAccessor<T>(name: "\(self.name).\(name)", get: get, set: set ?? { _, _ in })
        add(accessor, name, .text, isReadOnly: set == nil, doc)
    }
}

extension LuaClass where T: LuaInline {
    /// Declares a class of values that Lua holds inline.
    package convenience init(
        inline name: String, doc: String, in state: LuaState,
        unknownMember: ((T, String, LuaCall) throws -> LuaResults?)? = nil
    ) {
        self.init(
            name, doc, in: state, kind: CLUA_INLINE,
            decode: { T(luaBits: $0.load(as: UInt64.self)) },
            encode: { value, cls, L in clua_pushinline(L, cls, value.luaBits) },
            find: { index, cls, L in
                var bits: UInt64 = 0
                return clua_toinline(L, index, cls, &bits) != 0 ? T(luaBits: bits) : nil
            },
            unknownMember: unknownMember, unknownKey: nil, assignUnknown: nil)
    }
}

/// Static functions of a class: `Lamp.named("Study")`. Their table becomes a global by
/// `state.globals["Lamp"] = .table(lamps.table)`.
extension LuaClass {
    /// A static function: arguments by position from 0; `call.returns(object, cls)` returns a new object.
    package func function(
        _ name: String, _ parameters: [LuaParameter] = [], returns results: [LuaType] = [], doc: String = "",
        example: String = "", body: @escaping (LuaCall) throws -> LuaResults
    ) {
        statics.function(name, parameters, returns: results, doc: doc, example: example, body: body)
    }

    /// A static function with the types of its closure.
    package func function<each Argument: LuaRepresentable, Result: LuaRepresentable>(
        _ name: String, _ parameters: LuaArguments = [], doc: String = "", example: String = "",
        calling body: @escaping (repeat each Argument) throws -> Result
    ) {
        statics.function(name, parameters, doc: doc, example: example, calling: body)
    }

    /// A static function with no results, or with several: the elements of a tuple.
    @_disfavoredOverload
    package func function<each Argument: LuaRepresentable, each Result: LuaRepresentable>(
        _ name: String, _ parameters: LuaArguments = [], doc: String = "", example: String = "",
        calling body: @escaping (repeat each Argument) throws -> (repeat each Result)
    ) {
        statics.function(name, parameters, doc: doc, example: example, calling: body)
    }
}

/// A value that Lua holds inline, in eight bytes, without an object.
@usableFromInline
package protocol LuaInline {
    init(luaBits: UInt64)
    var luaBits: UInt64 { get }
}

/// The conversion of whole numbers to inline values: the value's bits are those of the number minus an offset. Others
/// are left to the function.
package struct LuaNumberConversion {
    let cls: OpaquePointer
    let offset: Double

    package init<T: LuaInline>(_ cls: LuaClass<T>, offset: Double) {
        self.cls = cls.pointer
        self.offset = offset
    }
}
