/// The fields of mapped items as columns hold them.
package enum MappedColumn {
    case name, serialNumber, valueInDollars, dateCreated, key, keyKind, custom
}
