/// An entry's results as the prompt shows them.
struct PrintedValues {
    /// The text, cut to the screen where it is a table; ends with a line break unless it is empty.
    var text = ""
    /// A picture for below the text.
    var picture = ""
    /// The duration of the entry, where the text includes it.
    var time = ""
    /// The table, where a pager has more of it than the text.
    var table: TableText?

    var includesDuration: Bool { !time.isEmpty }

    /// Results that are a text.
    init(_ text: String = "") { self.text = text }
}
