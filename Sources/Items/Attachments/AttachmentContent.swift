/// One of several attachments that an item is to have.
package enum AttachmentContent {
    /// The one whose ``AttachmentFile/name`` this is.
    case kept(String)
    /// These bytes; where it has the same already, they are not written again.
    case bytes([UInt8])
}
