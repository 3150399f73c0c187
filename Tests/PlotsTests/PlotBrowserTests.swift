import Foundation
import TestSupport
import Testing

@testable import Plots

/// Plots as a browser shows them.
@Suite("Plots in a browser") struct PlotBrowserTests {
    private static let chromium = ["chromium-headless-shell", "chromium"].lazy
        .map { "/usr/bin/\($0)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    private static let judge = "\(Project.root)/Tests/Judges/plot_texts.py"

    @Test(
        "all texts are within the drawing, and apart", .enabled(if: chromium != nil, "Chromium is not installed"),
        arguments: [(800, 480), (360, 240), (220, 140)])
    func texts(_ size: (width: Int, height: Int)) throws {
        let folder = try TemporaryDirectory()
        var files: [String] = []
        for name in Samples.names {
            let svg = try Samples.plot(name).svg(width: size.width, height: size.height)
            files.append(try folder.write(svg, to: "\(name).svg"))
        }
        let result = try run("python3", [Self.judge, try #require(Self.chromium)] + files, timeout: 300)
        #expect(result.status == .exited(0), "\(result.stdout)\(result.stderr)")
    }

    @Test("the judge sees what is not readable", .enabled(if: chromium != nil, "Chromium is not installed"))
    func faults() throws {
        let folder = try TemporaryDirectory()
        let text = "<text x='5' y='20'>one</text><text x='8' y='22'>two</text><text x='190' y='90'>far out</text>"
        let path = try folder.write(
            "<svg xmlns='http://www.w3.org/2000/svg' width='200' height='100'>\(text)</svg>", to: "plot.svg")
        let result = try run("python3", [Self.judge, try #require(Self.chromium), path], timeout: 300)
        #expect(result.status == .exited(1))
        #expect(result.stdout == "plot.svg: on one another: one and two\nplot.svg: beyond the edge: far out\n")
    }
}
