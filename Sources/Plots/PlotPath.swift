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
        let places = indices.sorted { (-abs(self[$0].amount), $0) < (-abs(self[$1].amount), $1) }
        return places.prefix(count).sorted().map { self[$0] }
    }

    /// What is said of the shortest bars, which are not drawn.
    func remark(leavingOut count: Int, _ unit: PlotUnit) -> String {
        let places = indices.sorted { (-abs(self[$0].amount), $0) < (-abs(self[$1].amount), $1) }
        let sum = places.suffix(count).reduce(0.0) { $0 + self[$1].amount }
        return "\(count.counted("shorter bar")) not drawn, \(PlotNumber.label(sum, unit)) in all"
    }
}
