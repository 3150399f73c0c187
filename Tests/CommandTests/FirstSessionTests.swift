import Foundation
import TestSupport
import Testing

/// The first session that the product is made for, key by key, on the museum's list.
@Suite(
    "The first session", .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"),
    .enabled(if: Project.shared != nil, "\(Project.sharedIsAbsent)"))
struct FirstSessionTests {
    @Test("import, query, picture, handler, Ctrl-Z, fg")
    func session() throws {
        let program = try Program()
        let files = FileManager.default
        let museum = program.scratch.file("museum")
        try files.createDirectory(atPath: museum, withIntermediateDirectories: true)
        try files.copyItem(atPath: try #require(Project.sharedData("carnegie.csv")), toPath: "\(museum)/carnegie.csv")
        let images = try #require(Project.sharedData("images"))
        try files.copyItem(atPath: "\(images)/china.jpg", toPath: "\(museum)/china.jpg")
        let shell = try PseudoTerminal.shell(
            environment: program.environment, directory: museum, columns: 110, rows: 50)
        try shell.sendLine("\"$CUBBY\"")
        try shell.expect("0 items · sandbox: ")
        try shell.waitForPrompt()

        try shell.sendLine("for row in csv.rows(\"carnegie.csv\") do")
        try shell.expect("… ")
        try shell.sendLine("items:createItem{ name = row.title, serialNumber = row.accession_number,")
        try shell.sendLine("dateCreated = date(row.date_acquired), department = row.department }")
        try shell.sendLine("end")
        try shell.expect("carnegie.csv? [y]es, its whole [f]older, [n]o: ")
        try shell.sendLine("f")
        try shell.expect("28,143 items created · ", timeout: 120)
        try shell.expect("> ")

        try shell.sendLine(
            "items:query(\"department == 'Photography' AND name CONTAINS[c] 'bridge'\"):sorted(\"dateCreated\")")
        try shell.expect(matching: #"#  department +name +dateCreated +serialNumber"#)
        try shell.expect(matching: #"Photography +Bridge and House with Boat on Stream +1974-10-10 +74\.42\.12"#)
        try shell.expect("rows 1–48 of 83")
        try shell.send("q")
        try shell.expect(matching: #"83 rows · \d+ (ms|µs)"#)
        try shell.expect("> ")

        try shell.sendLine("item = items[1]; item.image = image.open(\"china.jpg\")")
        try shell.expect("> ")
        try shell.sendLine("item.image")
        try shell.expect("▀")
        try shell.expect("640×427 JPEG")
        try shell.expect("> ")

        try shell.sendLine(
            "app:on(\"didEnterBackground\", function(event) log.info(\"going away with \" .. #items .. \" items\") end)"
        )
        try shell.expect("Hook(didEnterBackground")
        try shell.expect("> ")
        try shell.send(control: "z")
        try shell.expect("going away with 28143 items")
        try shell.expect("Saved all of the Items")
        try shell.waitForStop()
        try shell.sendLine("fg")
        try shell.expect("> ")
        try shell.sendLine("app.state")
        try shell.expect("\"active\"")
    }
}
