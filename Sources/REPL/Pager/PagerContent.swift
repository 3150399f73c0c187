/// The content of a pager: the lines of a text, or the rows of a table. It is read when it is drawn.
protocol PagerContent {
    /// The word for one of the lines.
    var unit: String { get }
    /// The number of lines.
    var count: Int { get }
    /// The number of headings, which stay at the top.
    var headingCount: Int { get }
    /// Whether a line can be selected and opened.
    var isSelectable: Bool { get }
    /// The number of texts per line, to limit the work of a search step.
    var textsPerLine: Int { get }
    /// Draws some lines, after the headings.
    mutating func draw(_ lines: Range<Int>, columns: Int) -> [String]
    /// Whether a line has a match.
    func contains(_ pattern: SearchPattern, in line: Int) -> Bool
    /// Scrolls sideways by columns.
    mutating func move(by columns: Int)
    /// The details of a line; nil if there are none.
    func detail(_ line: Int, columns: Int) -> String?
    /// Adapts to a new width.
    ///
    /// - Parameters:
    ///   - columns: the new width.
    ///   - line: a line.
    /// - Returns: its new number.
    mutating func resize(columns: Int, keeping line: Int) -> Int
}
