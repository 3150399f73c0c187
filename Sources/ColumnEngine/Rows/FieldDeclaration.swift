/// What is fixed of a field before any item has it: it has a column from the beginning, whose encoding never changes.
package struct FieldDeclaration {
    package let name: String
    /// Not `mixed`.
    package let kind: FieldKind
    /// What an item has that was given nothing. Absent for texts that an item may lack; every item has a number or date.
    package let unset: Cell
}
