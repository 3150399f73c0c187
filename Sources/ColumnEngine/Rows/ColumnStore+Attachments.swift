import PropertyList

/// The field that says which bytes go with an item, in a collection whose server keeps them. It is changed, merged, committed and
/// taken back as any field, and is none of those that have names for people.
extension ColumnStore {
    /// The field; nil while no item has had it.
    package var attachmentField: ItemField? {
        @inline(never) get { fields.attachment }
    }

    /// The SHA-256 of the bytes that go with an item; nil for none. What a damaged record may have there is none, too.
    @inline(never)
    package func attachment(_ row: UInt32) -> [UInt8]? {
        guard let field = fields.attachment, case .data(let digest)? = value(row, field), digest.count == 32 else {
            return nil
        }
        return digest
    }

    /// Sets it, as a change of the log.
    @inline(never)
    package func setAttachment(_ row: UInt32, _ digest: [UInt8]?) {
        let field = fields.field(named: FieldTable.attachmentName)
        change(row, field, to: digest.map { heap.cell(.data($0)) } ?? .absent)
    }

    /// The names of all fields that have names for people.
    package var visibleFieldNames: [String] {
        @inline(never) get { fields.names.filter { $0 != FieldTable.attachmentName } }
    }

    /// The name under which a field's change is told.
    @inline(never)
    package func shownName(of field: ItemField) -> String {
        FieldTable.shownName(of: fields.name(of: field))
    }
}
