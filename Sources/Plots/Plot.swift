package import PropertyList
@_exported import Wording

/// A picture of numbers: what is drawn, not how. It has no size until it is drawn as text (``lines(width:height:style:)``)
/// or as SVG (``svg(width:height:theme:)``); histograms and periods get their bins then.
package final class Plot: Sendable {
    /// The kinds of plots.
    package enum Kind: String, Sendable, CaseIterable {
        /// A bar for each category or period: the sum of a column, or the number of rows.
        case bar
        /// A line through the rows in the order of their x.
        case line
        /// The number of rows in each range of a column.
        case histogram
        /// A point for each row.
        case scatter
    }

    /// The order of bars.
    package enum Order: String, Sendable, CaseIterable {
        /// The order of the first row of each.
        case data
        /// The longest first.
        case value
    }

    package let kind: Kind
    /// One line: `valueInDollars by room`.
    package let title: String
    package let x: PlotAxis
    package let y: PlotAxis
    /// What the reader must know: rows that are left out, and what was chosen. One sentence each.
    package let remarks: [String]
    /// The number of rows that are drawn.
    package let count: Int
    /// The number of rows that are left out.
    let leftOut: Int
    /// What a row is, in the singular: `item`.
    let noun: String
    let marks: PlotMarks

    init(
        _ kind: Kind, title: String, x: PlotAxis, y: PlotAxis, remarks: [String], count: Int,
        leftOut: Int, noun: String, marks: PlotMarks
    ) {
        (self.kind, self.title, self.x, self.y) = (kind, title, x, y)
        (self.remarks, self.count, self.leftOut) = (remarks, count, leftOut)
        (self.noun, self.marks) = (noun, marks)
    }

    /// One line for `tostring`: `histogram of price (28 items)`.
    package var summary: String { "\(kind.rawValue) plot: \(title) (\(count.counted(noun)))" }
}

/// A column of values of which a plot is made.
package struct PlotColumn: Sendable {
    /// Its name, as scripts write it in `x` and `y`.
    package var name: String
    /// A value for each row; nil where a row has none.
    package var values: [PropertyListValue?]
    /// The format of its numbers.
    package var unit: PlotUnit

    package init(name: String, values: [PropertyListValue?], unit: PlotUnit = .number) {
        (self.name, self.values, self.unit) = (name, values, unit)
    }

    /// The column with texts of dates as dates, if all of its values are such texts: a database has no dates.
    package var readingDates: PlotColumn {
        var column = self
        for (row, value) in values.enumerated() {
            switch value {
            case nil, .null?: continue
            case .string(let text)?:
                guard let date = ISO8601.nearest(text) else { return self }
                column.values[row] = .date(date)
            default: return self
            }
        }
        return column
    }

    /// What the values are, by the most frequent kind.
    package var kind: PlotValueKind { PlotValues.kind(of: values) }
}

/// How the values of an axis are written.
package enum PlotUnit: Sendable, Hashable {
    case number
    /// Amounts with two decimals: `12.50`.
    case money
    /// Amounts in dollars: `$1,200`, with decimals where they are needed.
    case dollars
    /// Points in time, in seconds of the local clock since 1970.
    case date
    /// Names, whose place is their number.
    case category
}

/// An axis.
package struct PlotAxis: Sendable, Hashable {
    /// The column, or `count`.
    package var title: String
    package var unit: PlotUnit
}

/// A category and its sum.
struct PlotBar: Sendable, Hashable {
    var label: String
    var sum: PlotSum

    /// What is drawn.
    var amount: Double { sum.nearest }
}

/// A sum of numbers, exact while its digits have room.
struct PlotSum: Hashable, Sendable {
    private(set) var nearest: Double
    private var exact: PlotNumber?

    init(_ number: Double) { (nearest, exact) = (number, PlotNumber(number)) }
    init(_ number: Int128) { (nearest, exact) = (Double(number), PlotNumber(digits: number, exponent: 0)) }

    static func += (sum: inout PlotSum, other: PlotSum) {
        sum.exact = sum.exact.flatMap { first in other.exact.flatMap(first.adding) }
        sum.nearest = sum.exact?.value ?? (sum.nearest + other.nearest)
    }

    /// The text in so many columns; a sum that is not exact is marked.
    func label(_ unit: PlotUnit, atMost width: Int = .max) -> String {
        if let exact { return exact.label(unit, atMost: width) }
        return nearest.isFinite ? "≈" + PlotNumber(nearest).label(unit, atMost: width - 1) : "\(nearest)"
    }
}

struct PlotPoint: Sendable, Hashable {
    var x: Double
    var y: Double
}

/// What is drawn.
enum PlotMarks: Sendable {
    /// A bar for each category.
    case bars([PlotBar])
    /// Amounts at points in time, in ascending order, to be summed in periods.
    case amounts([PlotPoint])
    /// Numbers in ascending order, to be counted in ranges.
    case numbers([Double])
    /// Points, of a line in the order of x.
    case points([PlotPoint])

    var isEmpty: Bool {
        switch self {
        case .bars(let bars): bars.isEmpty
        case .amounts(let points), .points(let points): points.isEmpty
        case .numbers(let numbers): numbers.isEmpty
        }
    }
}

/// A plot that cannot be made: a script's mistake.
package struct PlotError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The option that is wrong: `x`, `y` or `kind`; nil for none of them.
    package let option: String?
    /// What is wrong, and what to write.
    package let description: String

    init(_ option: String?, _ description: String) { (self.option, self.description) = (option, description) }
}

/// The SGR parameters of a drawing's parts (`ESC [ … m`); empty ones are plain.
package struct PlotStyle: Sendable, Hashable {
    package var title = ""
    package var axis = ""
    package var mark = ""
    package var remark = ""

    /// No colours.
    package init() {}

    package init(title: String, axis: String, mark: String, remark: String) {
        (self.title, self.axis, self.mark, self.remark) = (title, axis, mark, remark)
    }
}
