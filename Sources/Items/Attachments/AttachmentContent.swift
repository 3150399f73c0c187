/// One element of the new list of an item's attachments.
package enum AttachmentContent {
    /// The existing attachment with this ``AttachmentFile/name``.
    case kept(String)
    /// These bytes; not written again if the item already has an equal attachment.
    case bytes([UInt8])
}
