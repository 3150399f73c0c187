import ColumnEngine
public import ItemArchive

extension ItemStore {
    /// The fields of every item with values that are not of their kinds, as an application's archive has them: how many
    /// items, and the first three. O(1) if there are none.
    public func misfits() -> [FieldMisfits] { columns.misfits() }

    /// What is carried as the archive has it, and read otherwise or not at all by the application, in a line each, for
    /// the user.
    public var carriedNotices: [String] {
        misfits().map { "\($0): carried as it is, until it is changed" } + loadReport.remarks
    }

    /// The same for the items of an export, and the fields in it.
    ///
    /// - Parameters:
    ///   - query: the items; all if nil.
    ///   - names: the fields; all if nil.
    /// - Returns: the lines.
    /// - Throws: errors of the query's conditions.
    package func carriedNotices(exporting query: ItemQuery?, _ names: [String]?) throws -> [String] {
        let fields = ItemField.domain.filter { field in
            columns.hasMisfits(field) && names?.contains(columns.name(of: field)) ?? true
        }
        if fields.isEmpty { return loadReport.remarks }
        return columns.misfits(among: try query?.rows.rows(), in: fields).map { "\($0): exported as it is" }
            + loadReport.remarks
    }
}
