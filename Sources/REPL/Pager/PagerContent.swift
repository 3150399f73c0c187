/// What a pager shows: the lines of a text, the rows of a table. It is read when it is drawn.
protocol PagerContent {
    /// The word for one of the lines.
    var unit: String { get }
    /// The number of lines.
    var count: Int { get }
    /// The number of lines above that stay.
    var headingCount: Int { get }
    /// Whether one line is selected, and opens.
    var isSelectable: Bool { get }
    /// How many texts a line consists of, for the effort of a search.
    var textsPerLine: Int { get }
    /// Some lines, with those that stay before them.
    mutating func draw(_ lines: Range<Int>, columns: Int) -> [String]
    /// Whether a line has a match.
    func contains(_ pattern: SearchPattern, in line: Int) -> Bool
    /// Moves to the side by columns.
    mutating func move(by columns: Int)
    /// What there is to know of a line; nil for nothing.
    func detail(_ line: Int, columns: Int) -> String?
    /// Adapts to another width.
    ///
    /// - Parameters:
    ///   - columns: the new width.
    ///   - line: a line.
    /// - Returns: its new number.
    mutating func resize(columns: Int, keeping line: Int) -> Int
}
