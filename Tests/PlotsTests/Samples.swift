import PropertyList

@testable import Plots

/// Plots of made-up household items, the same at each run.
enum Samples {
    static let names = ["histogram", "periods", "bars", "line", "scatter", "negative"]
    private static let places = ["Study", "Kitchen", "Attic", "Living room", "Bath"]
    private static let count = 240

    /// Numbers from 0 to below 1 that look random.
    static func number(_ place: Int) -> Double {
        let bits = (UInt64(place) &+ 1) &* 0x9E37_79B9_7F4A_7C15
        let mixed = (bits ^ (bits >> 29)) &* 0xBF58_476D_1CE4_E5B9
        return Double((mixed ^ (mixed >> 32)) >> 11) / 0x1p53
    }

    static var columns: [PlotColumn] {
        let rows = 0..<count
        let sums = rows.map { row in (0..<6).reduce(0) { $0 + number(row * 6 + $1) } }
        return [
            PlotColumn(
                name: "price",
                values: rows.map { row in
                    if row % 60 == 0 { return nil }
                    return row % 77 == 5 ? .string("dear") : .integer(Int64(sums[row] * 100))
                }, unit: .dollars),
            PlotColumn(name: "place", values: rows.map { .string(places[Int(number($0 + 9000) * 5)]) }),
            PlotColumn(
                name: "bought",
                values: rows.map { .date(PropertyListDate(secondsSince1970: 1_672_531_200 + Double($0) * 172_800)) }),
            PlotColumn(name: "weight", values: rows.map { .real(sums[$0] * sums[$0] / 4 + number($0 + 500)) }),
        ]
    }

    static func plot(_ name: String) throws -> Plot {
        switch name {
        case "histogram": try Plot(columns: columns, noun: "item")
        case "periods": try Plot(columns: columns, x: "bought", y: "price", kind: .bar, noun: "item")
        case "bars": try Plot(columns: columns, x: "place", y: "price", order: .value, noun: "item")
        case "line": try Plot(columns: Array(columns.map { cut($0, to: 40) }), x: "bought", y: "weight", noun: "item")
        case "scatter": try Plot(columns: columns, x: "price", y: "weight", noun: "item")
        default:
            try Plot(
                columns: [
                    PlotColumn(name: "month", values: ["January", "February", "März 三月", "April"].map { .string($0) }),
                    PlotColumn(
                        name: "balance", values: [.integer(-500), .real(312.5), .integer(1000), .integer(-20)],
                        unit: .money),
                ], pairs: true)
        }
    }

    private static func cut(_ column: PlotColumn, to count: Int) -> PlotColumn {
        var column = column
        column.values = Array(column.values.prefix(count))
        return column
    }
}
