package import Lua

/// Read-only tables: the array and dictionary values of items.
///
/// A read-only table is an empty table whose metatable reads the real one; `ipairs`, `pairs` and `#` read through it.
/// The metatable also records whether an empty table is an array or a dictionary.
package struct ReadOnlyTable {
    /// The table's property-list type.
    package enum Shape: String { case array, dictionary, set }

    /// The elements of a lazy array.
    package final class Elements {
        package let count: Int
        /// The element at a position from 0.
        let element: (Int) throws -> LuaValue

        package init(count: Int, element: @escaping (Int) throws -> LuaValue) {
            self.count = count
            self.element = element
        }
    }

    package static var shapeKey: LuaValue { "__shape" }
    private static var contentsKey: LuaValue { "__contents" }

    private static var elementsKey: LuaValue { "__elements" }

    private let length: LuaFunction
    private let pairs: LuaFunction
    private let index: LuaFunction
    private let all: LuaFunction
    private let denial: LuaFunction
    private let dictionaryMark: LuaTable
    private let setMark: LuaTable
    private let elements: LuaClass<Elements>

    init(_ state: LuaState) {
        let variadic = [LuaParameter("…", .variadic(.any))]
        let elements = LuaClass<Elements>(hidden: "elements", in: state)
        self.elements = elements
        length = state.makeFunction(LuaFunctionDeclaration("#", variadic)) { call in
            if let elements = Self.elements(of: call.value(0), elements) { return call.returns(elements.count) }
            return call.returns(try Self.contents(of: call.value(0))?.count ?? 0)
        }
        let next = state.globals["next"]
        pairs = state.makeFunction(LuaFunctionDeclaration("pairs", variadic)) { call in
            try call.returns(values: [next, Self.contents(of: call.value(0)).map(LuaValue.table) ?? .nil, .nil])
        }
        index = state.makeFunction(LuaFunctionDeclaration("index", variadic)) { call in
            guard let elements = Self.elements(of: call.value(0), elements),
                let position = call.value(1).integerValue, position >= 1, position <= Int64(elements.count)
            else { return call.returns(LuaValue.nil) }
            return call.returns(try elements.element(Int(position - 1)))
        }
        all = state.makeFunction(LuaFunctionDeclaration("elements", variadic)) { call in
            let elements = Self.elements(of: call.value(0), elements)
            let table = call.state.makeTable(array: elements?.count ?? 0)
            for position in 0..<(elements?.count ?? 0) {
                table[position + 1] = try elements?.element(position) ?? .nil
            }
            return call.returns(LuaValue.table(table))
        }
        denial = state.makeFunction(LuaFunctionDeclaration("assignment", variadic)) { _ in
            throw LuaError(
                .argument,
                "this value is read-only: assign a new table to the item's field (or copy it with {table.unpack(t)})")
        }
        dictionaryMark = Self.mark(.dictionary, in: state)
        setMark = Self.mark(.set, in: state)
    }

    private static func mark(_ shape: Shape, in state: LuaState) -> LuaTable {
        state.makeTable(["__shape": shape.rawValue, "__name": shape.rawValue])
    }

    /// A read-only view of a table.
    package func make(_ contents: LuaTable, _ shape: Shape, in state: LuaState) -> LuaTable {
        let metatable = state.makeTable(fields: 8)
        metatable["__index"] = .table(contents)
        metatable["__newindex"] = .function(denial)
        metatable["__len"] = .function(length)
        metatable["__pairs"] = .function(pairs)
        metatable["__metatable"] = false
        metatable["__name"] = .text(shape.rawValue)
        metatable[Self.contentsKey] = .table(contents)
        metatable[Self.shapeKey] = .text(shape.rawValue)
        let table = state.makeTable()
        table.setMetatable(metatable)
        return table
    }

    /// A read-only array with lazy elements.
    package func makeArray(_ elements: Elements, in state: LuaState) -> LuaTable {
        let table = make(state.makeTable(), .array, in: state)
        guard let metatable = table.metatable else { return table }
        metatable["__index"] = .function(index)
        metatable[Self.contentsKey] = .function(all)
        metatable[Self.elementsKey] = self.elements.value(elements)
        return table
    }

    private static func elements(of value: LuaValue, _ cls: LuaClass<Elements>) -> Elements? {
        guard case .table(let table) = value, let metatable = table.metatable else { return nil }
        return cls.object(of: metatable[elementsKey])
    }

    /// Marks an ordinary table as a dictionary, for when it is empty.
    package func markDictionary(_ table: LuaTable) { table.setMetatable(dictionaryMark) }

    /// Marks an ordinary table with elements from 1 as a set.
    package func markSet(_ table: LuaTable) { table.setMetatable(setMark) }

    /// The table behind a read-only one; nil for any other value.
    package static func contents(of value: LuaValue) throws -> LuaTable? {
        guard case .table(let table) = value else { return nil }
        guard let metatable = table.metatable else { return nil }
        switch metatable[contentsKey] {
        case .table(let contents): return contents
        case .function(let all):
            // All elements at once: each access would create one again.
            guard case .table(let contents)? = try all.call(value).first else { return nil }
            return contents
        default: return nil
        }
    }

    /// The mark of a table.
    package static func shape(of table: LuaTable) -> Shape? {
        table.metatable?[shapeKey].textValue.flatMap(Shape.init(exactly:))
    }
}
