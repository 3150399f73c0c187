import Application
import Images
import LineEditor
import Scripting
import TestSupport
import Testing

@testable import REPL

@Suite("Plots at the prompt")
struct PlotPrintingTests {
    private let test: TestHost

    init() throws {
        test = try TestHost()
        try test.enter(
            "for n = 1, 40 do items:createItem{ name = 'Item ' .. n, valueInDollars = n, room = n % 3 == 0 and 'Attic' or 'Study' } end"
        )
    }

    private func text(
        _ entry: String, columns: Int = 60, rows: Int = 16, pictures: TerminalPictures? = nil,
        palette: TerminalPalette = .none
    ) throws -> String {
        var printer = ValuePrinter(test.host)
        (printer.columns, printer.rows, printer.pictures) = (columns, rows, pictures)
        printer.palette = { palette }
        return printer.text(try test.evaluator.evaluate(entry).get(), seconds: 0)
    }

    @Test("a plot draws itself to the screen's width, below the height that keeps the entry")
    func drawing() throws {
        let lines = try text("items:query():plot{ x = 'valueInDollars' }").split(separator: "\n").map(String.init)
        #expect(lines.count == 12 && lines[0] == "histogram of valueInDollars")
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= 60 } && lines.contains { $0.contains("█") })
        let colored = try text("items:query():plot{ x = 'valueInDollars' }", palette: .standard)
        #expect(colored.contains("\u{1B}[36m") && colored.contains("\u{1B}[1mhistogram"))
    }

    private func pictures(_ environment: [String: String]) -> TerminalPictures {
        TerminalPictures(size: TerminalSize(columns: 60, rows: 16), hasColors: true) { environment[$0] }
    }

    @Test("a terminal with graphics gets a picture, one of characters the text")
    func graphics() throws {
        let entry = "items:query():plot{ x = 'valueInDollars' }"
        let picture = try text(entry, pictures: pictures(["TERM_PROGRAM": "iTerm.app"]))
        #expect(
            picture.hasPrefix("\u{1B}]1337;File=")
                && picture.hasSuffix("(histogram plot: histogram of valueInDollars (40 items))\n"))
        #expect(try text(entry, pictures: pictures([:])).hasPrefix("histogram of valueInDollars\n"))
    }

    @Test("groups have bars beside their counts, but not in a pipe")
    func bars() throws {
        let lines = try text("items:query():groupBy('room')").split(separator: "\n").map(String.init)
        #expect(lines[0].hasSuffix("count  bar"))
        #expect(lines[1].contains("Study") && lines[1].hasSuffix(" " + String(repeating: "█", count: 16)))
        #expect(lines[2].contains("Attic") && lines[2].hasSuffix(" " + String(repeating: "█", count: 7) + "▊"))
        var printer = ValuePrinter(test.host)
        printer.isWhole = true
        #expect(
            !printer.text(try test.evaluator.evaluate("items:query():groupBy('room')").get(), seconds: 0).contains("█"))
    }

    @Test("print writes the drawing, tostring one line")
    func printing() throws {
        #expect(
            try test.enter("tostring(items:query():plot{ x = 'room' })") == "\"bar plot: count by room (40 items)\"\n")
    }
}
