/// What a field holds wherever it holds anything.
package enum FieldKind {
    case text, integer, date, mixed
}
