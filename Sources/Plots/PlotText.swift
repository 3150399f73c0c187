extension Plot {
    /// The plot as lines of text: bars of block characters, lines and points of braille patterns, axes and labels.
    ///
    /// - Parameters:
    ///   - width: the maximum width in screen columns; at least 20.
    ///   - height: the maximum number of lines; at least 8.
    ///   - style: the colours; none by default.
    /// - Returns: the title, the drawing, and below it the remarks.
    package func lines(width: Int = 80, height: Int = 20, style: PlotStyle = PlotStyle()) -> [String] {
        PlotText(plot: self, width: min(max(width, 20), 1000), height: min(max(height, 8), 500), style: style).lines
    }

    /// The plot as a text, each line with its line feed.
    package func text(width: Int = 80, height: Int = 20, style: PlotStyle = PlotStyle()) -> String {
        lines(width: width, height: height, style: style).map { $0 + "\n" }.joined()
    }
}

extension PlotColumn {
    /// The column's values at a glance, for a pager: a histogram of numbers or dates, the most frequent of other values as
    /// bars.
    ///
    /// - Parameters:
    ///   - width: the maximum width in screen columns.
    ///   - height: the maximum number of lines.
    ///   - style: the colours; none by default.
    ///   - noun: what a row is, in the singular.
    ///   - offset: as for a plot of columns.
    /// - Returns: the lines.
    package func histogramLines(
        width: Int, height: Int, style: PlotStyle = PlotStyle(), noun: String = "row",
        offset: @escaping (Int64) -> Int = { _ in 0 }
    ) -> [String] {
        let plot = try? Plot(columns: [self], x: name, order: .value, noun: noun, offset: offset)
        return plot?.lines(width: width, height: height, style: style) ?? []
    }
}

/// A bar of block characters, for a table's cell.
package enum TextBar {
    /// A bar of a share of a width, in eighths of a cell; one that is not empty has at least an eighth.
    ///
    /// - Parameters:
    ///   - share: 0 to 1; other values are clamped.
    ///   - width: the cells of the whole.
    /// - Returns: the bar, no wider; empty for no share.
    package static func text(_ share: Double, width: Int) -> String {
        guard share > 0 else { return "" }
        let eighths = min(max(Int((min(share, 1) * Double(width * 8)).rounded()), 1), width * 8)
        return String(repeating: "█", count: eighths / 8) + (eighths % 8 == 0 ? "" : String(rising[eighths % 8]))
    }

    private static let rising: [Character] = [" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"]
}

/// A plot on cells.
private struct PlotText {
    let plot: Plot
    let width: Int
    let height: Int
    let style: PlotStyle

    var lines: [String] {
        guard !plot.marks.isEmpty else { return finished([], remarks()) }
        switch plot.marks {
        case .bars(let bars): return across(bars)
        case .amounts, .numbers: return upwards()
        case .points(let points): return dots(points)
        }
    }

    /// The title, the drawing and the remarks.
    private func finished(_ drawing: [String], _ remarks: [String], _ context: String? = nil) -> [String] {
        let title = plot.title + (context.map { " · " + $0 } ?? "")
        return [paint(TextTable.cut(title, to: width), style.title)] + drawing + remarks.map { paint($0, style.remark) }
    }

    private func paint(_ text: String, _ code: String) -> String {
        code.isEmpty || text.isEmpty ? text : "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }

    private func remarks(_ additional: String? = nil) -> [String] {
        let remarks = (additional.map { [$0] } ?? []) + plot.remarks
        if remarks.isEmpty { return [] }
        // A drawing keeps half of the lines.
        let limit = max(1, height / 2 - 3)
        let lines = lines(of: remarks)
        guard lines.count > limit else { return lines }
        // The number of rows that are left out has room where their reasons have none.
        let sum = plot.leftOut > 0 ? "\(plot.leftOut.counted(plot.noun)) left out" : nil
        let sums = [additional, sum].compactMap(\.self)
        let short = self.lines(of: sums.isEmpty ? remarks : sums)
        guard short.count > limit else { return short }
        return short.prefix(limit - 1) + [TextTable.cut(short[limit - 1] + " …", to: width)]
    }

    private func lines(of remarks: [String]) -> [String] {
        let text = WrappedText.paragraphs(VisibleText.line(remarks.joined(separator: " · ")), to: width)
        return text.split(separator: "\n").map { TextTable.cut(String($0), to: width) }
    }

    /// The width of an amount's label at most: a drawing keeps some columns.
    private var labelLimit: Int { width - 10 }

    // MARK: Bars across

    /// A line for each category, with its name before and its amount behind the bar.
    private func across(_ bars: [PlotBar]) -> [String] {
        var (shown, last) = (bars, remarks())
        let fitting = height - 1 - last.count
        if bars.count > fitting {
            // The line of the remark may be one more.
            last = remarks(bars.remark(leavingOut: bars.count - fitting + 1, plot.y.unit))
            shown = bars.greatest(max(1, height - 1 - last.count))
            last = remarks(bars.remark(leavingOut: bars.count - shown.count, plot.y.unit))
        }
        let amounts = shown.map { $0.sum.label(plot.y.unit, atMost: labelLimit) }
        let amountWidth = amounts.map { DisplayWidth.of($0) }.max() ?? 0
        // Narrow screens cut the names first: a number is shown whole.
        let limit = max(1, min(max(8, width / 3), width - amountWidth - 7))
        let names = shown.map { $0.label.isEmpty ? "\"\"" : TextTable.cut($0.label, to: limit) }
        let nameWidth = names.map { DisplayWidth.of($0) }.max() ?? 0
        let cells = max(2, width - nameWidth - amountWidth - 3)
        let axis = ZeroAxis(shown.map(\.amount), cells: cells)
        let drawing = shown.indices.map { index in
            let share = axis.share(shown[index].amount)
            let name = String(repeating: " ", count: nameWidth - DisplayWidth.of(names[index])) + names[index]
            let before = share < 0 ? axis.leftwards(-share) : ""
            let blank = String(repeating: " ", count: axis.negative - before.count)
            let behind = share > 0 ? TextBar.text(share, width: axis.positive) : ""
            return name + " " + blank + paint(before, style.mark) + paint("│", style.axis) + paint(behind, style.mark)
                + " " + amounts[index]
        }
        return finished(drawing, last)
    }

    // MARK: Bars upwards

    /// Ranges or periods from left to right, with their amounts upwards.
    private func upwards() -> [String] {
        let last = remarks()
        let rows = max(3, height - 3 - last.count)
        // The amounts depend on the width that their labels leave: at most a quarter.
        var limit = (width - width / 4) / 2 - 1
        let tickLimit = max(2, rows / 3 + 1)
        var bins: PlotBins
        var scale: PlotScale
        var columns: Int
        repeat {
            bins = plot.bins(atMost: max(2, limit))
            scale = bins.scale(plot.y.unit, atMost: tickLimit).labelled(plot.y.unit, atMost: labelLimit)
            columns = width - scale.labelWidth - 2
            // Fewer bins have larger sums, whose labels may be wider.
            limit = min(limit, columns / 2) - 1
        } while columns <= bins.amounts.count && limit > 1
        let step = min(max((columns - 1) / bins.amounts.count, 1), 8)
        let isPeriods = plot.x.unit == .date
        let barWidth = isPeriods && step > 2 ? step - 1 : step
        let axis = ZeroAxis(low: scale.low, high: scale.high, cells: rows)
        var cells = [[Character]](repeating: [], count: rows)
        for amount in bins.amounts {
            let column = axis.column(axis.share(amount))
            for row in 0..<rows {
                cells[row] += [Character](repeating: column[row], count: barWidth)
                cells[row] += [Character](repeating: " ", count: step - barWidth)
            }
        }
        var ticks: [Int: String] = [:]
        for tick in scale.ticks { ticks[axis.row(axis.share(tick.value))] = tick.label }
        // The end of the last period is the beginning of none.
        let edges = isPeriods ? bins.edges.dropLast() : bins.edges[...]
        let places = edges.enumerated().map { TickPlace(column: $0.offset * step, label: $0.element.label) }
        let shown = (1...max(places.count, 1)).lazy.map { stride in
            places.enumerated().filter { $0.offset.isMultiple(of: stride) }.map(\.element)
        }.first { TickPlace.line($0, width: columns) != nil }
        let drawing = framed(
            cells, amounts: ticks, width: columns, labelWidth: scale.labelWidth,
            places: shown ?? Array(places.prefix(1)))
        return finished(drawing, last, bins.context)
    }

    // MARK: Lines and points

    private func dots(_ points: [PlotPoint]) -> [String] {
        let last = remarks()
        let rows = max(3, height - 3 - last.count)
        let upwards = PlotScale.covering(points.range(\.y), plot.y.unit, atMost: max(2, rows / 3 + 1))
            .labelled(plot.y.unit, atMost: labelLimit)
        let columns = width - upwards.labelWidth - 2
        let range = points.range(\.x)
        var across = PlotScale.covering(range, plot.x.unit, atMost: 2)
        var places: [TickPlace] = []
        for count in stride(from: max(2, columns / 6), through: 2, by: -1) {
            let scale = PlotScale.covering(range, plot.x.unit, atMost: count)
            let found = scale.ticks.map {
                TickPlace(column: Int((scale.fraction($0.value) * Double(columns - 1)).rounded()), label: $0.label)
            }
            guard count == 2 || TickPlace.line(found, width: columns) != nil else { continue }
            (across, places) = (scale, found)
            break
        }
        if TickPlace.line(places, width: columns) == nil { places = Array(places.prefix(1)) }
        var grid = BrailleGrid(columns: columns, rows: rows)
        let path = PlotPath(points, across, upwards, width: grid.width, height: grid.height)
        if plot.kind == .line { grid.connect(path.columns) } else { for (x, y) in path.dots { grid.set(x, y) } }
        var ticks: [Int: String] = [:]
        for tick in upwards.ticks { ticks[path.y(tick.value) / 4] = tick.label }
        let drawing = framed(
            grid.cells, amounts: ticks, width: columns, labelWidth: upwards.labelWidth, places: places)
        return finished(drawing, last, across.context)
    }

    // MARK: The frame

    /// Rows of cells with both axes; a tick below the rows is on the axis itself.
    private func framed(
        _ cells: [[Character]], amounts: [Int: String], width: Int, labelWidth: Int, places: [TickPlace]
    ) -> [String] {
        func label(_ row: Int) -> String {
            let label = amounts[row] ?? ""
            return String(repeating: " ", count: max(0, labelWidth - DisplayWidth.of(label))) + label
        }
        var lines = cells.enumerated().map { row, cells in
            let end = (cells.lastIndex { $0 != " " } ?? -1) + 1
            return paint(label(row) + (amounts[row] == nil ? " │" : " ┤"), style.axis)
                + paint(String(cells[..<end]), style.mark)
        }
        var axis = [Character](repeating: "─", count: width)
        for place in places where axis.indices.contains(place.column) { axis[place.column] = "┬" }
        lines.append(
            paint(label(cells.count) + (amounts[cells.count] == nil ? " └" : " ┼") + String(axis), style.axis))
        let labels = TickPlace.line(places, width: width) ?? TextTable.cut(places.first?.label ?? "", to: width)
        lines.append(paint(String(repeating: " ", count: labelWidth + 2) + labels, style.axis))
        return lines
    }
}

/// A labelled column of an axis.
private struct TickPlace {
    var column: Int
    var label: String

    /// The labels, each centred below its column, at least two blanks apart; nil if they do not fit.
    static func line(_ places: [TickPlace], width: Int) -> String? {
        var line = ""
        var end = 0
        for place in places {
            let size = DisplayWidth.of(place.label)
            guard size <= width else { return nil }
            let start = min(max(place.column - size / 2, 0), width - size)
            guard end == 0 || start >= end + 2 else { return nil }
            line += String(repeating: " ", count: start - end) + place.label
            end = start + size
        }
        return line
    }
}

/// Cells on both sides of zero.
private struct ZeroAxis {
    /// The cells for amounts below zero, and above it.
    let negative: Int
    let positive: Int
    /// The amount of all cells above zero, or below it.
    private let most: Double
    private let least: Double

    init(_ amounts: [Double], cells: Int) {
        let range = amounts.amountRange
        self.init(low: range.lowerBound, high: range.upperBound, cells: cells)
    }

    init(low: Double, high: Double, cells: Int) {
        guard low < 0 else {
            (negative, positive, most, least) = (0, cells, high, 0)
            return
        }
        let size = max(-low, high)
        let share = -low / size / (-low / size + high / size)
        negative = high > 0 ? min(max(Int((share * Double(cells)).rounded()), 1), cells - 1) : cells
        positive = cells - negative
        // One cell is the same amount on both sides.
        let cell = max(-low / Double(negative), positive > 0 ? high / Double(positive) : 0)
        (most, least) = (cell * Double(positive), cell * Double(negative))
    }

    /// The share of the cells on its side, negative for an amount below zero.
    func share(_ amount: Double) -> Double {
        let amount = amount.bounded
        if amount < 0 { return least > 0 ? max(amount / least, -1) : 0 }
        return most > 0 ? min(amount / most, 1) : 0
    }

    /// A bar that ends at zero, in halves of a cell.
    func leftwards(_ share: Double) -> String {
        let halves = max(Int((share * Double(negative * 2)).rounded()), 1)
        return (halves.isMultiple(of: 2) ? "" : "▐") + String(repeating: "█", count: halves / 2)
    }

    /// The cells of a bar upwards or downwards, from the top.
    func column(_ share: Double) -> [Character] {
        let eighths = share > 0 ? max(Int((share * Double(positive * 8)).rounded()), 1) : 0
        let halves = share < 0 ? max(Int((-share * Double(negative * 2)).rounded()), 1) : 0
        return (0..<positive).map { Self.rising[min(max(eighths - (positive - 1 - $0) * 8, 0), 8)] }
            + (0..<negative).map { Self.hanging[min(max(halves - $0 * 2, 0), 2)] }
    }

    /// The row of a share from the top; zero is the line below the rows above it.
    func row(_ share: Double) -> Int {
        if share < 0 { return positive + max(Int((-share * Double(negative) - 1e-6).rounded(.up)) - 1, 0) }
        if share == 0, negative > 0 { return max(positive - 1, 0) }
        return positive - Int((share * Double(positive) - 1e-6).rounded(.up))
    }

    private static let rising: [Character] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    private static let hanging: [Character] = [" ", "▀", "█"]
}

/// Dots in braille patterns: two by four a cell.
private struct BrailleGrid {
    let width: Int
    let height: Int
    private let columns: Int
    private var bits: [UInt8]

    init(columns: Int, rows: Int) {
        (self.columns, width, height) = (columns, columns * 2, rows * 4)
        bits = [UInt8](repeating: 0, count: columns * rows)
    }

    private static let dots: [UInt8] = [0x01, 0x02, 0x04, 0x40, 0x08, 0x10, 0x20, 0x80]

    mutating func set(_ x: Int, _ y: Int) {
        guard (0..<width).contains(x), (0..<height).contains(y) else { return }
        bits[y / 4 * columns + x / 2] |= Self.dots[x % 2 * 4 + y % 4]
    }

    /// A line through columns of dots: from the last of one to the first of the next, and over all of each.
    mutating func connect(_ path: [PlotPath.Column]) {
        var end: (x: Int, y: Int)?
        for column in path {
            if let end { line(from: end, to: (column.x, column.first)) }
            for y in column.least...column.greatest { set(column.x, y) }
            end = (column.x, column.last)
        }
    }

    private mutating func line(from start: (x: Int, y: Int), to end: (x: Int, y: Int)) {
        let steps = max(abs(end.x - start.x), abs(end.y - start.y), 1)
        for step in 0...steps {
            let (dx, dy) = ((end.x - start.x) * step, (end.y - start.y) * step)
            set(
                start.x + Int((Double(dx) / Double(steps)).rounded()),
                start.y + Int((Double(dy) / Double(steps)).rounded()))
        }
    }

    var cells: [[Character]] {
        stride(from: 0, to: bits.count, by: columns).map { start in
            bits[start..<start + columns].map { bits in
                bits == 0 ? " " : Unicode.Scalar(0x2800 + UInt32(bits)).map { Character($0) } ?? " "
            }
        }
    }
}
