/// A field of a row, for display.
struct TableCell: Equatable {
    /// The text, neither truncated nor escaped.
    var text: String
    var isNumber = false
    /// The text for a pipe, where `text` leaves a part out.
    var whole: String?
}
