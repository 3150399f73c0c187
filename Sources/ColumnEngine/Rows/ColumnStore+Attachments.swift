package import PropertyList

/// The field that says which bytes go with an item: their SHA-256 where a server keeps them, the names of their files where the
/// item has several. It is changed, merged, committed and taken back as any field, and is none of those that have names for
/// people.
extension ColumnStore {
    /// The field; nil while no item has had it.
    package var attachmentField: ItemField? {
        @inline(never) get { fields.attachment }
    }

    /// The field's value; nil for none.
    @inline(never)
    package func attachments(_ row: UInt32) -> PropertyListValue? { fields.attachment.flatMap { value(row, $0) } }

    /// The SHA-256 of each of the bytes that go with an item, in order. What a damaged record may have there is none.
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

    /// Sets it, as a change of the log.
    @inline(never)
    package func setAttachments(_ row: UInt32, _ value: PropertyListValue?) {
        let field = fields.field(named: FieldTable.attachmentName)
        change(row, field, to: value.map { heap.cell($0) } ?? .absent)
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
