/// An entry's results as the prompt shows them.
struct PrintedValues {
    /// The text, a table truncated to the screen; ends with a line break unless it is empty.
    var text = ""
    /// The picture below the text.
    var picture = ""
    /// The duration of the entry, if the text includes it.
    var time = ""
    /// The table, if the pager can show more of it than the text.
    var table: TableText?

    var includesDuration: Bool { !time.isEmpty }

    /// Results that consist of a text.
    init(_ text: String = "") { self.text = text }
}
