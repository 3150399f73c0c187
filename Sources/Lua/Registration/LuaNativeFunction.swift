internal import CLuaShim

/// A Swift function as the shim calls it: the declaration's checks, then the body.
final class LuaNativeFunction {
    let declaration: LuaFunctionDeclaration
    /// `items:` or `fs.`: what stands before the name in errors.
    let owner: String
    /// Where the arguments begin: 2 for a method, whose receiver is 1.
    private let base: Int32
    private let body: (LuaCall) throws -> Int32

    init(
        _ declaration: LuaFunctionDeclaration, owner: String, base: Int32, body: @escaping (LuaCall) throws -> Int32
    ) {
        self.declaration = declaration
        self.owner = owner
        self.base = base
        self.body = body
    }

    func invoke(_ call: LuaCall) throws -> Int32 {
        let call = LuaCall(L: call.L, base: base)
        var index = base
        for parameter in declaration.parameters {
            if case .variadic(let type) = parameter.type, type != .any {
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
        do {
            return try body(call)
        } catch let error as LuaArgumentError {
            throw argumentError(error.position, error.message)
        }
    }

    @inline(__always)
    private func check(_ type: LuaType, _ parameter: LuaParameter, _ index: Int32, _ call: LuaCall) throws {
        if let mismatch = type.mismatch(at: index, on: call.L) {
            throw argumentError(Int(index - base), mismatch)
        }
    }

    private func argumentError(_ position: Int, _ message: String) -> LuaError {
        let name = position < declaration.parameters.count ? " '\(declaration.parameters[position].name)'" : ""
        return LuaError(.argument, "bad argument #\(position + 1)\(name) to '\(owner)\(declaration.name)' (\(message))")
    }
}

/// An argument that its function refuses: the trampoline adds which function and which parameter.
struct LuaArgumentError: Error {
    let position: Int
    let message: String
}
