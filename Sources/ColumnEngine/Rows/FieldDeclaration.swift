/// The properties of a field that are fixed beforehand: it always has a column, whose encoding never changes.
///
/// Values of other kinds are not assigned. Those that an archive contains are carried as they are: see
/// ``FieldColumn/misfits``.
package struct FieldDeclaration: Sendable {
    package let name: String
    /// Not `mixed`.
    package let kind: FieldKind
    /// The value of a new item without one. Absent for texts that an item may lack.
    package let unset: Cell
    /// Whether a new item without a date gets the time of its creation; for at most one field.
    package let isStamped: Bool

    package init(name: String, kind: FieldKind, unset: Cell, isStamped: Bool = false) {
        (self.name, self.kind, self.unset, self.isStamped) = (name, kind, unset, isStamped)
    }
}
