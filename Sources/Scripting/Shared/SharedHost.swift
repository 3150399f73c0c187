package import Application
import Files
import PropertyList
package import SharedItems

/// A container's identity for the other hosts of shared collections.
package enum SharedHost {
    /// The collection, with this container as one of its hosts. The container stores a copy of the items.
    ///
    /// - Parameters:
    ///   - address: the collection's address.
    ///   - opened: the container.
    ///   - hostName: the host's name; if nil, the name of the container's folder.
    ///   - keepsCommits: whether commits are queued while the server does not answer.
    ///   - waiter: waits for the server.
    /// - Returns: the persistence for opening a store.
    package static func persistence(
        _ address: SharedAddress, of opened: OpenedContainer, hostName: String? = nil, keepsCommits: Bool = false,
        waiter: any PostgresWaiter = BlockingWaiter()
    ) -> SharedPersistence {
        SharedPersistence(
            address, host: identifier(of: opened), hostName: hostName ?? PathText.name(of: opened.container.path),
            isReadOnly: opened.isReadOnly, folder: PathText.join(opened.container.applicationSupport, "Shared"),
            using: opened.files, keepsCommits: keepsCommits, waiter: waiter)
    }

    /// The host's identifier, 16 bytes stored in the container; created on first use.
    package static func identifier(of opened: OpenedContainer) -> [UInt8] {
        let defaults = Defaults(folder: opened.container.preferences, domain: "shared", using: opened.files)
        if case .data(let bytes)? = defaults.value(forKey: "host"), bytes.count == 16 { return bytes }
        var source = SystemRandomNumberGenerator()
        let bytes = withUnsafeBytes(of: (source.next(), source.next())) { Array($0) }
        // If it cannot be stored, each run is another host.
        try? defaults.set(.data(bytes), forKey: "host")
        try? defaults.synchronize()
        return bytes
    }
}
