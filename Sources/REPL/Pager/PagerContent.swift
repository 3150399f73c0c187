import LineEditor

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
    /// The entry, or the steps in words, that show the same; nil for a result as it is.
    var title: String? { get }
    /// Whether the title is an entry.
    var isEntry: Bool { get }
    /// Whether a further sort takes the place of this content.
    var isSorted: Bool { get }
    /// The content that an action on the selected column makes; nil if it does nothing.
    func content(after action: ColumnAction, at line: Int, columns: Int) throws -> (any PagerContent)?
    /// The content that a line stands for; nil if it has only details.
    func contents(of line: Int) throws -> (any PagerContent)?
    /// Adapts to a new width.
    ///
    /// - Parameters:
    ///   - columns: the new width.
    ///   - line: a line.
    /// - Returns: its new number.
    mutating func resize(columns: Int, keeping line: Int) -> Int
}

/// What is done with the selected column of a table, or with the selected row's value in it.
enum ColumnAction: CaseIterable {
    case sort, count, filter, histogram

    /// The key, and what the last row of the screen says of it.
    var key: (character: Character, text: String) {
        switch self {
        case .sort: ("s", "sort")
        case .count: ("F", "count")
        case .filter: (",", "filter")
        case .histogram: ("h", "histogram")
        }
    }
}

extension PagerContent {
    var title: String? { nil }
    var isEntry: Bool { false }
    var isSorted: Bool { false }
    func content(after action: ColumnAction, at line: Int, columns: Int) throws -> (any PagerContent)? { nil }
    func contents(of line: Int) throws -> (any PagerContent)? { nil }
}

/// The lines of a text, wrapped at the width of the screen. Colours are kept.
struct PagerText: PagerContent {
    let unit = "line"
    let headingCount = 0
    let isSelectable = false
    let textsPerLine = 1
    let title: String?
    private let source: [Substring]
    /// The rows of the screen, each with its line of the text.
    private var rows: [(text: String, line: Int)] = []

    init(_ text: String, columns: Int, title: String? = nil) {
        self.title = title
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        // The text after the last line break is not a line.
        if lines.last?.isEmpty ?? false { lines.removeLast() }
        source = lines
        rows = Self.rows(source, columns)
    }

    /// Whether colours are a text's only control sequences: a picture cannot be drawn in parts.
    static func isPageable(_ text: String) -> Bool {
        let bytes = text.utf8
        var index = bytes.startIndex
        while let escape = bytes[index...].firstIndex(of: 0x1B) {
            guard let end = Self.endOfColor(bytes[escape...]) else { return false }
            index = end
        }
        return true
    }

    /// Whether a text is higher than the screen.
    static func isNeeded(_ text: String, rows: Int, columns: Int) -> Bool {
        var count = 0
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            count += line.utf8.count <= columns ? 1 : broken(line, columns).count
            // The text after the last line break is not a line.
            if count > rows { return true }
        }
        return false
    }

    var count: Int { rows.count }

    mutating func draw(_ lines: Range<Int>, columns: Int) -> [String] { rows[lines].map(\.text) }

    func contains(_ pattern: SearchPattern, in line: Int) -> Bool { pattern.isFound(in: Self.plain(rows[line].text)) }

    mutating func move(by columns: Int) {}

    func detail(_ line: Int, columns: Int) -> String? { nil }

    mutating func resize(columns: Int, keeping line: Int) -> Int {
        let topLine = line < rows.count ? rows[line].line : 0
        rows = Self.rows(source, columns)
        return rows.firstIndex { $0.line >= topLine } ?? 0
    }

    /// The text without colours.
    static func plain(_ text: String) -> String {
        guard text.utf8.contains(0x1B) else { return text }
        return tokens(text[...]).compactMap { $0.isColor ? nil : String($0.text) }.joined()
    }

    // MARK: Breaking lines

    private static func rows(_ source: [Substring], _ columns: Int) -> [(text: String, line: Int)] {
        source.enumerated().flatMap { line, text in broken(text, columns).map { ($0, line) } }
    }

    /// The rows of a line. A colour continues in the next row.
    private static func broken(_ line: Substring, _ columns: Int) -> [String] {
        if line.utf8.count <= columns, !line.utf8.contains(0x09) { return [String(line)] }
        var rows: [String] = []
        var (row, used, color) = ("", 0, "")
        for token in tokens(line) {
            if token.isColor {
                row += token.text
                color = token.text == "\u{1B}[0m" ? "" : color + token.text
                continue
            }
            let text = token.text == "\t" ? String(repeating: " ", count: 8 - used % 8) : String(token.text)
            let width = DisplayWidth.of(text)
            if used + width > columns, used > 0 {
                rows.append(color.isEmpty ? row : row + "\u{1B}[0m")
                (row, used) = (color, 0)
            }
            row += text
            used += width
        }
        return rows + [row]
    }

    /// The characters and the colour sequences of a line.
    private static func tokens(_ line: Substring) -> some Sequence<(text: Substring, isColor: Bool)> {
        sequence(state: line) { rest -> (text: Substring, isColor: Bool)? in
            guard let first = rest.first else { return nil }
            let isColor = first == "\u{1B}"
            let end = isColor ? endOfColor(rest.utf8) : nil
            defer { rest = rest[(end ?? rest.index(after: rest.startIndex))...] }
            return (rest[..<(end ?? rest.index(after: rest.startIndex))], end != nil)
        }
    }

    /// The end of the sequence `ESC [ … m` at the start of a text; nil for another sequence.
    private static func endOfColor(_ bytes: Substring.UTF8View) -> String.Index? {
        let body = bytes.dropFirst()
        guard body.first == UInt8(ascii: "[") else { return nil }
        let end = body.dropFirst().firstIndex { $0 != UInt8(ascii: ";") && !(0x30...0x39).contains($0) }
        guard let end, bytes[end] == UInt8(ascii: "m") else { return nil }
        return bytes.index(after: end)
    }
}

/// The rows of a table. The column of the first field stays when the others scroll; one column may be selected.
struct PagerTable: PagerContent {
    let unit = "row"
    let headingCount = 1
    let isSelectable = true
    private var view: TableView
    /// The number of columns skipped after the first.
    private var offset = 0
    /// The number of the selected field; nil before one was selected.
    private var column: Int?
    /// The table that these rows count values of.
    private var counted: TableView?

    init(_ table: TableText) { view = TableView(table) }

    private init(_ view: TableView, counted: TableView? = nil) { (self.view, self.counted) = (view, counted) }

    var count: Int { view.table.rows.count }

    var textsPerLine: Int { max(1, names.count) }

    private var names: [String] { view.table.layout.names }

    // MARK: Drawing

    mutating func draw(_ lines: Range<Int>, columns: Int) -> [String] {
        if let column, column > 0, column <= offset { offset = column - 1 }
        var drawn = view.table.lines(lines, passing: offset, columns: columns, marking: column)
        // The selected column is scrolled into sight.
        while let column, column > 0, column >= offset + drawn.fields, offset < column - 1 {
            offset += 1
            drawn = view.table.lines(lines, passing: offset, columns: columns, marking: column)
        }
        return ([drawn.title] + drawn.lines).map { TextTable.cut($0, to: columns) }
    }

    func contains(_ pattern: SearchPattern, in line: Int) -> Bool { view.table.contains(pattern, in: line) }

    /// Selects a column: the first time, the one beside the first.
    mutating func move(by columns: Int) {
        column = max(0, min((column ?? 0) + columns, names.count - 1))
    }

    func detail(_ line: Int, columns: Int) -> String? {
        line < count ? view.table.rows.record(line, columns: columns) ?? "This row was removed." : nil
    }

    mutating func resize(columns: Int, keeping line: Int) -> Int { line }

    // MARK: Columns

    var title: String? { view.title }
    var isEntry: Bool { view.isEntry }
    var isSorted: Bool { view.order != nil }

    func content(after action: ColumnAction, at line: Int, columns: Int) throws -> (any PagerContent)? {
        let column = column ?? 0
        guard names.indices.contains(column), line < count else { return nil }
        let name = names[column]
        switch action {
        case .sort: return with(try view.sorted(by: name), column)
        case .filter:
            return counted == nil ? with(try view.filtered(by: name, as: line), column) : try contents(of: line)
        case .count:
            return counted == nil ? PagerTable(try view.counted(by: name, columns: columns), counted: view) : nil
        case .histogram:
            let (lines, title) = try view.histogram(of: name, columns: columns)
            return PagerText(lines.joined(separator: "\n"), columns: columns, title: title)
        }
    }

    /// The same columns of other rows.
    private func with(_ view: TableView, _ column: Int) -> PagerTable {
        var table = PagerTable(view, counted: counted)
        (table.offset, table.column) = (offset, column)
        return table
    }

    func contents(of line: Int) throws -> (any PagerContent)? {
        guard let counted, let (name, value, text) = view.counted(line) else { return nil }
        return PagerTable(try counted.filtered(by: name, value, text: text))
    }
}
