import Lua

/// A class as an argument: its table or its name; or several in an array.
typealias ClassArgument = LuaEither<LuaTable, String>

extension LuaEither<LuaTable, String> {
    /// The class's name.
    func name(_ bridge: ArchiveBridge, argument: String) throws(LuaMismatch) -> String {
        guard let name = name(bridge) else {
            throw LuaMismatch("a class declared by archiver.class, or a class's name expected", argument: argument)
        }
        return name
    }

    /// The names of one class, or of an array of classes; an argument `classes`.
    func names(_ bridge: ArchiveBridge) throws(LuaMismatch) -> [String] {
        if let name = name(bridge) { return [name] }
        guard case .first(let table) = self else { return [] }
        var names: [String] = []
        for index in 1..<(table.count + 1) {
            guard let name = (try? Self(lua: table[index]))?.name(bridge) else {
                throw LuaMismatch(
                    "[\(index)]: a class declared by archiver.class, or a class's name expected", argument: "classes")
            }
            names.append(name)
        }
        guard !names.isEmpty else { throw LuaMismatch("at least one class expected", argument: "classes") }
        return names
    }

    private func name(_ bridge: ArchiveBridge) -> String? {
        switch self {
        case .first(let table): bridge.classes.scriptClass(table)?.name
        case .second(let name): name
        }
    }
}
