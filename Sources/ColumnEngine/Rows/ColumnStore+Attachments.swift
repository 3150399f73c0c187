package import PropertyList

/// The field of an item's attachments: their SHA-256 if a server stores them, or the names of their files if the item
/// has several. It is changed, merged, committed and undone like any field, but is hidden from users.
extension ColumnStore {
    /// The field; nil while no item has had it.
    package var attachmentField: ItemField? {
        @inline(never) get { fields.attachment }
    }

    /// The field's value; nil if there is none.
    @inline(never)
    package func attachments(_ row: UInt32) -> PropertyListValue? { fields.attachment.flatMap { value(row, $0) } }

    /// The SHA-256 of each of an item's attachments, in order. Malformed values, as from a damaged record, are skipped.
    @inline(never)
    package func digests(_ row: UInt32) -> [[UInt8]] {
        let elements: [PropertyListValue]
        switch attachments(row) {
        case .array(let list)?: elements = list
        case let value: elements = value.map { [$0] } ?? []
        }
        return elements.compactMap { element in
            if case .data(let digest) = element, digest.count == 32 { digest } else { nil }
        }
    }

    /// Sets the field, as a logged change.
    @inline(never)
    package func setAttachments(_ row: UInt32, _ value: PropertyListValue?) {
        let field = fields.field(named: FieldTable.attachmentName)
        change(row, field, to: value.map { heap.cell($0) } ?? .absent)
    }

    /// The names of the fields that are not hidden.
    package var visibleFieldNames: [String] {
        @inline(never) get { fields.names.filter { $0 != FieldTable.attachmentName } }
    }

    /// The name under which a field's changes are reported.
    @inline(never)
    package func shownName(of field: ItemField) -> String {
        FieldTable.shownName(of: fields.name(of: field))
    }
}
