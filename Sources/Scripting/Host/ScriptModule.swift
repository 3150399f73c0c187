package import Lua

/// A part of what scripts see, such as `items`, with its classes.
///
/// The host names none: whoever opens it lists them, and it declares them in that order. So modules are built side by
/// side, and each takes the classes of others from the state, by ``ScriptHost/declaredClass(of:)``.
package protocol ScriptModule {
    /// A global of scripts, which is also in `require "cubby"`.
    typealias Global = (name: String, value: LuaValue)

    /// The name, by which others need it.
    static var name: String { get }
    /// The names of the modules whose classes it takes or extends: they are listed before it.
    static var needs: [String] { get }
    /// Declares its classes and functions.
    ///
    /// - Returns: its globals.
    static func declare(in host: ScriptHost) throws -> [Global]
}

extension ScriptModule {
    package static var needs: [String] { [] }
}

extension LuaModule {
    /// The module as a global.
    package var global: ScriptModule.Global { (name, .table(table)) }
}

extension ScriptHost {
    /// The class of a type that a module has declared before.
    package func declaredClass<T>(of type: T.Type) throws(LuaError) -> LuaClass<T> {
        guard let found = state.luaClass(of: type) else { throw LuaError(.runtime, "no module declares \(type)") }
        return found
    }

    /// Declares the modules in order.
    ///
    /// - Returns: their globals.
    func declare(_ modules: [any ScriptModule.Type]) throws -> [ScriptModule.Global] {
        var names: NameSet = []
        return try modules.flatMap { module in
            if let missing = module.needs.first(where: { !names.contains($0) }) {
                throw LuaError(.runtime, "the module \(module.name) needs \(missing), which is listed before it")
            }
            names.insert(module.name)
            return try module.declare(in: self)
        }
    }
}
