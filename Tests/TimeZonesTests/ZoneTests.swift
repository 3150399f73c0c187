import Files
import Foundation
import PropertyList
import TestSupport
import Testing

@testable import TimeZones

/// Zones of the system's database.
enum Zones {
    static var database: ZoneDatabase { ZoneDatabase(variable: "UTC") }
    /// Zones with rules of all kinds: none, either hemisphere, half an hour, no whole hour, negative summer time, and changes of
    /// the rules and of the date line.
    static let names = [
        "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Europe/Dublin",
        "Africa/Casablanca",
        "America/Sao_Paulo", "Pacific/Apia", "America/Nuuk", "Asia/Tehran", "Antarctica/Troll", "Asia/Gaza",
        "Etc/GMT+5",
    ]

    static func moment(_ text: String) throws -> Int64 {
        let date = try #require(ISO8601.parse(text))
        return Int64(date.secondsSince1970)
    }

    /// A local time in seconds.
    static func local(_ text: String) throws -> Int64 { try moment(text) }
}

@Suite("Zone")
struct ZoneTests {
    @Test(
        "a local time is a moment: once, twice or never",
        arguments: [
            ("Europe/Berlin", "2026-07-01T08:00", "2026-07-01T06:00Z"),
            ("Europe/Berlin", "2026-01-01T08:00", "2026-01-01T07:00Z"),
            // Skipped: moved forward.
            ("Europe/Berlin", "2026-03-29T02:30", "2026-03-29T01:30Z"),
            ("America/New_York", "2026-03-08T02:00", "2026-03-08T07:00Z"),
            ("Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:45Z"),
            ("Pacific/Apia", "2011-12-30T12:00", "2011-12-30T22:00Z"),
            // Twice: the earlier one.
            ("Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30Z"),
            ("America/New_York", "2026-11-01T01:30", "2026-11-01T05:30Z"),
            ("Australia/Lord_Howe", "2026-04-05T01:45", "2026-04-04T14:45Z"),
            ("Asia/Kathmandu", "2026-06-01T00:00", "2026-05-31T18:15Z"),
            // Beyond the transitions of the file.
            ("Europe/Berlin", "2500-07-01T08:00", "2500-07-01T06:00Z"),
            ("Australia/Lord_Howe", "2400-01-01T11:00", "2400-01-01T00:00Z"),
        ])
    func moment(name: String, local: String, moment: String) throws {
        let zone = try Zones.database.zone(named: name)
        #expect(zone.moment(ofLocal: try Zones.local(local)) == (try Zones.moment(moment)))
    }

    @Test("an offset chooses the later of two")
    func preferred() throws {
        let zone = try Zones.database.zone(named: "Europe/Berlin")
        let local = try Zones.local("2026-10-25T02:30")
        #expect(zone.moment(ofLocal: local, preferred: 3600) == (try Zones.moment("2026-10-25T01:30Z")))
        #expect(zone.moment(ofLocal: local, preferred: 0) == (try Zones.moment("2026-10-25T00:30Z")))
    }

    @Test("the offsets are those of zdump", arguments: Zones.names)
    func judge(name: String) throws {
        let dump = try run("/usr/bin/zdump", ["-v", "-c", "1850,2200", name])
        #expect(dump.status == .exited(0))
        let zone = try Zones.database.zone(named: name)
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        var count = 0
        for line in dump.stdout.split(separator: "\n") {
            // Europe/Berlin  Sun Mar 29 00:59:59 2026 UT = Sun Mar 29 01:59:59 2026 CET isdst=0 gmtoff=3600
            let words = line.split(separator: " ")
            guard words.count == 16, let month = months.firstIndex(of: String(words[2])), let day = Int(words[3]),
                let year = Int(words[5])
            else { continue }
            let time = words[4].split(separator: ":").compactMap { Int($0) }
            let days = CalendarDate.daysSince1970(year: year, month: month + 1, day: day)
            let moment = Int64(days * 86400 + time[0] * 3600 + time[1] * 60 + time[2])
            let offset = zone.offset(at: moment)
            #expect("gmtoff=\(offset.seconds)" == words[15], "\(line)")
            #expect("isdst=\(offset.isDaylight ? 1 : 0)" == words[14], "\(line)")
            #expect(offset.abbreviation == words[13], "\(line)")
            count += 1
        }
        #expect(count > 0 || name.hasPrefix("Etc/"))
    }

    @Test("a moment's local time gives the moment back, or the earlier one", arguments: Zones.names)
    func roundTrip(name: String) throws {
        let zone = try Zones.database.zone(named: name)
        for moment in stride(from: Int64(-4_000_000_000), to: 8_000_000_000, by: 1_234_567) {
            let offset = Int64(zone.offset(at: moment).seconds)
            #expect(zone.moment(ofLocal: moment + offset, preferred: Int(offset)) == moment)
            #expect(zone.moment(ofLocal: moment + offset) <= moment)
        }
    }
}
