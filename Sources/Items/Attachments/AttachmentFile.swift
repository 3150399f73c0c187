/// The file of what goes with an item. Usable on any thread.
package struct AttachmentFile: Sendable {
    /// Where it is, or is going to be once it is fetched.
    package let path: String
    /// The name under which may be kept what is made of the bytes.
    package let name: String
    /// Whether other bytes never have the name; else they may be replaced in their place.
    package let isImmutable: Bool
    private let fetch: (@Sendable () throws(StoreError) -> Void)?

    package init(_ path: String, name: String) {
        (self.path, self.name, isImmutable, fetch) = (path, name, false, nil)
    }

    init(_ path: String, immutable name: String, fetch: (@Sendable () throws(StoreError) -> Void)? = nil) {
        (self.path, self.name, isImmutable, self.fetch) = (path, name, true, fetch)
    }

    /// Fetches the bytes from the collection's server, if they are not here.
    ///
    /// - Throws: ``StoreError`` with `disconnected` or `inputOutput`.
    package func prepare() throws(StoreError) { try fetch?() }
}
