import Foundation
import ItemsTestSupport
import Synchronization

/// Copies of a store's folders, as they were at one moment each.
final class Snapshots: Sendable {
    private let folder: StoreFolder
    private let taken = Mutex<[StoreFolder]>([])

    init(of folder: StoreFolder) { self.folder = folder }

    var all: [StoreFolder] { taken.withLock { $0 } }

    func take() {
        guard let copy = try? StoreFolder() else { return }
        let manager = FileManager.default
        for (source, target) in [(folder.path, copy.path), (folder.caches, copy.caches)] {
            try? manager.removeItem(atPath: target)
            try? manager.copyItem(atPath: source, toPath: target)
        }
        taken.withLock { $0.append(copy) }
    }
}
