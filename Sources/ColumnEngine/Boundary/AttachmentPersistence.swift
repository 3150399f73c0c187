/// A remote persistence whose server also stores the items' attachments: bytes by the item's key and their SHA-256.
///
/// An item has the digests, in order, as one field that is hidden from users, so that changes of the bytes are merged,
/// refused, sent to the other hosts and undone like those of any field. The bytes are sent with the commit that has the
/// field, and are read one by one on demand.
public protocol AttachmentPersistence: RemotePersistence {
    /// Returns the bytes of this host's own commits by their digest; called for those that the server lacks.
    var attachmentSource: ((_ digest: [UInt8]) throws(StoreError) -> [UInt8])? { get set }

    /// A folder name that is unique to this collection.
    var attachmentFolder: String { get }

    /// Reads from the server.
    var attachmentReader: any AttachmentReader { get }
}

/// Reads the items' attachments, on any thread.
public protocol AttachmentReader: Sendable {
    /// Reads an attachment of an item from the server.
    ///
    /// - Parameters:
    ///   - key: the item's key.
    ///   - digest: the bytes' SHA-256.
    ///   - limit: maximum number of bytes to read.
    /// - Returns: the bytes, not checked yet.
    /// - Throws: ``StoreError``: `disconnected`; `inputOutput` for missing bytes, and for more than the limit.
    func bytes(ofItem key: String, digest: [UInt8], limit: Int) throws(StoreError) -> [UInt8]
}
