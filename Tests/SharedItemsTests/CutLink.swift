import Files
import Items
import SharedItems
import TestSupport
import Testing

/// The link of a laptop to the server, which a test can cut, and the laptop's folder, which outlives its stores.
struct CutLink {
    let cluster: PostgresServer
    let folder: TemporaryDirectory
    let proxy: CuttingProxy

    init() throws {
        cluster = try .ofSuite
        folder = try TemporaryDirectory()
        proxy = try CuttingProxy(to: cluster.folder.path)
    }

    func open(
        _ collection: String, keepsCommits: Bool = true, using layer: any FileLayer = PosixFileLayer()
    ) throws -> ItemStore {
        try ItemStore.open(
            SharedPersistence(
                SharedAddress(cluster.url(collection, folder: proxy.folder.path)),
                host: [UInt8](repeating: 7, count: 16), hostName: "laptop", timeLimit: .seconds(5),
                folder: folder.path, using: layer, keepsCommits: keepsCommits, waiter: BlockingWaiter()))
    }

    /// Breaks the link: each further attempt ends at its first byte.
    func goAway(_ store: ItemStore) throws {
        proxy.cut(after: 0)
        try? store.shared.poll()
        store.connectionWasLost()
        #expect(!store.isConnected && !store.isReadOnly)
    }

    func comeBack(_ store: ItemStore) throws {
        proxy.cut(after: nil)
        try store.update()
        #expect(store.isConnected && store.waitingCommits == 0)
    }
}
