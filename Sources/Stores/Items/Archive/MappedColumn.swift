/// The fields of mapped items as columns hold them.
enum MappedColumn {
    case name, serialNumber, valueInDollars, dateCreated, key, keyKind, custom

    /// Whether its elements are cells that hold a text or nothing.
    var isText: Bool { self == .name || self == .serialNumber }
}
