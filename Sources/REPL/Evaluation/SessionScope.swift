import Lua

/// The locals that entries declare at their top, kept for the session: a table in front of the globals.
///
/// As long as there are none, entries run on the globals themselves and pay nothing.
final class SessionScope {
    private let state: LuaState
    /// The locals by name.
    let locals: LuaTable
    /// Names that were declared: assigning them stays in `locals`, and nil is their value as well.
    private let declared: LuaTable
    /// Names that the running entry declares: until it has assigned them, they mean what they meant before.
    private let pending: LuaTable
    private(set) var isUsed = false

    init(_ state: LuaState) {
        self.state = state
        locals = state.makeTable()
        declared = state.makeTable()
        pending = state.makeTable()
    }

    /// The globals of an entry; nil for the state's own.
    var environment: LuaTable? { isUsed ? locals : nil }

    /// The names that are declared.
    var names: [String] { RawAccess.fields(of: declared, limit: 10_000, depth: 1).map(\.name).sorted() }

    /// An entry that declares these names is about to run.
    func begin(_ names: [String]) throws(LuaError) {
        guard !names.isEmpty else { return }
        if !isUsed { try install() }
        for name in names where declared.rawGet(.text(name)).isNil { pending.rawSet(.text(name), true) }
    }

    /// The entry has ended: what it did not come to assign is declared all the same.
    func end(_ names: [String]) {
        for name in names where !pending.rawGet(.text(name)).isNil {
            pending.rawSet(.text(name), .nil)
            declared.rawSet(.text(name), true)
        }
    }

    /// In Lua, because each access to a global goes through it: no crossing into Swift.
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
        let chunk = try state.load(Array(source.utf8), name: "=scope")
        let globals = state.globals
        try chunk.call(
            .table(locals), .table(declared), .table(pending), .table(globals), globals.rawGet("setmetatable"),
            globals.rawGet("rawset"))
        isUsed = true
    }
}
