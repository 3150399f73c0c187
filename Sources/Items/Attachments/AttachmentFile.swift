/// The file of what goes with an item. Usable on any thread.
package struct AttachmentFile: Sendable {
    /// Where it is, or is going to be once it is fetched.
    package let path: String
    /// A name that other bytes do not have, under which may be kept what is made of these; nil where bytes are replaced in
    /// their place.
    package let contentName: String?
    private let fetch: (@Sendable () throws(StoreError) -> Void)?

    package init(_ path: String, contentName: String? = nil, fetch: (@Sendable () throws(StoreError) -> Void)? = nil) {
        self.path = path
        self.contentName = contentName
        self.fetch = fetch
    }

    /// Fetches the bytes from the collection's server, if they are not here.
    ///
    /// - Throws: ``StoreError`` with `disconnected` or `inputOutput`.
    package func prepare() throws(StoreError) { try fetch?() }
}
