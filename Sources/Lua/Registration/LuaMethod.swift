internal import CLuaShim

/// A method of a class of objects. The shim checks the receiver and passes it unretained.
final class LuaMethod<T: AnyObject>: LuaNativeFunction {
    private let className: String
    private let method: (T, LuaCall) throws -> LuaResults

    init(_ declaration: LuaFunctionDeclaration, of className: String, body: @escaping (T, LuaCall) throws -> LuaResults)
    {
        self.className = className
        method = body
        super.init(declaration, owner: "\(className):", base: 2) { _ in .none }
    }

    override func invoke(on object: UnsafeMutableRawPointer?, _ L: OpaquePointer) throws -> LuaResults {
        guard let object else { throw refuseReceiver(className) }
        let call = LuaCall(L: L, base: 2)
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
        guard let object else { throw refuseReceiver(className) }
        let call = LuaCall(L: L, base: 2)
        try check(call)
        do { return try method(decode(object), call) } catch { throw explain(error) }
    }
}
