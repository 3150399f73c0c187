package import Images
package import Items
package import Lua
package import PropertyList

/// The kind of a Lua value, for display.
package enum Inspection {
    case item(Item)
    case items([Item])
    /// An unevaluated query.
    case query(ItemQuery)
    case image(Image)
    case date(PropertyListDate)
    case wideInteger(Int128)
    /// A read-only array or dictionary of an item.
    case contents(LuaTable)
    case other
}

extension ScriptHost {
    /// Resolves a value's handle to its object.
    package func inspect(_ value: LuaValue) -> Inspection {
        switch value {
        case .userdata:
            if let item = classes.item.object(of: value) { return .item(item) }
            if let query = classes.query.object(of: value) { return .query(query.query) }
            if let image = classes.imageClasses.image.object(of: value) { return .image(image) }
            if let date = values.dates.object(of: value) { return .date(date.date) }
            if let wide = values.wideIntegers.object(of: value) { return .wideInteger(wide.value) }
            return .other
        case .table(let table):
            if let contents = (try? ReadOnlyTable.contents(of: value)) ?? nil { return .contents(contents) }
            return items(in: table).map(Inspection.items) ?? .other
        default: return .other
        }
    }

    /// The items of an array that contains nothing else.
    private func items(in table: LuaTable) -> [Item]? {
        let count = table.count
        guard count > 0, classes.item.object(of: table[1]) != nil else { return nil }
        var items: [Item] = []
        for index in 1...count {
            guard let item = classes.item.object(of: table[index]) else { return nil }
            items.append(item)
        }
        return items
    }
}
