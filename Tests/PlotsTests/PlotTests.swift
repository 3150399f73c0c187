import Foundation
import PropertyList
import TestSupport
import Testing

@testable import Plots

@Suite("Plots")
struct PlotTests {
    private static let sizes = [(80, 24), (40, 20)]

    @Test("drawings of text are those of the files, within their size", arguments: Samples.names, sizes)
    func screens(_ name: String, _ size: (Int, Int)) throws {
        let path = "\(Project.root)/Tests/Fixtures/plots/\(name)-\(size.0)x\(size.1).txt"
        let text = try Samples.plot(name).text(width: size.0, height: size.1)
        #expect(try text == String(contentsOfFile: path, encoding: .utf8), "\(text)")
    }

    @Test("no line is wider or lower than asked, at any size, with colours and without")
    func bounds() throws {
        for name in Samples.names {
            let plot = try Samples.plot(name)
            for (width, height) in [(20, 8), (21, 9), (33, 12), (61, 10), (120, 40), (200, 60), (1000, 8)] {
                let lines = plot.lines(width: width, height: height)
                #expect(lines.count <= height, "\(name) \(width)×\(height): \(lines.count)")
                #expect(lines.allSatisfy { DisplayWidth.of($0) <= width }, "\(name) \(width)×\(height)")
                let style = PlotStyle(title: "1", axis: "90", mark: "36", remark: "2")
                let colored = plot.lines(width: width, height: height, style: style).map { Self.plain($0) }
                #expect(colored == lines)
            }
        }
    }

    private static func plain(_ line: String) -> String {
        var stripper = EscapeStripper()
        var bytes: [UInt8] = []
        stripper.strip(line.utf8, into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("the columns' values choose the kind")
    func kinds() throws {
        let columns = Samples.columns
        func kind(_ x: String?, _ y: String? = nil) throws -> Plot.Kind { try Plot(columns: columns, x: x, y: y).kind }
        #expect(try kind(nil) == .histogram)
        #expect(try kind("place") == .bar)
        #expect(try kind("place", "price") == .bar)
        #expect(try kind("bought", "price") == .line)
        #expect(try kind("bought") == .histogram)
        #expect(try kind("price", "weight") == .scatter)
        #expect(try kind(nil, "price") == .histogram)
        let pair = try Plot(columns: [columns[1], columns[0]], pairs: true)
        #expect(pair.kind == .bar && pair.x.title == "place" && pair.y.title == "sum of price")
        let line = try Plot(columns: columns, kind: .line)
        #expect(line.x.title == "bought" && line.y.title == "price")
        #expect(line.remarks.last?.contains("chosen") == true)
    }

    @Test("mistakes name the option and what to write")
    func mistakes() {
        let columns = Samples.columns
        func message(_ x: String?, _ y: String?, _ kind: Plot.Kind?) -> String {
            do throws(PlotError) {
                _ = try Plot(columns: columns, x: x, y: y, kind: kind)
                return ""
            } catch { return "\(error.option ?? "-"): \(error)" }
        }
        #expect(message("prize", nil, nil) == "x: there is no column 'prize'; did you mean 'price'?")
        #expect(message("place", nil, .histogram).hasPrefix("x: 'place' has texts, and a histogram plot needs numbers"))
        #expect(message("price", "place", .scatter) == "y: 'place' has texts, and y needs numbers: exchange x and y")
        #expect(message("place", "bought", .bar) == "y: 'bought' has dates, and y needs numbers")
    }

    @Test("what is left out is counted, by its reason")
    func leftOut() throws {
        let values: [PropertyListValue?] = [
            .integer(1), nil, .null, .real(.nan), .real(-.infinity), .string("3"), .boolean(true), .real(2),
            .integer(4),
        ]
        let plot = try Plot(columns: [PlotColumn(name: "price", values: values)], noun: "item")
        #expect(plot.count == 3)
        #expect(
            plot.remarks == [
                "2 items without price left out", "2 items left out: price is not a number",
                "2 items left out: price is not finite",
            ])
        // Each row once, by the first reason.
        let both = try Plot(
            columns: [
                PlotColumn(name: "a", values: [nil, .integer(1), .integer(2)]),
                PlotColumn(name: "b", values: [nil, nil, .integer(3)]),
            ], x: "a", y: "b")
        #expect(both.remarks == ["1 row without a left out", "1 row without b left out"])
    }

    @Test("bars are sums in the order of the data, or by value, and those that do not fit are summed up")
    func bars() throws {
        let names = (0..<10_000).map { PlotColumn.text("name \($0)") }
        let columns = [
            PlotColumn(name: "name", values: names),
            PlotColumn(name: "n", values: (0..<10_000).map { .integer($0 % 97 == 0 ? 9 : 1) }),
        ]
        let plot = try Plot(columns: columns, x: "name", y: "n")
        let lines = plot.lines(width: 60, height: 12)
        #expect(lines.count == 12)
        #expect(lines[1].hasPrefix("  name 0 │") || lines[1].hasPrefix(" name 0 │") || lines[1].contains("name 0 │"))
        #expect(lines[11] == "9,990 shorter bars not drawn, 10,742 in all")
        let sorted = try Plot(
            columns: [
                PlotColumn(name: "k", values: [.string("a"), .string("b"), .string("a"), .string("c")]),
                PlotColumn(name: "v", values: [.integer(1), .integer(5), .integer(1), .integer(3)]),
            ], x: "k", y: "v", order: .value)
        #expect(sorted.title == "sum of v by k")
        guard case .bars(let bars) = sorted.marks else { return #expect(Bool(false)) }
        #expect(bars.map(\.label) == ["b", "c", "a"] && bars.map(\.amount) == [5, 3, 2])
    }

    @Test(
        "amounts are exact beside bars, those below zero are as long as others, and values with equal labels are apart")
    func exactBars() throws {
        let columns = [
            PlotColumn(name: "k", values: [.integer(5), .string("5"), .real(5), .string("a"), .string("a")]),
            PlotColumn(name: "v", values: [.integer(2), .integer(-9), .integer(1), .real(0.1), .real(0.2)]),
        ]
        let plot = try Plot(columns: columns, x: "k", y: "v", kind: .bar, order: .value)
        guard case .bars(let bars) = plot.marks else { return #expect(Bool(false)) }
        #expect(bars.map(\.label) == ["\"5\"", "5", "a"] && bars.map(\.amount) == [-9, 3, 0.3])
        #expect(plot.lines(width: 40).last?.hasSuffix(" 0.3") == true)
        #expect(plot.svg().contains("<title>a: 0.3</title>"))
    }

    @Test("amounts of any size leave columns to draw in, on the narrowest screens")
    func narrow() throws {
        let most: Int64 = 999_999_999_999_999
        for values in [[1, most], [-most, 1], [-most, most], [most - 3, most], [123_456_789_012_345]] as [[Int64]] {
            let rows = values.indices
            let columns = [
                PlotColumn(name: "n", values: rows.map { .integer(Int64($0)) }),
                PlotColumn(name: "v", values: values.map { .integer($0) }, unit: .dollars),
                PlotColumn(name: "k", values: rows.map { .string("name \($0)") }),
                PlotColumn(
                    name: "d", values: rows.map { .date(PropertyListDate(secondsSince1970: Double($0) * 9e6)) }),
            ]
            for (x, kind) in [("n", nil), ("n", .line), ("k", nil), ("d", .bar), ("d", .line), ("v", .histogram)]
                as [(String, Plot.Kind?)]
            {
                let plot = try Plot(columns: columns, x: x, y: kind == .histogram ? nil : "v", kind: kind)
                for width in 20...40 {
                    #expect(plot.lines(width: width, height: 9).allSatisfy { DisplayWidth.of($0) <= width })
                }
            }
        }
    }

    @Test("reasons without room are one sum, with one mark at most")
    func shortRemarks() throws {
        let values: [PropertyListValue?] = [.integer(1), nil, .real(.nan), .string("x"), .integer(2)]
        let columns = [
            PlotColumn(name: "a long name of a column", values: values), PlotColumn(name: "b", values: values),
        ]
        let plot = try Plot(columns: columns, x: "a long name of a column", noun: "item")
        #expect(plot.lines(width: 24, height: 8).last == "3 items left out")
        #expect(plot.lines(width: 200).last?.contains("1 item without a long name of a column left out") == true)
    }

    @Test("dates are drawn by the local clock, days as they are")
    func zones() throws {
        let late = PropertyListDate(secondsSince1970: 86_400 * 19_723 - 1800)
        let later = PropertyListDate(secondsSince1970: 86_400 * 19_723 + 3600)
        func title(_ dates: [PropertyListDate]) throws -> String {
            try Plot(columns: [PlotColumn(name: "t", values: dates.map { .date($0) })], offset: { _ in 3600 }).lines()[
                0]
        }
        #expect(try title([late, later]) == "histogram of t · 2024-01-01")
        let day = PropertyListDate(secondsSince1970: 86_400 * 19_723)
        #expect(
            try Plot(columns: [PlotColumn(name: "t", values: [.date(day)])], offset: { _ in 3600 }).text().contains(
                "2024-01-01"))
    }

    @Test("a column alone is a histogram, or bars of its most frequent values")
    func columns() {
        let columns = Samples.columns
        #expect(columns[0].histogramLines(width: 40, height: 12).first == "histogram of price")
        let bars = columns[1].histogramLines(width: 40, height: 12)
        #expect(bars.first == "count by place" && bars.count == 6)
        #expect(PlotColumn(name: "none", values: [nil]).histogramLines(width: 80, height: 12).count == 2)
        #expect(PlotColumn(name: "data", values: [.data([1])]).histogramLines(width: 80, height: 12).count == 2)
    }

    @Test("texts that are all dates can be read as dates")
    func datesOfTexts() {
        let dates = PlotColumn(name: "d", values: [.string("2024-01-05"), nil, .string("2024-02-05T10:00:00Z")])
        #expect(dates.kind == .category && dates.readingDates.kind == .date)
        let mixed = PlotColumn(name: "d", values: [.string("2024-01-05"), .string("soon")])
        #expect(mixed.readingDates.kind == .category)
        #expect(mixed.readingDates.values == mixed.values)
    }

    @Test("values that are none, and others that are too many, draw something")
    func hostile() throws {
        let hostile: [[PropertyListValue?]] = [
            [], [nil], [.real(.nan), .real(.infinity)], [.integer(5)], [.integer(5), .integer(5)],
            [.integer(.max), .integer(.min)],
            [.real(.greatestFiniteMagnitude), .real(-.greatestFiniteMagnitude)],
            [.real(.leastNonzeroMagnitude), .real(0)],
            [.wideInteger(.max), .wideInteger(.min)], [.date(PropertyListDate(secondsSinceReferenceDate: .nan))],
            [
                .date(PropertyListDate(secondsSinceReferenceDate: 2e13)),
                .date(PropertyListDate(secondsSinceReferenceDate: -2e13)),
            ],
            [.data([1]), .array([]), .uid(3)], [.string(""), .string("\u{1B}[31m\n\u{202E}<script>"), .boolean(true)],
            [.real(1e308), .real(1e308)], [.real(-0.0)], [.utf16([0xD800])],
        ]
        for first in hostile {
            for kind in [nil] + Plot.Kind.allCases.map(Optional.some) {
                for second in hostile + [[]] where second.isEmpty || second.count == first.count {
                    var columns = [PlotColumn(name: "a\u{7}", values: first, unit: .money)]
                    if second.count == first.count { columns.append(PlotColumn(name: "b", values: second)) }
                    let y = columns.count > 1 && kind != .histogram ? "b" : nil
                    guard let plot = try? Plot(columns: columns, x: "a\u{7}", y: y, kind: kind) else { continue }
                    for text in plot.lines(width: 50, height: 10) {
                        #expect(
                            DisplayWidth.of(text) <= 50 && !text.unicodeScalars.contains(where: VisibleText.isHidden))
                    }
                    #expect(plot.svg().hasSuffix("</svg>\n"))
                    #expect(!plot.summary.isEmpty)
                }
            }
        }
    }

    @Test("a million points take no longer to draw than the grid has places")
    func million() throws {
        let count = 1_000_000
        let columns = [
            PlotColumn(name: "x", values: (0..<count).map { .integer(Int64($0)) }),
            PlotColumn(name: "y", values: (0..<count).map { .real(Samples.number($0)) }),
        ]
        for kind in [Plot.Kind.line, .scatter, .histogram] {
            let plot = try Plot(columns: columns, x: "x", y: kind == .histogram ? nil : "y", kind: kind)
            #expect(plot.count == count)
            #expect(plot.lines().count <= 20)
            #expect(plot.svg().utf8.count < 400_000, "\(kind) \(plot.svg().utf8.count)")
        }
    }
}

extension PlotColumn {
    fileprivate static func text(_ text: String) -> PropertyListValue { .string(text) }
}

@Suite("Plots as SVG")
struct PlotSVGTests {
    /// Reads documents by Python's parser: says what is wrong with their structure, and prints the texts that are seen.
    private static let judge = """
        import sys, xml.etree.ElementTree as tree
        for path in sys.argv[1:]:
            root = tree.parse(path).getroot()
            ns = '{http://www.w3.org/2000/svg}'
            width, height = float(root.get('width')), float(root.get('height'))
            kinds = {e.tag.removeprefix(ns) for e in root.iter()}
            assert kinds <= {'svg', 'title', 'style', 'rect', 'text', 'line', 'path', 'circle'}, kinds
            for e in root.iter():
                for name in ('x', 'x1', 'x2', 'cx'):
                    assert 0 <= float(e.get(name, 0)) <= width, (path, e.attrib)
                for name in ('y', 'y1', 'y2', 'cy'):
                    assert 0 <= float(e.get(name, 0)) <= height, (path, e.attrib)
                assert not any(n.startswith('on') or n.endswith('href') for n in e.attrib), e.attrib
            # Labels on one line do not overlap: a character is at least six pixels wide here.
            ticks = {}
            for e in root.iter(ns + 'text'):
                size = len(e.text or '') * 6.0
                x = float(e.get('x')) - {'middle': size / 2, 'end': size}.get(e.get('text-anchor'), 0)
                ticks.setdefault(e.get('y'), []).append((x, x + size, e.text))
            for row in ticks.values():
                row.sort()
                for a, b in zip(row, row[1:]):
                    assert a[1] <= b[0], (path, a, b)
            print(path.rsplit('/')[-1], sum(1 for e in root.iter(ns + 'text')))
        """

    @Test("documents are well-formed, their elements are within, and their labels do not overlap")
    func judged() throws {
        let folder = try TemporaryDirectory()
        var paths: [String] = []
        func add(_ plot: Plot, _ name: String, _ width: Int = 800, _ height: Int = 480) throws {
            let path = folder.file("\(name).svg")
            try Data(plot.svg(width: width, height: height).utf8).write(to: URL(fileURLWithPath: path))
            paths.append(path)
        }
        for name in Samples.names {
            try add(Samples.plot(name), name)
            try add(Samples.plot(name), "\(name)-small", 320, 240)
        }
        let evil = "<script>alert(1)</script>&\"'\u{0}\u{1B}[31m\u{FFFE}\u{FFFF}\u{202E}]]>"
        let names = [evil, String(repeating: "W", count: 5000), "", "e\u{301}\u{302}"].map {
            PropertyListValue.string($0)
        }
        try add(Plot(columns: [PlotColumn(name: evil, values: names)], kind: .bar), "evil")
        try add(Plot(columns: [PlotColumn(name: "none", values: [])]), "empty")
        let output = try run("/usr/bin/python3", ["-c", Self.judge] + paths)
        #expect(output.status == .exited(0), "\(output.stderr)")
        #expect(output.stdout.split(separator: "\n").count == paths.count)
    }

    @Test("the colours follow the theme, and what is drawn is said for the pointer and for readers")
    func themes() throws {
        let plot = try Samples.plot("bars")
        #expect(plot.svg().contains("@media (prefers-color-scheme: dark)"))
        #expect(!plot.svg(theme: .light).contains("@media") && plot.svg(theme: .dark).contains("#1c1c1f"))
        #expect(plot.svg().contains("<title>Study: $17,423</title>"))
        #expect(plot.svg().contains("<title>sum of price by place</title>"))
    }
}
