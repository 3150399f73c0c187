import Files
import ItemArchive

/// A folder in a host's container with its part of a collection: the copy of the items, and the queue.
///
/// It belongs to the collection's epoch, and not to an address: servers move, are renamed and get standbys, and the same
/// address can be written in several ways. A small text file says whose it is, and on what server the collection was last.
struct CollectionFolder {
    let path: String
    /// The collection's epoch; nil as long as it is not known.
    var epoch: [UInt8]?
    /// The server that had the collection last.
    var server = ServerIdentity()
    /// Whether the copy lacks items that could not be read on the server.
    var isIncomplete = false
    /// The addresses by which this host opened it.
    private(set) var addresses: [String] = []
    /// The databases that these name: see ``places(of:)``.
    private var places: Set<String> = []

    private static let fileName = "collection"
    private static let addressLimit = 32

    var cachePath: String { PathText.join(path, "items.cache") }
    var queuePath: String { PathText.join(path, "commits.queue") }

    /// Whether this host has opened it by this address.
    func isKnown(by address: SharedAddress) -> Bool { addresses.contains(address.description) }

    /// Whether an address names a database that has the collection, as far as that can be known without the server.
    func isAtPlace(of address: SharedAddress) -> Bool { !places.isDisjoint(with: Self.places(of: address)) }

    mutating func remember(_ address: SharedAddress) {
        places.formUnion(Self.places(of: address))
        if isKnown(by: address) || address.description.contains("\n") { return }
        addresses = addresses.suffix(Self.addressLimit - 1) + [address.description]
    }

    /// Each server of an address with its database and the collection.
    private static func places(of address: SharedAddress) -> Set<String> {
        guard let library = try? PostgresLibrary.functions(),
            let given = try? PostgresParameters(address, library).given
        else { return [] }
        func list(_ name: String) -> [String] {
            (given[name] ?? "").split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let (hosts, ports) = (list(given["host"] == nil ? "hostaddr" : "host"), list("port"))
        let database = given["dbname"] ?? given["user"] ?? ""
        return Set(
            hosts.enumerated().map { index, host in
                var host = host
                while host.count > 1, host.hasSuffix("/") { host.removeLast() }
                let port = ports.count > 1 ? (index < ports.count ? ports[index] : "") : ports.first ?? ""
                let service = given["service"] ?? ""
                return "\(host):\(port.isEmpty ? "5432" : port)/\(database)/\(service)/\(address.collection)"
            })
    }

    // MARK: The file

    /// Reads what a folder belongs to. One of an older program has only the items, which have the epoch.
    init(_ path: String, using layer: any FileLayer) {
        self.path = path
        guard let bytes = try? layer.contents(of: PathText.join(path, Self.fileName), limit: 1 << 20) else {
            guard let bytes = try? layer.contents(of: cachePath), let scan = bytes.withBytes({ try? JournalHeader($0) })
            else { return }
            epoch = SharedCache.epoch(of: scan)
            return
        }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            guard let space = line.firstIndex(of: " ") else { continue }
            let text = String(line[line.index(after: space)...])
            switch line[..<space] {
            case "epoch": epoch = [UInt8](hexadecimal: text, count: 16)
            case "server":
                let numbers = text.split(separator: " ").compactMap { Int64($0) }
                if numbers.count == 2 { server = ServerIdentity(system: numbers[0], timeline: numbers[1]) }
            case "address": addresses.append(text)
            case "place": places.insert(text)
            case "lacks": isIncomplete = text == "items"
            default: continue
            }
        }
    }

    /// Writes what the folder belongs to.
    func write(using layer: any FileLayer) throws(FileError) {
        var lines = ["server \(server.system) \(server.timeline)"]
        if let epoch { lines.append("epoch " + epoch.hexadecimal) }
        if isIncomplete { lines.append("lacks items") }
        lines += addresses.map { "address " + $0 } + places.sorted().map { "place " + $0 }
        try layer.makeDirectories(path)
        let output = try AtomicFileWriter(PathText.join(path, Self.fileName), using: layer, permissions: 0o600)
        try output.append(Array((lines.joined(separator: "\n") + "\n").utf8))
        try output.commit(durable: true)
    }
}

extension CollectionFolder: Equatable {}

/// The folders of all collections in a host's container.
struct CollectionFolders {
    let root: String
    let layer: any FileLayer

    private var all: [CollectionFolder] {
        let names = ((try? layer.list(root)) ?? []).sorted()
        return names.map { CollectionFolder(PathText.join(root, $0), using: layer) }
    }

    /// The folder of the collection that an address names, as far as that can be known without the server.
    func folder(of address: SharedAddress) -> CollectionFolder? {
        let all = all
        let former = PathText.join(root, Self.formerName(of: address))
        return all.first { $0.isKnown(by: address) } ?? all.first { $0.path == former }
            ?? all.first { $0.isAtPlace(of: address) }
    }

    /// The folder of a collection.
    func folder(ofEpoch epoch: [UInt8]) -> CollectionFolder? { all.first { $0.epoch == epoch } }

    /// A new folder for a collection.
    func newFolder(_ collection: String, epoch: [UInt8]) -> CollectionFolder {
        let name = "\(Self.visible(collection))-\(Array(epoch.prefix(8)).hexadecimal)"
        return CollectionFolder(PathText.join(root, name), using: layer)
    }

    /// The name that older programs gave it: the address's.
    static func formerName(of address: SharedAddress) -> String {
        "\(visible(address.collection))-\(String(Checksum.hash(Array(address.description.utf8)), radix: 36))"
    }

    private static func visible(_ name: String) -> String {
        String(
            name.unicodeScalars.prefix(40).map {
                $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0)) ? Character($0) : "_"
            })
    }
}

/// What a container has of a collection: its folder, once that is known, with the copy of the items and the queue.
struct LocalCopy {
    /// The container's folders of collections; nil without a container.
    let folders: CollectionFolders?
    /// This collection's folder; nil until it is known, and without a container.
    var folder: CollectionFolder?
    var cache: SharedCache?
    /// Commits queued for the server or to be settled.
    var queue: CommitQueue?
    /// The content of the cache, until it is loaded.
    var peeked: CachedCollection?
    /// What the user has to know of the folder.
    var notices: [String] = []
}

/// The folder that this host uses.
extension SharedPersistence {
    /// Finds the folder by the address, and with it what the host knows of the collection: before the server is asked.
    func openFolder() {
        guard folder == nil, let found = local.folders?.folder(of: address) else { return }
        use(found)
    }

    private func use(_ found: CollectionFolder) {
        guard let folders = local.folders else { return }
        local.folder = found
        local.cache = SharedCache(found.cachePath, using: folders.layer)
        local.queue = CommitQueue(found.queuePath, using: folders.layer)
        if found.server != ServerIdentity() { server.former = found.server }
        // The server says whether it has the same commits up to this one. An unreadable copy is reported when it is loaded.
        local.peeked = (try? cache?.read()) ?? nil
        server.log.begin(knowing: local.peeked?.newest ?? Lineage())
    }

    /// Uses the folder of the collection that the server has, and remembers the address and the server. Nothing happens
    /// without a connection.
    func settleFolder() {
        guard let folders = local.folders, let collection = server.collection, isConnected else { return }
        if folder?.epoch != collection.epoch {
            if let other = folders.folder(ofEpoch: collection.epoch) {
                use(other)
            } else if folder == nil {
                use(folders.newFolder(address.collection, epoch: collection.epoch))
            }
        }
        guard var settled = folder else { return }
        if settled.epoch == collection.epoch, let other = settled.addresses.last, !settled.isKnown(by: address) {
            local.notices.append(
                "this is the collection that this container knows as \(other): its items and queue are used")
        }
        settled.epoch = collection.epoch
        if collection.server.system != 0 { settled.server = collection.server }
        settled.remember(address)
        guard settled != folder else { return }
        // Also if it is not written: a further connection finds what this one did.
        local.folder = settled
        if opensReadOnly { return }
        do throws(FileError) { try settled.write(using: folders.layer) } catch {
            local.notices.append(
                "what is here of the collection cannot be marked as its (\(error.message)): a start by another address "
                    + "does not find it")
        }
    }
}
