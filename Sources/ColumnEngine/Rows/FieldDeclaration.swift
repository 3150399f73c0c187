/// What is fixed of a field before any item has it: it has a column from the beginning, whose encoding never changes.
package struct FieldDeclaration: Sendable {
    package let name: String
    /// Not `mixed`.
    package let kind: FieldKind
    /// The value of an item that was given none. Absent for texts that an item may lack; every item has a number or date.
    package let unset: Cell
    /// Whether a new item that was given no date has that of its creation; for one field at the most.
    package let isStamped: Bool

    package init(name: String, kind: FieldKind, unset: Cell, isStamped: Bool = false) {
        (self.name, self.kind, self.unset, self.isStamped) = (name, kind, unset, isStamped)
    }
}
