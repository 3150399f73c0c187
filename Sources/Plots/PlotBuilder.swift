import PropertyList

extension Plot {
    /// Makes a plot of columns of equal length.
    ///
    /// - Parameters:
    ///   - columns: the columns, the preferred first. All are read where `x` or `y` is to be chosen.
    ///   - x: the name of the column across; nil to choose.
    ///   - y: the name of the column upwards; nil for the number of rows, or to choose where the kind needs one.
    ///   - kind: nil to choose by the columns' values, see ``PlotChoice``.
    ///   - order: the order of bars.
    ///   - noun: what a row is, in the singular.
    ///   - pairs: whether two columns that are left open are both chosen, as in a table of two or three columns.
    ///   - isChosen: whether the caller has chosen a column that the user has not named, for the remarks.
    ///   - offset: seconds by which the local clock is ahead of UTC at a time in seconds since 1970. A column of days,
    ///     which begin in UTC, is drawn as it is.
    /// - Throws: ``PlotError`` for an unknown column, and for a kind that its values cannot have.
    package convenience init(
        columns: [PlotColumn], x: String? = nil, y: String? = nil, kind: Kind? = nil, order: Order = .data,
        noun: String = "row", pairs: Bool = false, isChosen: Bool = false,
        offset: @escaping (Int64) -> Int = { _ in 0 }
    ) throws(PlotError) {
        for (option, name) in [("x", x), ("y", y)] {
            guard let name, !columns.contains(where: { $0.name == name }) else { continue }
            throw PlotError(
                option,
                "there is no column '\(name.shortened(to: 80))'\(NearestNames.hint(for: name, among: columns.map(\.name)))"
            )
        }
        let kinds = columns.map { (name: $0.name, kind: PlotValues.kind(of: $0.values)) }
        var choice = try PlotChoice(x: x, y: y, kind: kind, among: kinds, pairs: pairs)
        if isChosen { choice.isChosen = true }
        var builder = PlotBuilder(choice, order: order, noun: noun)
        for (place, column) in columns.enumerated() {
            if column.name == choice.x { builder.x = PlotValues(column, kinds[place].kind, offset) }
            if column.name == choice.y { builder.y = PlotValues(column, kinds[place].kind, offset) }
        }
        try self.init(builder)
    }

    private convenience init(_ builder: PlotBuilder) throws(PlotError) {
        var builder = builder
        let (marks, x, y, title) = try builder.build()
        self.init(
            builder.kind, title: title, x: x, y: y, remarks: builder.remarks, count: builder.count,
            leftOut: builder.leftOut, noun: builder.noun, marks: marks)
    }
}

/// A column with what its values are.
struct PlotValues {
    let column: PlotColumn
    let kind: PlotValueKind
    /// For dates, whether all of them are days.
    private let isDays: Bool
    private let offset: (Int64) -> Int

    init(_ column: PlotColumn, _ kind: PlotValueKind, _ offset: @escaping (Int64) -> Int) {
        (self.column, self.kind, self.offset) = (column, kind, offset)
        isDays =
            kind == .date
            && column.values.allSatisfy {
                guard case .date(let date)? = $0, let seconds = date.wholeSecondsSince1970 else { return true }
                return seconds.isMultiple(of: 86_400)
            }
    }

    var unit: PlotUnit {
        switch kind {
        case .number, .nothing: column.unit
        case .date: .date
        case .category: .category
        }
    }

    /// The most frequent kind of values; the first of equally frequent ones.
    static func kind(of values: [PropertyListValue?]) -> PlotValueKind {
        var counts = [0, 0, 0]
        for value in values {
            switch value {
            case .integer?, .wideInteger?, .real?, .single?: counts[0] += 1
            case .date?: counts[1] += 1
            case .string?, .utf16?, .boolean?: counts[2] += 1
            default: continue
            }
        }
        guard let most = counts.max(), most > 0 else { return .nothing }
        return counts[0] == most ? .number : counts[1] == most ? .date : .category
    }

    /// Why a value is left out.
    enum Fault: Int, CaseIterable, Error { case missing, otherKind, infinite }

    /// The number of a value, or the seconds of a date.
    func number(_ row: Int) throws(Fault) -> Double {
        let number: Double
        switch column.values[row] {
        case nil, .null?: throw .missing
        case .integer(let value)? where kind != .date: number = Double(value)
        case .wideInteger(let value)? where kind != .date: number = Double(value)
        case .real(let value)? where kind != .date: number = value
        case .single(let value)? where kind != .date: number = Double(value)
        case .date(let date)? where kind == .date:
            guard let seconds = date.wholeSecondsSince1970 else { throw .infinite }
            // The fraction of a second is kept: events may be that close.
            let fraction = date.secondsSince1970 - Double(seconds)
            number = Double(seconds + (isDays ? 0 : offset(Int64(seconds)))) + (fraction.isFinite ? fraction : 0)
        default: throw .otherKind
        }
        guard number.isFinite else { throw .infinite }
        return number
    }

    /// The number of a value as the first one of a sum; integers are exact.
    func amount(_ row: Int) throws(Fault) -> PlotSum {
        switch column.values[row] {
        case .integer(let value)? where kind != .date: PlotSum(Int128(value))
        case .wideInteger(let value)? where kind != .date: PlotSum(value)
        default: PlotSum(try number(row))
        }
    }

    /// Whether a value is a text, and not a number with the same label.
    func isText(_ row: Int) -> Bool {
        switch column.values[row] {
        case .string?, .utf16?: true
        default: false
        }
    }

    /// The name of a value, as a category.
    func label(_ row: Int) throws(Fault) -> String {
        switch column.values[row] {
        case nil, .null?: throw .missing
        case .boolean(let flag)?: return flag ? "true" : "false"
        case .string(let text)?: return text
        case .utf16(let units)?: return String(decoding: units, as: UTF16.self)
        case .integer(let value)?: return String(value)
        case .wideInteger(let value)?: return String(value)
        case .real(let value)?:
            guard value.isFinite else { throw .infinite }
            return PlotNumber.label(value, column.unit)
        case .single(let value)?:
            guard value.isFinite else { throw .infinite }
            return PlotNumber.label(Double(value), column.unit)
        default: throw .otherKind
        }
    }

    /// What values of the column should be, for a remark.
    var wanted: String {
        switch kind {
        case .number, .nothing: "a number"
        case .date: "a date"
        case .category: "a text"
        }
    }
}

/// Makes what is drawn of columns.
struct PlotBuilder {
    let kind: Plot.Kind
    let order: Plot.Order
    let noun: String
    var x: PlotValues?
    var y: PlotValues?
    private(set) var remarks: [String] = []
    private(set) var count = 0
    private let isChosen: Bool
    /// The rows that are left out, by column and by reason.
    private var faults = [[Int]](repeating: [0, 0, 0], count: 2)
    var leftOut: Int { faults.joined().reduce(0, +) }

    init(_ choice: PlotChoice, order: Plot.Order, noun: String) {
        (kind, self.order, self.noun, isChosen) = (choice.kind, order, noun, choice.isChosen)
    }

    mutating func build() throws(PlotError) -> (PlotMarks, PlotAxis, PlotAxis, String) {
        guard let x else { throw PlotError("x", "there is no column to plot") }
        try check(x)
        let name = x.column.name
        var across = PlotAxis(title: name, unit: x.unit)
        var upwards = PlotAxis(title: "count", unit: .number)
        if let y { upwards = PlotAxis(title: y.column.name, unit: y.unit) }
        var amount = y.map { "sum of \($0.column.name)" } ?? "count"
        let marks: PlotMarks
        let title: String
        switch (kind, x.kind) {
        case (.histogram, .date), (.bar, .date):
            marks = .amounts(points(x, kind == .bar ? y : nil).sorted { $0.x < $1.x })
            title = kind == .bar ? "\(amount) by \(name)" : "histogram of \(name)"
        case (.histogram, _):
            marks = .numbers(numbers(x))
            title = "histogram of \(name)"
        case (.bar, _):
            across.unit = .category
            let found = bars(x, y)
            marks = .bars(found)
            // A category of a single row has its value, and no sum.
            if found.count == count, let y { amount = y.column.name }
            title = "\(amount) by \(name)"
        case (.line, _):
            let found = points(x, y)
            // Rows of equal x keep their order.
            let places = found.indices.sorted { (found[$0].x, $0) < (found[$1].x, $1) }
            marks = .points(places.map { found[$0] })
            title = "\(upwards.title) by \(name)"
        case (.scatter, _):
            marks = .points(points(x, y))
            title = "\(upwards.title) against \(name)"
        }
        if kind == .bar, y != nil { upwards.title = amount }
        report()
        return (marks, across, upwards, title)
    }

    private func check(_ x: PlotValues) throws(PlotError) {
        let name = x.column.name.shortened(to: 80)
        if x.kind == .category, kind != .bar {
            throw PlotError(
                "x",
                "'\(name)' has texts, and a \(kind.rawValue) plot needs numbers or dates: kind = \"bar\" counts them")
        }
        guard let y, y.kind == .category || y.kind == .date else { return }
        throw PlotError(
            "y",
            "'\(y.column.name.shortened(to: 80))' has \(y.kind == .date ? "dates" : "texts"), and y needs numbers\(x.kind == .number ? ": exchange x and y" : "")"
        )
    }

    // MARK: Values

    private mutating func numbers(_ column: PlotValues) -> [Double] {
        var numbers: [Double] = []
        for row in column.column.values.indices {
            let number = value(0) { () throws(PlotValues.Fault) in try column.number(row) }
            if let number { numbers.append(number) }
        }
        numbers.sort()
        count = numbers.count
        return numbers
    }

    /// The points of the rows that have both; without `y` each has the amount 1.
    private mutating func points(_ x: PlotValues, _ y: PlotValues?) -> [PlotPoint] {
        var points: [PlotPoint] = []
        for row in x.column.values.indices {
            guard let across = value(0, { () throws(PlotValues.Fault) in try x.number(row) }),
                let upwards = value(1, { () throws(PlotValues.Fault) in try y?.number(row) ?? 1 })
            else { continue }
            points.append(PlotPoint(x: across, y: upwards))
        }
        count = points.count
        return points
    }

    private mutating func bars(_ x: PlotValues, _ y: PlotValues?) -> [PlotBar] {
        var (texts, plain): (NameTable<Int>, NameTable<Int>) = ([:], [:])
        var bars: [PlotBar] = []
        for row in x.column.values.indices {
            guard let label = value(0, { () throws(PlotValues.Fault) in try x.label(row) }),
                let amount = value(1, { () throws(PlotValues.Fault) in try y?.amount(row) ?? PlotSum(Int128(1)) })
            else { continue }
            count += 1
            let isText = x.isText(row)
            if let place = isText ? texts[label] : plain[label] {
                bars[place].sum += amount
            } else {
                if isText { texts[label] = bars.count } else { plain[label] = bars.count }
                bars.append(PlotBar(label: label, sum: amount))
            }
        }
        for (label, place) in texts where plain[label] != nil { bars[place].label = "\"\(label)\"" }
        return order == .value ? bars.longestFirst.map { bars[$0] } : bars
    }

    /// A value of a column, or nil, which is counted.
    private mutating func value<Value>(
        _ column: Int, _ body: () throws(PlotValues.Fault) -> Value
    ) -> Value? {
        do throws(PlotValues.Fault) { return try body() } catch {
            faults[column][error.rawValue] += 1
            return nil
        }
    }

    // MARK: Remarks

    private mutating func report() {
        for (column, counts) in zip([x, y], faults) {
            guard let column else { continue }
            let name = TextTable.cut(column.column.name, to: 40)
            for (fault, count) in zip(PlotValues.Fault.allCases, counts) where count > 0 {
                let rows = count.counted(noun)
                switch fault {
                case .missing: remarks.append("\(rows) without \(name) left out")
                case .otherKind:
                    remarks.append("\(rows) left out: \(name) is not \(column.wanted)")
                case .infinite: remarks.append("\(rows) left out: \(name) is not finite")
                }
            }
        }
        if count == 0 {
            remarks.append("nothing to draw")
        }
        if isChosen { remarks.append("columns were chosen: plot{ x =, y =, kind = } draws others") }
    }
}

/// What the values of a column are, by the most frequent kind.
package enum PlotValueKind: Sendable, Hashable {
    case number
    case date
    /// Texts and truth values.
    case category
    /// None that can be drawn.
    case nothing
}

/// What a plot shows, completed where the caller leaves it open.
package struct PlotChoice: Sendable, Hashable {
    package var x: String
    package var y: String?
    package var kind: Plot.Kind
    /// Whether a column was chosen that the caller has not named.
    package var isChosen = false

    /// Chooses what is left open: a number is a histogram, a date and a number a line, a category and a number bars of
    /// sums, two numbers a scatter plot.
    ///
    /// - Parameters:
    ///   - x: the column across; nil to choose.
    ///   - y: the column upwards; nil for none, or to choose where the kind needs one.
    ///   - kind: nil to choose.
    ///   - columns: the columns to choose from, the preferred first, with what they hold.
    ///   - pairs: whether two columns that are left open are both chosen, as in a table of two or three columns.
    /// - Throws: ``PlotError`` where no column fits.
    package init(
        x: String?, y: String?, kind: Plot.Kind?, among columns: [(name: String, kind: PlotValueKind)],
        pairs: Bool = false
    ) throws(PlotError) {
        func first(_ kinds: [PlotValueKind], but name: String?) -> String? {
            for kind in kinds {
                if let found = columns.first(where: { $0.kind == kind && $0.name != name }) { return found.name }
            }
            return nil
        }
        func kinds(of name: String?) -> PlotValueKind? { columns.first { $0.name == name }?.kind }

        var (x, y) = (x, y)
        isChosen = x == nil
        if x == nil, y != nil, kind == nil || kind == .histogram { (x, y) = (y, nil) }
        if x == nil, y == nil, pairs, kind == nil {
            // A table of names or dates and numbers, as a grouping query gives.
            if let name = columns.first(where: { $0.kind != .nothing })?.name, let other = first([.number], but: name) {
                (x, y) = (name, other)
            }
        }
        if x == nil {
            x =
                switch kind {
                case .histogram?, .scatter?: first([.number, .date], but: y)
                case .bar?: first([.category, .date, .number], but: y)
                case .line?: first([.date, .number], but: y)
                case nil: first([.number, .category, .date], but: y)
                }
        }
        guard let across = x ?? columns.first?.name else {
            throw PlotError("x", "there is no column to plot: give x a field or an expression")
        }
        if y == nil, kind == .line || kind == .scatter {
            guard let other = first([.number], but: across) else {
                throw PlotError(
                    "y", "a \(kind?.rawValue ?? "") plot needs numbers for y, and no other column has numbers")
            }
            (y, isChosen) = (other, true)
        }
        // Nothing else could be drawn.
        if !columns.contains(where: { $0.kind != .nothing && $0.name != across && $0.name != y }) { isChosen = false }
        self.x = across
        self.y = y
        self.kind =
            switch (kind, kinds(of: across) ?? .nothing, y) {
            case (let kind?, _, _): kind
            case (nil, .category, _): .bar
            case (nil, _, nil): .histogram
            case (nil, .date, _): .line
            case (nil, _, _): .scatter
            }
    }
}
