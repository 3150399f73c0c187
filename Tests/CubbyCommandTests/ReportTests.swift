import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// `cubby report`: its words, and its pages on paper.
@Suite("Reports")
struct ReportTests {
    let program: Program

    init() throws { program = try Program() }

    /// A household: `count` items in four rooms, the first ones with pictures.
    private func fill(_ count: Int, pictures: Int) throws {
        let script = """
            local count, pictures, path = ...
            local picture = assert(image.open(path)):resized(400, 300)
            local rooms = { "Attic", "Hall", "Kitchen", "Study" }
            items:transaction(function()
              for i = 1, tonumber(count) do
                local item = items:createItem{ name = ("Thing %03d"):format(i), serialNumber = ("S-%04d"):format(i),
                  valueInDollars = i, room = rooms[i % 4 + 1], dateCreated = date("2024-01-31") }
                if i <= tonumber(pictures) then item.image = picture end
              end
            end)
            """
        let path = "\(Project.root)/examples/data/pictures/teapot.jpg"
        let output = try program("-e", script, String(count), String(pictures), path)
        #expect(output.status == .exited(0), "\(output.stderr)")
    }

    @Test("all items or those of a predicate are one file, and what was written is said")
    func files() throws {
        try fill(8, pictures: 2)
        let file = program.scratch.file("list.html")
        let output = try program("report", "--title", "My things", "--date", "31 January 2026", file)
        #expect(output.status == .exited(0) && output.stdout == "", "\(output.stderr)")
        #expect(output.stderr.contains("8 items, 2 pictures: \(file)"))
        let html = try String(contentsOfFile: file, encoding: .utf8)
        #expect(html.hasPrefix("<!DOCTYPE html>") && html.hasSuffix("</html>\n"))
        #expect(html.contains("<h1>My things</h1>") && html.contains("8 items · $36 · 2 pictures · 31 January 2026"))
        #expect(html.contains("Totals by room") && html.contains("data:image/jpeg;base64,"))
        #expect(try program("report", "--title", "My things", "--date", "31 January 2026", file).status == .exited(0))
        #expect(try String(contentsOfFile: file, encoding: .utf8) == html)
        let some = try program("--no-init", "report", "valueInDollars > 6", "-", "--totals", "", "--columns", "room")
        #expect(some.stdout.contains("<code>valueInDollars &gt; 6</code>") && some.stdout.contains("2 items · $15"))
        #expect(!some.stdout.contains("Totals by") && !some.stdout.contains("serialNumber"))
        let today = try program("report", "-", environment: ["TZ": "UTC"])
        #expect(today.stdout.contains(#/ · \d{4}-\d\d-\d\d</#))
    }

    @Test("mistakes are said, and write nothing")
    func mistakes() throws {
        try fill(2, pictures: 0)
        for words in [[], ["a", "b", "c.html"], ["list.pdf"], ["valueInDollars > 1"]] {
            #expect(try program(["report"] + words).status == .exited(64), "\(words)")
        }
        let file = program.scratch.file("list.html")
        for words in [["valueInDollars >", file], ["--totals", "romo", file], ["nosuch == 1", file]] {
            let output = try program(["report"] + words)
            #expect(output.status != .exited(0), "\(words)")
            #expect(!output.stderr.contains("traceback") && !output.stderr.contains("local "), "\(output.stderr)")
            #expect(!FileManager.default.fileExists(atPath: file))
        }
        let folder = try program("report", program.scratch.file("none/list.html"))
        #expect(folder.status == .exited(74))
    }

    // MARK: On paper

    static let chromium = [
        "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/chromium-headless-shell", "/usr/bin/google-chrome",
    ].first { FileManager.default.fileExists(atPath: $0) }
    static let pdfToText = ["/usr/bin/pdftotext"].first { FileManager.default.fileExists(atPath: $0) }
    static let prints = chromium != nil && pdfToText != nil

    /// The texts of the printed pages of a file, each without the spacing of its layout.
    private func pages(of page: String) throws -> [String] {
        let pdf = program.scratch.file("page.pdf")
        let printed = try run(
            try #require(Self.chromium),
            [
                "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
                "--user-data-dir=\(program.scratch.file("profile"))", "--virtual-time-budget=3000",
                "--no-pdf-header-footer", "--print-to-pdf=\(pdf)", "file://\(page)",
            ])
        try #require(FileManager.default.fileExists(atPath: pdf), "\(printed.stderr)")
        let text = try run(try #require(Self.pdfToText), ["-layout", pdf, "-"]).stdout
        return text.split(separator: "\u{C}").map { page in
            page.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
    }

    @Test(
        "a report's pages have their numbers, its title, its date, and each item once",
        .enabled(if: prints, "no Chromium, or no pdftotext (poppler-utils), is installed"))
    func printedReport() throws {
        try fill(60, pictures: 40)
        let file = program.scratch.file("list.html")
        #expect(try program("report", "--title", "My things", "--date", "2026-01-31", file).status == .exited(0))
        let pages = try pages(of: file)
        // 28 mm of picture each, on letter paper with margins of 20 mm: eight to a page at most.
        #expect((6...9).contains(pages.count), "\(pages.count)")
        for (number, page) in pages.enumerated() {
            #expect(page.contains("Page \(number + 1) of \(pages.count)") && page.contains("2026-01-31"))
            #expect(page.contains("My things"))
            #expect(number == 0 || page.contains("No. Picture Item valueInDollars"), "a table's head is on each page")
        }
        #expect(pages[0].contains("60 items · $1,830 · 40 pictures · 2026-01-31"))
        #expect(pages[0].contains("Totals by room") && pages[0].contains("Total 60 $1,830"))
        let all = pages.joined(separator: " ")
        for number in 1...60 {
            #expect(all.components(separatedBy: String(format: "Thing %03d", number)).count == 2, "\(number)")
        }
    }

    @Test(
        "a gallery prints all of its cards, and nothing of its controls",
        .enabled(if: prints, "no Chromium, or no pdftotext (poppler-utils), is installed"))
    func printedGallery() throws {
        try fill(150, pictures: 3)
        let folder = program.scratch.file("page")
        #expect(try program("gallery", folder, "--title", "My things").status == .exited(0))
        let pages = try pages(of: "\(folder)/index.html")
        let all = pages.joined(separator: " ")
        for number in 1...150 { #expect(all.contains(String(format: "Thing %03d", number)), "\(number)") }
        #expect(pages[0].hasPrefix("My things 150 of 150 items · $11,325"))
        #expect(all.components(separatedBy: "My things").count == 2, "the heading is on the first page alone")
        #expect(!all.contains("Sort by") && !all.contains("Show more") && !all.contains("Enter open"))
    }
}
