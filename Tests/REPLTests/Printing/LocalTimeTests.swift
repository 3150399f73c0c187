import Testing

@testable import REPL

@Suite("Dates at the prompt") struct LocalTimeTests {
    @Test(
        "are by the user's clock, with the offset; a day is a day",
        arguments: [
            ("date('2026-07-01T06:00:00Z')", "2026-07-01 08:00:00 +0200"),
            ("date('2026-07-01')", "2026-07-01 02:00:00 +0200"),
            ("{ at = date('2026-01-01T23:30:00Z') }", "{ at = 2026-01-02 00:30:00 +0100 }"),
            ("tostring(date('2026-07-01T06:00:00Z'))", "\"2026-07-01 06:00:00 +0000\""),
            (
                "{ items:createItem{ name = 'Lamp', dateCreated = date('2026-07-01T06:00:00Z') }, 1 }",
                "{ Lamp (): Worth $0, recorded on 2026-07-01 08:00:00 +0200, 1 }"
            ),
        ])
    func prompt(entry: String, shown: String) throws {
        #expect(try TestHost(timeZone: "Europe/Berlin").enter(entry) == shown + "\n")
    }

    @Test("are local times in an item's fields")
    func item() throws {
        let entry = "items:createItem{ name = 'Lamp', dateCreated = date('2026-07-01T06:00:00Z') }"
        let lines = try TestHost(timeZone: "Europe/Berlin").lines(entry)
        #expect(lines.contains(" dateCreated     2026-07-01 08:00:00 +0200"), "\(lines)")
    }

    @Test(
        "are local times in a listing, but for days, which are the same everywhere",
        arguments: [
            ("Europe/Berlin", "2026-07-01 08:00"), ("America/New_York", "2026-07-01 02:00"),
        ])
    func listing(zone: String, shown: String) throws {
        let test = try TestHost(timeZone: zone)
        try test.enter("items:createItem{ name = 'Lamp', dateCreated = date('2026-07-01T06:00:00Z') }")
        try test.enter("items:createItem{ name = 'Vase', dateCreated = date('1906-10-17') }")
        let listing = try test.enter("items:query()")
        #expect(listing.contains(shown))
        #expect(listing.contains("1906-10-17") && !listing.contains("1906-10-17 "))
    }
}
