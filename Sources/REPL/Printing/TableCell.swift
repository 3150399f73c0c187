/// A field of a row, for display.
struct TableCell: Equatable {
    /// The text, neither truncated nor escaped.
    var text: String
    var isNumber = false
}
