import CPlatform
import Lua

/// The memory of rows of databases that scripts hold, within their limit.
///
/// Lua knows a handle or a table of each row, and not what the host has made for it: garbage is collected in time, since
/// SQLite allocates within what is left of the limit.
package final class RowMemory {
    private unowned let host: ScriptHost
    /// The bytes since garbage was collected.
    private var fetched = 0

    package init(_ host: ScriptHost) { self.host = host }

    /// Collects rows that no script has any more.
    package func collect() {
        guard let limit = host.state.memory.limit, fetched > limit / 8 else { return }
        fetched = 0
        if cubby_work_capacity() < Int64(limit / 2) { host.runtime.returnMemory() }
    }

    /// Counts bytes that have been fetched or are going to be.
    package func add(_ count: Int) { fetched += count }

    /// Whether the limit has room for bytes, if need be after a collection.
    package func hasCapacity(for count: Int) -> Bool {
        guard Int64(count) > cubby_work_capacity() else { return true }
        host.runtime.returnMemory()
        return Int64(count) <= cubby_work_capacity()
    }
}
