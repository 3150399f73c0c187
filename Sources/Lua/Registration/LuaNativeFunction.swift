internal import CLuaShim
import Wording

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
    private let body: (LuaCall) throws -> LuaResults

    init(
        _ declaration: LuaFunctionDeclaration, owner: String, base: Int32,
        body: @escaping (LuaCall) throws -> LuaResults
    ) {
        self.declaration = declaration
        self.owner = owner
        self.base = base
        self.body = body
        parameters = LuaType.takes(declaration.parameters)
        words = LuaChoices(declaration.parameters)
    }

    /// An undeclared function, which accepts any arguments.
    init(body: @escaping (LuaCall) throws -> LuaResults) {
        declaration = Self.anything
        owner = ""
        base = 1
        self.body = body
        parameters = 0
        words = nil
    }

    private static let anything = LuaFunctionDeclaration("function", [LuaParameter("…", .variadic(.any))])

    final func invoke(_ call: LuaCall) throws -> LuaResults {
        let call = LuaCall(L: call.L, base: base)
        try check(call)
        do { return try body(call) } catch { throw explain(error) }
    }

    /// Calls a method with the receiver's object; nil for a receiver of another class.
    func invoke(on object: UnsafeMutableRawPointer?, _ L: OpaquePointer) throws -> LuaResults {
        try invoke(LuaCall(L: L, base: base))
    }

    /// Adds the names of the function and the parameter to an argument error.
    final func explain(_ error: any Error) -> any Error {
        switch error {
        case let error as LuaArgumentError: argumentError(error.position, error.message)
        case let error as LuaMismatch:
            declaration.parameters.firstIndex { $0.name == error.argument }.map { argumentError($0, error.message) }
                ?? LuaError(.argument, error.message)
        default: error
        }
    }

    /// The error for a receiver of another class.
    final func refuseReceiver(_ className: String) -> LuaError {
        LuaError(
            .argument, "\(className):\(declaration.name) is a method: call it with a colon, on \(className.withArticle)"
        )
    }

    @inline(__always)
    final func check(_ call: LuaCall) throws {
        guard parameters == 0 || clua_conforms(call.L, base, parameters, words?.text) != 0 else {
            return try checkEach(call)
        }
    }

    @inline(never)
    private func checkEach(_ call: LuaCall) throws {
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
    }

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

/// A refused argument: the trampoline adds the names of the function and the parameter.
struct LuaArgumentError: Error {
    let position: Int
    let message: String
}
