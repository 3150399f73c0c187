import Testing

@testable import TimeZones

@Suite("DailySchedule")
struct DailyScheduleTests {
    /// The times at which it is due, where the clock shows these times one after the other.
    private func due(_ time: Int, _ zone: String, _ clock: [String]) throws -> [String] {
        let zone = try Zones.database.zone(named: zone)
        let moments = try clock.map(Zones.moment)
        var schedule = DailySchedule(time: time, zone: zone, now: moments[0])
        var due: [String] = []
        for (moment, text) in zip(moments, clock).dropFirst() where schedule.takeDue(moment) { due.append(text) }
        return due
    }

    /// The first moments, where somebody looks at each.
    private func moments(_ time: Int, _ zone: String, from start: String, count: Int) throws -> [Int64] {
        var schedule = DailySchedule(
            time: time, zone: try Zones.database.zone(named: zone), now: try Zones.moment(start))
        return (0..<count).map { _ in
            let next = schedule.next
            let isDue = schedule.takeDue(next)
            #expect(isDue)
            return next
        }
    }

    @Test(
        "each day, through changes of summer time",
        arguments: [
            ("Europe/Berlin", "2026-03-27T12:00Z", ["2026-03-28T01:30Z", "2026-03-29T01:30Z", "2026-03-30T00:30Z"]),
            ("Europe/Berlin", "2026-10-23T12:00Z", ["2026-10-24T00:30Z", "2026-10-25T00:30Z", "2026-10-26T01:30Z"]),
            ("America/New_York", "2026-03-07T00:00Z", ["2026-03-07T07:30Z", "2026-03-08T07:30Z", "2026-03-09T06:30Z"]),
            (
                "Australia/Lord_Howe", "2026-10-02T00:00Z",
                ["2026-10-02T16:00Z", "2026-10-03T15:30Z", "2026-10-04T15:30Z"]
            ),
            ("Asia/Kathmandu", "2026-10-02T00:00Z", ["2026-10-02T20:45Z", "2026-10-03T20:45Z", "2026-10-04T20:45Z"]),
        ])
    func days(zone: String, start: String, expected: [String]) throws {
        #expect(try moments(9000, zone, from: start, count: 3) == expected.map(Zones.moment))
    }

    @Test("a skipped midnight comes on its own day")
    func midnight() throws {
        // Clocks in Cairo went from 00:00 to 01:00 on 2026-04-24.
        let found = try moments(0, "Africa/Cairo", from: "2026-04-22T23:00Z", count: 3)
        #expect(found == (try ["2026-04-23T22:00Z", "2026-04-24T21:00Z", "2026-04-25T21:00Z"].map(Zones.moment)))
    }

    @Test("a clock that nobody looked at, or that was set forward, makes it due once")
    func missed() throws {
        let clock = [
            "2026-05-01T00:00Z", "2026-05-09T12:00Z", "2026-05-09T13:00Z", "2026-05-10T02:29Z", "2026-05-10T02:30Z",
        ]
        #expect(try due(9000, "UTC", clock) == ["2026-05-09T12:00Z", "2026-05-10T02:30Z"])
    }

    @Test("a clock that was set back makes it not due again on that day, and earlier on a day before")
    func setBack() throws {
        let clock = [
            "2026-05-02T02:00Z", "2026-05-02T02:30Z", "2026-05-02T01:00Z", "2026-05-02T02:30Z", "2026-05-01T01:00Z",
            "2026-05-01T02:30Z", "2026-05-02T02:30Z",
        ]
        #expect(
            try due(9000, "UTC", clock) == ["2026-05-02T02:30Z", "2026-05-01T02:30Z", "2026-05-02T02:30Z"])
    }

    @Test("a clock at the ends of time does no harm", arguments: [Int64.min / 4, -1, 0, Int64.max / 4])
    func ends(now: Int64) throws {
        var schedule = DailySchedule(time: 9000, zone: .utc, now: now)
        #expect(schedule.next > now)
        let isDue = schedule.takeDue(now)
        #expect(!isDue)
    }
}
