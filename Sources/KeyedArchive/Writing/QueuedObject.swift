import PropertyList

/// An object with a UID that is not written yet.
enum QueuedObject {
    case object(any KeyedEncodable, uid: UInt32)
    case value(ArchiveValue, uid: UInt32)
    case propertyList(PropertyListValue, uid: UInt32)
}
