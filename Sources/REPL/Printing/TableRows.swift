/// The rows of a table: items of a store, records of a script. They are read on drawing.
protocol TableRows {
    /// The number of rows.
    var count: Int { get }
    /// The fields that the query names, which are shown first.
    var asked: [String] { get }
    /// The fields that some of the rows have, each once, in order of preference.
    func names(in rows: Range<Int>) -> [String]
    /// A field of a row; nil where absent.
    func cell(_ row: Int, _ name: String) -> TableCell?
    /// Whether the row was removed.
    func isRemoved(_ row: Int) -> Bool
    /// All fields of a row, one per line; nil if the row was removed.
    func record(_ row: Int, columns: Int) -> String?
    /// The row's picture in `ItemRows.thumbnailColumns` cells; nil without one.
    func thumbnail(_ row: Int) -> String?
}
