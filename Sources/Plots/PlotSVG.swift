extension Plot {
    /// The colours of a drawing.
    package enum Theme: Sendable {
        /// Dark on white.
        case light
        /// Bright on black.
        case dark
        /// As the reader's program prefers; light where it does not say.
        case automatic
    }

    /// The plot as an SVG document, with generic fonts and no script.
    ///
    /// - Parameters:
    ///   - width: in pixels; at least 200.
    ///   - height: in pixels; at least 120.
    ///   - theme: the colours.
    /// - Returns: the text of the document.
    package func svg(width: Int = 800, height: Int = 480, theme: Theme = .automatic) -> String {
        var drawing = PlotSVG(self, width: min(max(width, 200), 16_384), height: min(max(height, 120), 16_384))
        drawing.draw()
        return drawing.document(theme)
    }
}

/// A plot on pixels.
private struct PlotSVG {
    private let plot: Plot
    private let width: Double
    private let height: Double
    private var elements = ""
    private var remarks: [String] = []
    /// All remarks, if the drawing has no room for them.
    private var description: String?
    private var context: String?

    init(_ plot: Plot, width: Int, height: Int) {
        (self.plot, self.width, self.height) = (plot, Double(width), Double(height))
    }

    /// The average width of a character, and the height of a line.
    private static let character = 7.0
    private static let line = 17.0
    private static let margin = 16.0
    /// The height that axes and marks need.
    private static let leastHeight = 60.0
    /// Most points that are elements of their own.
    private static let pointLimit = 4000

    // MARK: The document

    func document(_ theme: Plot.Theme) -> String {
        let title = plot.title + (context.map { " · " + $0 } ?? "")
        var text = """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(Int(width))" height="\(Int(height))" \
            viewBox="0 0 \(Int(width)) \(Int(height))" role="img" font-family="system-ui, sans-serif" font-size="12">
            <title>\(HTMLText.escaped(TextTable.cut(title, to: 200)))</title>
            \(description.map { "<desc>\(HTMLText.escaped($0))</desc>\n" } ?? "")<style>
            \(Self.style(theme))</style>
            <rect class="paper" width="\(Int(width))" height="\(Int(height))"/>

            """
        let limit = Int((width - 2 * Self.margin) / (Self.character * 1.35))
        text += label(TextTable.cut(title, to: limit), Self.margin, 26, "title", anchor: "start") + elements
        let bottom = height - Self.margin + 6 - Double(remarks.count - 1) * Self.line
        for (row, remark) in remarks.enumerated() {
            text += label(remark, Self.margin, bottom + Double(row) * Self.line, "remark", anchor: "start")
        }
        return text + "</svg>\n"
    }

    private static func style(_ theme: Plot.Theme) -> String {
        let light = colors(paper: "#ffffff", text: "#333338", quiet: "#66666c", grid: "#e3e3e8", mark: "#2b6cb0")
        let dark = colors(paper: "#1c1c1f", text: "#e6e6ea", quiet: "#a5a5ad", grid: "#3a3a40", mark: "#6cb2f5")
        let shapes = ".title { font-size: 15px; font-weight: bold; }\n.line { fill: none; stroke-width: 1.6; }\n"
        switch theme {
        case .light: return shapes + light
        case .dark: return shapes + dark
        case .automatic: return shapes + light + "@media (prefers-color-scheme: dark) {\n\(dark)}\n"
        }
    }

    private static func colors(paper: String, text: String, quiet: String, grid: String, mark: String) -> String {
        """
        .paper { fill: \(paper); }
        text { fill: \(text); }
        .tick, .remark { fill: \(quiet); }
        .grid { stroke: \(grid); }
        .axis { stroke: \(quiet); }
        .mark { fill: \(mark); }
        .line { stroke: \(mark); }

        """
    }

    // MARK: Elements

    private func label(_ text: String, _ x: Double, _ y: Double, _ style: String, anchor: String) -> String {
        "<text class=\"\(style)\" x=\"\(Self.text(x))\" y=\"\(Self.text(y))\""
            + (anchor == "start" ? "" : " text-anchor=\"\(anchor)\"") + ">\(HTMLText.escaped(text))</text>\n"
    }

    private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ style: String) -> String {
        "<line class=\"\(style)\" x1=\"\(Self.text(x1))\" y1=\"\(Self.text(y1))\" x2=\"\(Self.text(x2))\" "
            + "y2=\"\(Self.text(y2))\"/>\n"
    }

    /// A bar, with a text for the pointer.
    private func bar(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ words: String) -> String {
        "<rect class=\"mark\" x=\"\(Self.text(x))\" y=\"\(Self.text(y))\" width=\"\(Self.text(max(width, 0)))\" "
            + "height=\"\(Self.text(max(height, 0)))\"><title>\(HTMLText.escaped(words))</title></rect>\n"
    }

    /// A coordinate with one decimal.
    private static func text(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        let rest = tenths.magnitude % 10
        return (tenths < 0 ? "-" : "") + "\(tenths.magnitude / 10)" + (rest == 0 ? "" : ".\(rest)")
    }

    // MARK: The drawing

    mutating func draw() {
        remarks = lines(plot.remarks)
        switch plot.marks {
        case _ where plot.marks.isEmpty: return
        case .bars(let bars): drawAcross(bars)
        case .amounts, .numbers: drawUpwards()
        case .points(let points): drawPoints(points)
        }
    }

    /// The remarks as lines. A small drawing shows their beginning, and describes itself by all of them.
    private mutating func lines(_ remarks: [String]) -> [String] {
        if remarks.isEmpty { return [] }
        let limit = max(20, Int((width - 2 * Self.margin) / Self.character))
        let text = VisibleText.line(remarks.joined(separator: " · "))
        let lines = WrappedText.paragraphs(text, to: limit).split(separator: "\n").map {
            TextTable.cut(String($0), to: limit)
        }
        let capacity = max(1, Int((height - top - Self.margin - Self.leastHeight) / Self.line))
        guard lines.count > capacity else { return lines }
        description = text
        return lines.prefix(capacity - 1) + [TextTable.cut(lines[capacity - 1] + " …", to: limit)]
    }

    private var top: Double { 44 }
    private var bottom: Double { height - Self.margin - Double(remarks.count) * Self.line }

    private mutating func drawAcross(_ bars: [PlotBar]) {
        var shown = bars
        let fitting = max(1, Int((bottom - top) / Self.line))
        if bars.count > fitting {
            shown = bars.greatest(max(1, fitting - 2))
            remarks = lines([bars.remark(leavingOut: bars.count - shown.count, plot.y.unit)] + plot.remarks)
        }
        let limit = max(8, Int(width / Self.character / 3))
        let names = shown.map { $0.label.isEmpty ? "\"\"" : TextTable.cut($0.label, to: limit) }
        let amounts = shown.map { $0.sum.label(plot.y.unit) }
        let left = Self.margin + Self.width(of: names) + 8
        let space = max(20, width - left - Self.width(of: amounts) - 8 - Self.margin)
        let range = shown.map(\.amount).amountRange
        let scale = PlotScale(low: range.lowerBound, high: max(range.upperBound, range.lowerBound + 1e-300), ticks: [])
        let zero = left + scale.fraction(0) * space
        let height = min((bottom - top) / Double(shown.count), 30)
        for (row, each) in shown.enumerated() {
            let (start, y) = (left + scale.fraction(each.amount.bounded) * space, top + Double(row) * height)
            elements += label(names[row], left - 8, y + height / 2 + 4, "tick", anchor: "end")
            elements += bar(
                min(zero, start), y + height * 0.12, abs(start - zero), height * 0.76,
                "\(TextTable.cut(each.label, to: 200)): \(amounts[row])")
            elements += label(amounts[row], max(zero, start) + 6, y + height / 2 + 4, "value", anchor: "start")
        }
        elements += line(zero, top, zero, top + height * Double(shown.count), "axis")
    }

    private mutating func drawUpwards() {
        let bins = plot.bins(atMost: max(3, min(60, Int((width - 100) / 8))))
        context = bins.context
        let scale = bins.scale(plot.y.unit, atMost: min(6, fittingTicks))
        let frame = frame(scale)
        let step = min(frame.width / Double(bins.amounts.count), 80)
        let isPeriods = plot.x.unit == .date
        let edges = isPeriods ? Array(bins.edges.dropLast()) : bins.edges
        let places = edges.enumerated().map { index, tick in
            (x: frame.left + (Double(index) + (isPeriods ? 0.5 : 0)) * step, label: tick.label)
        }
        drawTicks(places, frame)
        for (index, amount) in bins.amounts.enumerated() where amount != 0 {
            let (zero, end) = (frame.y(0), frame.y(amount.bounded))
            let words =
                isPeriods
                ? bins.edges[index].label : "\(bins.edges[index].label) to below \(bins.edges[index + 1].label)"
            elements += bar(
                frame.left + Double(index) * step + 0.5, min(zero, end), step - (isPeriods && step > 6 ? 3 : 1),
                abs(zero - end), "\(words): \(PlotNumber.label(amount, plot.y.unit))")
        }
        elements += line(frame.left, frame.y(0), frame.left + frame.width, frame.y(0), "axis")
    }

    private mutating func drawPoints(_ points: [PlotPoint]) {
        let upwards = PlotScale.covering(points.range(\.y), plot.y.unit, atMost: min(7, fittingTicks))
        let frame = frame(upwards)
        let range = points.range(\.x)
        let count = max(3, Int(frame.width / 90))
        let across = PlotScale.covering(range, plot.x.unit, atMost: count)
        context = across.context
        drawTicks(across.ticks.map { (frame.left + across.fraction($0.value) * frame.width, $0.label) }, frame)
        if plot.kind == .line {
            let path = PlotPath(points, across, upwards, width: Int(frame.width), height: Int(frame.height * 4))
            var data = ""
            for column in path.columns {
                // What a column covers, between where the line enters and leaves it.
                var places = [column.first, column.least, column.greatest, column.last]
                places = places.indices.filter { $0 == 0 || places[$0] != places[$0 - 1] }.map { places[$0] }
                for y in places {
                    let x = frame.left + Double(column.x) * frame.width / max(frame.width.rounded(.down) - 1, 1)
                    data += "\(data.isEmpty ? "M" : "L")\(Self.text(x)) \(Self.text(frame.top + Double(y) / 4))"
                }
            }
            elements += "<path class=\"line\" stroke-linejoin=\"round\" d=\"\(data)\"/>\n"
            if path.columns.count > 1 { return }
        }
        let dots = PlotPath(points, across, upwards, width: Int(frame.width), height: Int(frame.height)).dots
        guard dots.count > Self.pointLimit else {
            for (x, y) in dots {
                elements +=
                    "<circle class=\"mark\" fill-opacity=\"0.7\" r=\"2.2\" cx=\"\(Self.text(frame.left + Double(x)))\" "
                elements += "cy=\"\(Self.text(frame.top + Double(y)))\"/>\n"
            }
            return
        }
        drawDensity(points, across, upwards, frame)
    }

    /// Draws squares that are the darker the more points they have.
    private mutating func drawDensity(
        _ points: [PlotPoint], _ across: PlotScale, _ upwards: PlotScale, _ frame: Frame
    ) {
        let (columns, rows) = (max(2, Int(frame.width / 6)), max(2, Int(frame.height / 6)))
        let counts = PlotPath(points, across, upwards, width: columns, height: rows).counts
        let (width, height) = (frame.width / Double(columns), frame.height / Double(rows))
        let most = Double(counts.max() ?? 1)
        var paths = [String](repeating: "", count: 5)
        for (place, count) in counts.enumerated() where count > 0 {
            let (x, y) = (frame.left + Double(place % columns) * width, frame.top + Double(place / columns) * height)
            paths[min(Int((Double(count) / most).squareRoot() * 5), 4)] +=
                "M\(Self.text(x)) \(Self.text(y))h\(Self.text(width))v\(Self.text(height))h-\(Self.text(width))z"
        }
        for (level, path) in paths.enumerated() where !path.isEmpty {
            elements += "<path class=\"mark\" fill-opacity=\"\(Self.text(Double(level + 1) * 0.2))\" d=\"\(path)\"/>\n"
        }
    }

    // MARK: The frame

    /// The area of the marks.
    private struct Frame {
        var left: Double
        var top: Double
        var width: Double
        var height: Double
        var scale: PlotScale

        func y(_ amount: Double) -> Double { top + (1 - scale.fraction(amount)) * height }
    }

    /// The number of amounts whose labels fit above one another.
    private var fittingTicks: Int { max(2, Int((bottom - top - 28) / Self.line)) }

    /// Draws the lines and labels of the amounts.
    private mutating func frame(_ scale: PlotScale) -> Frame {
        let left = Self.margin + Self.width(of: scale.ticks.map(\.label)) + 8
        let frame = Frame(
            left: left, top: top, width: max(40, width - left - Self.margin - 12), height: max(20, bottom - top - 28),
            scale: scale)
        for tick in scale.ticks {
            let y = frame.y(tick.value)
            elements += line(frame.left, y, frame.left + frame.width, y, "grid")
            elements += label(tick.label, frame.left - 8, y + 4, "tick", anchor: "end")
        }
        return frame
    }

    /// Draws as many of the labels below as fit.
    private mutating func drawTicks(_ places: [(x: Double, label: String)], _ frame: Frame) {
        let needed = Self.width(of: places.map(\.label)) + 12
        let distance = places.count > 1 ? places[1].x - places[0].x : needed
        let stride = max(1, Int((needed / max(distance, 0.1)).rounded(.up)))
        let base = frame.top + frame.height
        for (index, place) in places.enumerated() where index.isMultiple(of: stride) {
            elements += line(place.x, base, place.x, base + 4, "axis")
            // At the edges a label stays within the drawing.
            let half = Double(DisplayWidth.of(place.label)) * Self.character / 2
            let x = min(max(place.x, half + 2), width - half - 2)
            elements += label(place.label, x, base + 18, "tick", anchor: "middle")
        }
        elements += line(frame.left, base, frame.left + frame.width, base, "axis")
    }

    private static func width(of labels: [String]) -> Double {
        Double(labels.map { DisplayWidth.of($0) }.max() ?? 0) * character
    }
}

/// Points on a grid of dots or pixels, so that a million of them take no longer to draw than the grid has places.
struct PlotPath {
    /// The points of a line in one column of the grid: where it enters and leaves, and what it covers.
    struct Column: Hashable {
        var x: Int
        var first: Int
        var last: Int
        var least: Int
        var greatest: Int
    }

    private let points: [PlotPoint]
    private let across: PlotScale
    private let upwards: PlotScale
    private let width: Int
    private let height: Int

    /// - Parameters:
    ///   - points: the points.
    ///   - across: the scale of x.
    ///   - upwards: the scale of y.
    ///   - width: the columns of the grid.
    ///   - height: its rows, which are numbered from the top.
    init(_ points: [PlotPoint], _ across: PlotScale, _ upwards: PlotScale, width: Int, height: Int) {
        (self.points, self.across, self.upwards, self.width, self.height) = (points, across, upwards, width, height)
    }

    func x(_ value: Double) -> Int { Self.place(across.fraction(value), of: width) }
    func y(_ value: Double) -> Int { Self.place(1 - upwards.fraction(value), of: height) }

    private static func place(_ fraction: Double, of count: Int) -> Int {
        Int((min(max(fraction, 0), 1) * Double(count - 1)).rounded())
    }

    /// The columns of a line, whose points are in the order of x. O(points).
    var columns: [Column] {
        var columns: [Column] = []
        for point in points {
            let (x, y) = (x(point.x), y(point.y))
            if let last = columns.indices.last, columns[last].x == x {
                columns[last].last = y
                columns[last].least = min(columns[last].least, y)
                columns[last].greatest = max(columns[last].greatest, y)
            } else {
                columns.append(Column(x: x, first: y, last: y, least: y, greatest: y))
            }
        }
        return columns
    }

    /// The number of points at each place of the grid, in rows. O(points + places).
    var counts: [Int] {
        var counts = [Int](repeating: 0, count: width * height)
        for point in points { counts[y(point.y) * width + x(point.x)] += 1 }
        return counts
    }

    /// The places of the grid that have points, in rows. O(points + places).
    var dots: [(x: Int, y: Int)] {
        counts.enumerated().filter { $0.element > 0 }.map { ($0.offset % width, $0.offset / width) }
    }
}

extension [PlotPoint] {
    /// The range of a coordinate. The points are not empty.
    func range(_ coordinate: (PlotPoint) -> Double) -> ClosedRange<Double> {
        guard let first else { return 0...1 }
        var (low, high) = (coordinate(first), coordinate(first))
        for point in self {
            let value = coordinate(point)
            if value < low { low = value }
            if value > high { high = value }
        }
        return low...high
    }
}

extension [Double] {
    /// The range of amounts and zero.
    var amountRange: ClosedRange<Double> {
        var (low, high) = (0.0, 0.0)
        for amount in self {
            low = Swift.min(low, amount.bounded)
            high = Swift.max(high, amount.bounded)
        }
        return low...high
    }
}

extension Double {
    /// A sum that is beyond the numbers as the greatest of them, for drawing.
    var bounded: Double {
        isNaN ? 0 : Swift.min(Swift.max(self, -.greatestFiniteMagnitude), .greatestFiniteMagnitude)
    }
}

extension PlotScale {
    /// The width of the longest label in screen columns.
    var labelWidth: Int { ticks.map { DisplayWidth.of($0.label) }.max() ?? 0 }
}

extension [PlotBar] {
    /// The longest bars, in their order.
    func greatest(_ count: Int) -> [PlotBar] {
        longestFirst.prefix(count).sorted().map { self[$0] }
    }

    /// What is said of the shortest bars, which are not drawn.
    func remark(leavingOut count: Int, _ unit: PlotUnit) -> String {
        let sum = longestFirst.suffix(count).reduce(into: PlotSum(Int128(0))) { $0 += self[$1].sum }
        return "\(count.counted("shorter bar")) not drawn, \(sum.label(unit)) in all"
    }

    /// The places of the bars, by their length.
    var longestFirst: [Int] {
        indices.sorted { (-abs(self[$0].amount), $0) < (-abs(self[$1].amount), $1) }
    }
}
