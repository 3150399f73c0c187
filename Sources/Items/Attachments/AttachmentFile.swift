/// The file of an attachment. Usable on any thread.
package struct AttachmentFile: Sendable {
    /// Its path, even before it is fetched.
    package let path: String
    /// A cache key for results that are computed from the bytes.
    package let name: String
    /// Whether the name always refers to the same bytes; else the file's content may be replaced.
    package let isImmutable: Bool
    private let fetch: (@Sendable () throws(StoreError) -> Void)?

    package init(_ path: String, name: String) {
        (self.path, self.name, isImmutable, fetch) = (path, name, false, nil)
    }

    init(_ path: String, immutable name: String, fetch: (@Sendable () throws(StoreError) -> Void)? = nil) {
        (self.path, self.name, isImmutable, self.fetch) = (path, name, true, fetch)
    }

    /// Fetches the bytes from the collection's server if they are not stored locally.
    ///
    /// - Throws: ``StoreError`` with `disconnected` or `inputOutput`.
    package func prepare() throws(StoreError) { try fetch?() }
}
