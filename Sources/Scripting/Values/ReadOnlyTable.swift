import Lua

/// Tables that scripts read but do not change: the array and dictionary values of items.
///
/// A read-only table is an empty table whose metatable looks into the real one; `ipairs`, `pairs` and `#` see through it.
/// The metatable also remembers whether an array or a dictionary is meant, which an empty table can't show.
struct ReadOnlyTable {
    /// What a table was when it was a property-list value.
    enum Shape: String { case array, dictionary, set }

    static var shapeKey: LuaValue { "__shape" }
    private static var contentsKey: LuaValue { "__contents" }

    private let length: LuaFunction
    private let pairs: LuaFunction
    private let refusal: LuaFunction
    private let dictionaryMark: LuaTable
    private let setMark: LuaTable

    init(_ state: LuaState) {
        let variadic = [LuaParameter("…", .variadic(.any))]
        length = state.makeFunction(LuaFunctionDeclaration("#", variadic)) { call in
            call.returns(try Self.contents(of: call.value(0))?.rawCount ?? 0)
        }
        let next = state.globals.rawGet("next")
        pairs = state.makeFunction(LuaFunctionDeclaration("pairs", variadic)) { call in
            try call.returns(values: [next, Self.contents(of: call.value(0)).map(LuaValue.table) ?? .nil, .nil])
        }
        refusal = state.makeFunction(LuaFunctionDeclaration("assignment", variadic)) { _ in
            throw LuaError(
                .argument,
                "this value is read-only: assign a new table to the item's field (or copy it with {table.unpack(t)})")
        }
        dictionaryMark = Self.mark(.dictionary, in: state)
        setMark = Self.mark(.set, in: state)
    }

    private static func mark(_ shape: Shape, in state: LuaState) -> LuaTable {
        let mark = state.makeTable(fields: 2)
        mark.rawSet(shapeKey, .text(shape.rawValue))
        mark.rawSet("__name", .text(shape.rawValue))
        return mark
    }

    /// A read-only view of a table.
    func make(_ contents: LuaTable, _ shape: Shape, in state: LuaState) -> LuaTable {
        let metatable = state.makeTable(fields: 8)
        metatable.rawSet("__index", .table(contents))
        metatable.rawSet("__newindex", .function(refusal))
        metatable.rawSet("__len", .function(length))
        metatable.rawSet("__pairs", .function(pairs))
        metatable.rawSet("__metatable", false)
        metatable.rawSet("__name", .text(shape.rawValue))
        metatable.rawSet(Self.contentsKey, .table(contents))
        metatable.rawSet(Self.shapeKey, .text(shape.rawValue))
        let table = state.makeTable()
        table.setMetatable(metatable)
        return table
    }

    /// Marks an ordinary table as a dictionary, so that it is one when it is empty, too.
    func markDictionary(_ table: LuaTable) { table.setMetatable(dictionaryMark) }

    /// Marks an ordinary table with elements from 1 on as a set.
    func markSet(_ table: LuaTable) { table.setMetatable(setMark) }

    /// The table behind a read-only one; nil for any other value.
    static func contents(of value: LuaValue) throws -> LuaTable? {
        guard case .table(let table) = value else { return nil }
        guard let metatable = table.metatable, case .table(let contents) = metatable.rawGet(contentsKey) else {
            return nil
        }
        return contents
    }

    /// What a table was marked as.
    static func shape(of table: LuaTable) -> Shape? {
        table.metatable?.rawGet(shapeKey).textValue.flatMap(Shape.init(rawValue:))
    }
}
