import Lua
import Scripting
import TestSupport
import Testing

@Suite("What is shown by the user's clock, and what is stored in UTC")
struct LocalTimeTests {
    @Test(
        "dates of scripts",
        arguments: [
            ("print(d)", "2026-07-01 11:45:00 +0545"), ("print(tostring(d))", "2026-07-01 06:00:00 +0000"),
            ("print('at ' .. d)", "at 2026-07-01 06:00:00 +0000"), ("print(d.hour, d:inZone().hour)", "6\t11"),
            ("print(json.encode({ d }))", "[\"2026-07-01T06:00:00Z\"]"),
            ("io.write(tostring(d))", "2026-07-01 06:00:00 +0000"),
            (
                "print(items:createItem{ name = 'A', dateCreated = d })",
                "A (): Worth $0, recorded on 2026-07-01 11:45:00 +0545"
            ),
            (
                "print(tostring(items:createItem{ name = 'A', dateCreated = d }))",
                "A (): Worth $0, recorded on 2026-07-01 06:00:00 +0000"
            ),
            (
                "print(setmetatable({}, { __tostring = function() return tostring(d) end }))",
                "2026-07-01 06:00:00 +0000"
            ),
            (
                "csv.write(app.container.tmp .. '/a', { { d = d } }) print((fs.read(app.container.tmp .. '/a')))",
                "d\r\n2026-07-01T06:00:00Z\r\n"
            ),
            ("print(date(1e300))", "1e+300 seconds since 2001"),
        ])
    func dates(source: String, shown: String) throws {
        let scratch = try TemporaryDirectory()
        let embedding = try Embedding(scratch.file("container")) { $0.timeZone = "Asia/Kathmandu" }
        embedding.host.launch()
        #expect(embedding.run("local d = date('2026-07-01T06:00:00Z') " + source) == "")
        let output = embedding.recorder.output
        embedding.end()
        #expect(output == shown + (source.hasPrefix("io.") ? "" : "\n"))
    }
}
