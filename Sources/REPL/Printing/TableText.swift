/// Rows as aligned columns, as many as fit.
struct TableText {
    private(set) var rows: any TableRows
    private(set) var layout: TableLayout
    /// The number of fields without a column in the text.
    private(set) var hiddenCount = 0
    /// The widths of the columns drawn so far, which never shrink.
    private var widths: NameTable<Int> = [:]
    private var extended: Range<Int>

    /// - Parameters:
    ///   - rows: the rows.
    ///   - shown: those that determine the order of the columns.
    ///   - chosen: the fields that the user has chosen.
    init(_ rows: any TableRows, in shown: Range<Int>, chosen: [String]) {
        self.rows = rows
        layout = TableLayout(rows, in: shown, chosen: chosen)
        extended = shown
    }

    /// The same columns of other rows.
    func showing(_ rows: any TableRows) -> TableText {
        var table = self
        (table.rows, table.extended) = (rows, 0..<0)
        return table
    }

    /// Draws some rows.
    ///
    /// - Parameters:
    ///   - shown: the rows.
    ///   - offset: the number of columns skipped after the first.
    ///   - columns: the width.
    ///   - cutsTexts: whether long texts are truncated.
    ///   - marked: the number of the field whose title is marked.
    /// - Returns: the titles, a line for each row, and the number of fields shown.
    mutating func lines(
        _ shown: Range<Int>, passing offset: Int = 0, columns: Int, cutsTexts: Bool = true, marking marked: Int? = nil
    ) -> (title: String, lines: [String], fields: Int) {
        if shown.lowerBound < extended.lowerBound || shown.upperBound > extended.upperBound {
            layout.extend(rows, in: shown)
            extended = shown
        }
        let removed = shown.map(rows.isRemoved)
        var table = TextTable(columns: columns)
        table.add(TextTable.Column(title: "#", cells: shown.map { String($0 + 1) }, isNumber: true))
        var fields = 0
        for (place, name) in layout.names.enumerated() where place == 0 || place > offset {
            let cells = zip(shown, removed).map { $1 ? nil : rows.cell($0, name) }
            let limit = name == "name" ? 48 : rows is ItemRows ? 30 : 48
            // A number is shown whole: its beginning would be another number.
            var texts = cells.map { cell in
                guard cutsTexts else { return cell?.whole ?? cell?.text ?? "" }
                return cell?.isNumber == true ? cell?.text ?? "" : TextTable.cut(cell?.text ?? "", to: limit)
            }
            if place == 0 { for row in removed.indices where removed[row] { texts[row] = "(removed)" } }
            let isNumber = cells.contains { $0 != nil } && cells.allSatisfy { $0?.isNumber ?? true }
            var column = TextTable.Column(
                title: cutsTexts ? TextTable.cut(name, to: limit) : name, cells: texts, isNumber: isNumber)
            column.leastWidth = widths[name] ?? 0
            // The first column after skipped ones is shown even if too wide.
            let isFirstMoved = place == offset + 1 && offset > 0
            guard table.add(column, always: isFirstMoved) else { break }
            if place == marked { table.markedColumn = table.columns.count - 1 }
            widths[name] = column.width
            fields += 1
        }
        var lines = table.lines
        return (lines.removeFirst(), lines, fields)
    }

    /// The first rows with their thumbnails, and the number of omitted columns.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of rows.
    ///   - columns: the width of the screen.
    ///   - advice: follows the number of omitted columns.
    ///   - time: the duration; empty for none.
    /// - Returns: the lines; the last one has the number of rows.
    mutating func text(limit: Int, columns: Int, advice: String, time: String) -> String {
        let shown = 0..<min(rows.count, limit)
        let thumbnails = shown.map(rows.thumbnail)
        let hasThumbnails = thumbnails.contains { $0 != nil }
        let blank = String(repeating: " ", count: ItemRows.thumbnailColumns)
        let table = lines(shown, columns: columns - (hasThumbnails ? ItemRows.thumbnailColumns + 1 : 0))
        var lines = [table.title] + table.lines
        if hasThumbnails { lines = zip([nil] + thumbnails, lines).map { " " + ($0 ?? blank) + $1 } }
        hiddenCount = layout.names.count - table.fields + layout.unchosenCount
        let more = hiddenCount > 0 ? " and \(hiddenCount.grouped) more \(hiddenCount.word("column"))\(advice)" : ""
        if hiddenCount > 0 || shown.count < rows.count { lines.append(" …" + more) }
        lines.append(rows.count.counted("row") + (time.isEmpty ? "" : " · \(time)"))
        return lines.joined(separator: "\n")
    }

    /// All rows with all columns and texts, for no screen. Beyond some thousand rows, widths grow on the way, so that the
    /// cells of a large table are not in memory at once.
    var wholeText: String {
        mutating get {
            var text = ""
            for start in stride(from: 0, to: rows.count, by: 10_000) {
                let shown = start..<min(start + 10_000, rows.count)
                let table = lines(shown, columns: .max, cutsTexts: false)
                for line in start == 0 ? [table.title] + table.lines : table.lines { text += line + "\n" }
            }
            return text + rows.count.counted("row")
        }
    }

    /// Whether a row has a match in one of its fields.
    func contains(_ pattern: SearchPattern, in row: Int) -> Bool {
        guard !rows.isRemoved(row) else { return false }
        return layout.names.contains { name in rows.cell(row, name).map { pattern.isFound(in: $0.text) } ?? false }
    }
}

/// The columns of a table, in order: the fields that the query names, those whose values differ among the rows, the
/// others. Absent fields have no column.
struct TableLayout {
    private(set) var names: [String] = []
    /// The number of fields that the user's choice leaves out.
    private(set) var unchosenCount = 0
    private var known: NameSet
    private let isChosen: Bool

    /// - Parameters:
    ///   - rows: the table's rows.
    ///   - shown: those that determine the order.
    ///   - chosen: the user's choice; ignored if it names no field of the rows.
    init(_ rows: any TableRows, in shown: Range<Int>, chosen: [String] = []) {
        let found = rows.names(in: shown)
        known = NameSet(found)
        guard !rows.hasOwnOrder else {
            (names, isChosen) = (found, false)
            return
        }
        let asked = rows.asked.filter(known.contains)
        let isAsked = NameSet(asked)
        var (differing, equal): ([String], [String]) = ([], [])
        for name in found {
            var texts = shown.lazy.filter { !rows.isRemoved($0) }.map { rows.cell($0, name)?.text }.makeIterator()
            let first = texts.next() ?? nil
            var differs = false
            while !differs, let text = texts.next() { differs = text != first }
            if isAsked.contains(name) || (first == nil && !differs) { continue }
            if differs || shown.count == 1 { differing.append(name) } else { equal.append(name) }
        }
        names = asked + differing + equal
        if names.isEmpty { names = Array(found.prefix(1)) }
        let choice = chosen.filter(known.contains)
        isChosen = !choice.isEmpty
        guard isChosen else { return }
        let isTaken = NameSet(choice)
        unchosenCount = names.count { !isTaken.contains($0) }
        names = choice
    }

    /// Appends the fields that only these rows have.
    mutating func extend(_ rows: any TableRows, in shown: Range<Int>) {
        for name in rows.names(in: shown) where known.insert(name).inserted {
            if isChosen { unchosenCount += 1 } else { names.append(name) }
        }
    }
}
