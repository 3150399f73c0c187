/// A remote persistence whose server keeps what goes with the items, too: bytes by the item's key and their SHA-256.
///
/// An item has the digests, in order, as one field without a name for people, so that changes of the bytes are merged, refused,
/// told to the other hosts and taken back as those of any field. The bytes are sent with the commit that has the field, and
/// read one by one when somebody wants them.
public protocol AttachmentPersistence: RemotePersistence {
    /// Gives the bytes of this host's own commits by their digest; asked for those that the server has not.
    var attachmentSource: ((_ digest: [UInt8]) throws(StoreError) -> [UInt8])? { get set }

    /// A folder's name for this collection: no other has it.
    var attachmentFolder: String { get }

    /// Reads from the server.
    var attachmentReader: any AttachmentReader { get }
}

/// Reads the bytes that go with items, on any thread.
public protocol AttachmentReader: Sendable {
    /// Reads the bytes that the server has for an item.
    ///
    /// - Parameters:
    ///   - key: the item's.
    ///   - digest: the bytes' SHA-256.
    ///   - limit: the most bytes that are read.
    /// - Returns: the bytes, not checked yet.
    /// - Throws: ``StoreError``: `disconnected`; `inputOutput` for bytes that are not there, and for too many.
    func bytes(ofItem key: String, digest: [UInt8], limit: Int) throws(StoreError) -> [UInt8]
}
