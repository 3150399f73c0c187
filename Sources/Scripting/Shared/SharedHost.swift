package import Application
import Files
import PropertyList
package import SharedItems

/// Who a container is for the other hosts of shared collections.
package enum SharedHost {
    /// The collection, with this container as one of its hosts, and its items kept in the container.
    ///
    /// - Parameters:
    ///   - address: where the collection is.
    ///   - opened: the container.
    ///   - hostName: the container's folder's name if nil.
    ///   - keepsCommits: whether commits are kept while the server does not answer.
    ///   - waiter: how the server is waited for.
    /// - Returns: what a store is opened with.
    package static func persistence(
        _ address: SharedAddress, of opened: OpenedContainer, hostName: String? = nil, keepsCommits: Bool = false,
        waiter: any PostgresWaiter = BlockingWaiter()
    ) -> SharedPersistence {
        SharedPersistence(
            address, host: identifier(of: opened), hostName: hostName ?? PathText.name(of: opened.container.path),
            isReadOnly: opened.isReadOnly, folder: PathText.join(opened.container.applicationSupport, "Shared"),
            using: opened.files, keepsCommits: keepsCommits, waiter: waiter)
    }

    /// 16 bytes that the container keeps from run to run; made the first time.
    package static func identifier(of opened: OpenedContainer) -> [UInt8] {
        let defaults = Defaults(folder: opened.container.preferences, domain: "shared", using: opened.files)
        if case .data(let bytes)? = defaults.value(forKey: "host"), bytes.count == 16 { return bytes }
        var source = SystemRandomNumberGenerator()
        let bytes = withUnsafeBytes(of: (source.next(), source.next())) { Array($0) }
        // Where it cannot be kept, each run is another host.
        try? defaults.set(.data(bytes), forKey: "host")
        try? defaults.synchronize()
        return bytes
    }
}
