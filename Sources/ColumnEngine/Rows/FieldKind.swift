/// The kind of a field's values.
package enum FieldKind {
    case text, integer, date, mixed
}
