/// A field of a row, for display.
struct TableCell: Equatable {
    /// The text, neither cut nor escaped.
    var text: String
    var isNumber = false
}
