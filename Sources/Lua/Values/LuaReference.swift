internal import CLuaShim
internal import Synchronization

/// A Lua value kept alive from Swift: a slot of the registry, given back when the last owner lets go.
///
/// It may be dropped on any thread: the slot goes to a list that the state's own thread empties.
public final class LuaReference: Sendable {
    let slot: Int32
    let releases: ReleaseList

    init(slot: Int32, releases: ReleaseList) {
        self.slot = slot
        self.releases = releases
    }

    deinit { releases.add(slot) }

    /// The registry slots that no reference needs any more.
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
