import PropertyList

/// An object that has its UID and waits to be written.
enum QueuedObject {
    case object(any KeyedEncodable, uid: UInt32)
    case value(ArchiveValue, uid: UInt32)
    case propertyList(PropertyListValue, uid: UInt32)
}
