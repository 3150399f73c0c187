/// The content of a column of mapped items.
package enum MappedColumn {
    case field(ItemField), key, keyKind, custom
}
