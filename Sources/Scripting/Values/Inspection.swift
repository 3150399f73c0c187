package import Images
package import Items
package import Lua
package import Plots
package import PropertyList
package import TimeZones

/// The kind of a Lua value, for display.
package enum Inspection {
    case item(Item)
    case items([Item])
    /// An unevaluated query.
    case query(ItemQuery)
    /// The rows of a SQL statement.
    case rows(SQLRows)
    case image(BitmapImage)
    case plot(Plot)
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
            if let item = state.luaClass(of: Item.self)?.object(of: value) { return .item(item) }
            if let query = state.luaClass(of: ItemQuery.self)?.object(of: value) { return .query(query) }
            if let rows = state.luaClass(of: SQLRows.self)?.object(of: value) { return .rows(rows) }
            if let image = state.luaClass(of: BitmapImage.self)?.object(of: value) { return .image(image) }
            if let plot = state.luaClass(of: Plot.self)?.object(of: value) { return .plot(plot) }
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
        guard count > 0, let cls = state.luaClass(of: Item.self), cls.object(of: table[1]) != nil else { return nil }
        let items = (1...count).compactMap { cls.object(of: table[$0]) }
        return items.count == count ? items : nil
    }
}

extension ScriptHost {
    /// A date's text in the user's time zone, with its offset from UTC.
    package func localText(_ date: PropertyListDate) -> String { values.clock.local(date) }

    /// A date for a table, to the minute in the user's zone, with `…` for seconds; midnight in UTC is a day, which is
    /// the same in all zones.
    package func shortText(_ date: PropertyListDate) -> String {
        let text = date.text
        if text.hasSuffix(" 00:00:00 +0000") { return String(text.dropLast(15)) }
        let local = localText(date)
        guard let mark = local.lastIndex(of: ":") else { return local }
        return local[..<mark] + (local[mark...].hasPrefix(":00 ") ? "" : "…")
    }

    /// Makes a text for the user, with dates in the user's time zone.
    package func showing<Value>(_ body: () throws -> Value) rethrows -> Value { try values.clock.showing(body) }
}

/// The user's clock: dates are displayed in its zone, and stored in UTC.
package final class LocalClock {
    let zones: ZoneDatabase
    /// Whether a text for display is being made: `tostring` uses UTC, the prompt and `print` local time.
    private(set) var isShowing = false

    init(_ zones: ZoneDatabase) { self.zones = zones }

    /// `2026-11-21 05:13:00 +0100`; in UTC unless it is for display.
    package func text(_ date: PropertyListDate) -> String { isShowing ? local(date) : date.text }

    /// Seconds by which the user's clock is ahead of UTC at a time in seconds since 1970.
    package func offset(at seconds: Int64) -> Int { zones.local.offset(at: seconds).seconds }

    /// The text in the user's zone.
    func local(_ date: PropertyListDate) -> String {
        guard let seconds = date.wholeSecondsSince1970 else { return date.text }
        return date.text(offset: zones.local.offset(at: Int64(seconds)))
    }

    /// Makes a text for display.
    func showing<Value>(_ body: () throws -> Value) rethrows -> Value {
        let outer = isShowing
        isShowing = true
        defer { isShowing = outer }
        return try body()
    }

    /// The zone of the argument `zone`; UTC if none is given.
    ///
    /// - Throws: `LuaMismatch` for an unknown one.
    package func zone(named name: String?) throws(LuaMismatch) -> Zone {
        guard let name else { return .utc }
        do { return try zones.zone(named: name) } catch { throw LuaMismatch(error.description, argument: "zone") }
    }

    /// The zone of the option `zone` of a table; UTC if none is given.
    ///
    /// - Throws: `LuaMismatch` for an unknown one.
    package func zone(of options: LuaTable) throws(LuaMismatch) -> Zone {
        do throws(LuaMismatch) { return try zone(named: options["zone"].textValue) } catch {
            throw LuaMismatch("option 'zone': \(error.message)")
        }
    }
}
