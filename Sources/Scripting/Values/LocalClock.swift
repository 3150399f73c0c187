import Lua
import PropertyList
import TimeZones

/// The user's clock: dates are displayed in its zone, and stored in UTC.
final class LocalClock {
    let zones: ZoneDatabase
    /// Whether a text for display is being made: `tostring` uses UTC, the prompt and `print` local time.
    private(set) var isShowing = false

    init(_ zones: ZoneDatabase) { self.zones = zones }

    /// `2026-11-21 05:13:00 +0100`; in UTC unless it is for display.
    func text(_ date: PropertyListDate) -> String { isShowing ? local(date) : date.text }

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
    func zone(named name: String?) throws(LuaMismatch) -> Zone {
        guard let name else { return .utc }
        do { return try zones.zone(named: name) } catch { throw LuaMismatch(error.description, argument: "zone") }
    }

    /// The zone of the option `zone` of a table; UTC if none is given.
    ///
    /// - Throws: `LuaMismatch` for an unknown one.
    func zone(of options: LuaTable) throws(LuaMismatch) -> Zone {
        do throws(LuaMismatch) { return try zone(named: options["zone"].textValue) } catch {
            throw LuaMismatch("option 'zone': \(error.message)")
        }
    }
}
