import Lua

/// The top-level locals of entries, kept for the session in a table in front of the globals.
///
/// Without any, entries run on the globals themselves at no cost.
final class SessionScope {
    private let state: LuaState
    /// The locals by name.
    let locals: LuaTable
    /// The declared names: assignments to them are stored in `locals`, nil included.
    private let declared: LuaTable
    /// The names that the running entry declares: until assigned, they keep their previous meaning.
    private let pending: LuaTable
    private(set) var isUsed = false

    init(_ state: LuaState) {
        self.state = state
        locals = state.makeTable()
        declared = state.makeTable()
        pending = state.makeTable()
    }

    /// The environment of an entry; nil for the state's globals.
    var environment: LuaTable? { isUsed ? locals : nil }

    /// The declared names.
    var names: [String] { RawAccess.fields(of: declared, limit: 10_000, depth: 1).map(\.name).sorted() }

    /// Called before an entry that declares these names.
    func begin(_ names: [String]) throws(LuaError) {
        guard !names.isEmpty else { return }
        if !isUsed { try install() }
        for name in names where declared[name].isNil { pending[name] = true }
    }

    /// Called after the entry: names that it did not assign are declared, too.
    func end(_ names: [String]) {
        for name in names where !pending[name].isNil {
            pending[name] = .nil
            declared[name] = true
        }
    }

    /// In Lua, because each access to a global runs it: no call into Swift.
    private func install() throws(LuaError) {
        let source = """
            local locals, declared, pending, globals, setmetatable, rawset = ...
            return setmetatable(locals, {
              __index = function(_, name)
                if declared[name] then return nil end
                return globals[name]
              end,
              __newindex = function(_, name, value)
                if declared[name] then
                  rawset(locals, name, value)
                elseif pending[name] then
                  pending[name], declared[name] = nil, true
                  rawset(locals, name, value)
                else
                  globals[name] = value
                end
              end,
              __metatable = false,
            })
            """
        let chunk = try state.load(Array(source.utf8), name: "=(scope)")
        let globals = state.globals
        try chunk.call(
            .table(locals), .table(declared), .table(pending), .table(globals), globals["setmetatable"],
            globals["rawset"])
        isUsed = true
    }
}
