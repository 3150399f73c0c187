/// What a column of mapped items has of them.
package enum MappedColumn {
    case field(ItemField), key, keyKind, custom
}
