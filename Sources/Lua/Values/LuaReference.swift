internal import CLuaShim
internal import Synchronization

/// A Lua value retained by Swift: a slot of the registry, freed with the last reference.
///
/// May be released on any thread: the slot is added to a list that the state's own thread empties.
package final class LuaReference: Sendable {
    let slot: Int32
    let releases: ReleaseList

    init(slot: Int32, releases: ReleaseList) {
        self.slot = slot
        self.releases = releases
    }

    deinit { releases.add(slot) }

    /// Registry slots to free.
    final class ReleaseList: Sendable {
        private let slots = Mutex<[Int32]>([])

        func add(_ slot: Int32) { slots.withLock { $0.append(slot) } }

        func take() -> [Int32] {
            slots.withLock { slots in
                defer { slots.removeAll(keepingCapacity: true) }
                return slots
            }
        }
    }
}
