import Files
import Foundation
import PropertyList
import TestSupport
import Testing

@testable import TimeZones

@Suite("ZoneDatabase")
struct ZoneDatabaseTests {
    @Test(
        "names",
        arguments: [
            ("UTC", 0), ("Z", 0), ("+02:00", 7200), ("-0330", -12600), ("+5", 18000), ("Asia/Kathmandu", 20700),
        ])
    func names(name: String, seconds: Int) throws {
        #expect(try Zones.database.zone(named: name).offset(at: 1_774_746_000).seconds == seconds)
    }

    @Test(
        "what is not a name",
        arguments: [
            "", "/etc/localtime", "../zoneinfo/UTC", "Europe/../Europe/Berlin", "Europe//Berlin", "Europe", "zone.tab",
            "Europe/Berlin\0", "Europe/Berlin ", "+24:00", "+1:30", "+01:60", "+-1", "CEST", "+١",
            String(repeating: "a", count: 10_000), "a/b/c/d/e",
        ])
    func refuse(name: String) {
        #expect(throws: ZoneError.self) { try Zones.database.zone(named: name) }
    }

    @Test("an error has the nearest name, or says what is missing")
    func errors() {
        #expect(throws: ZoneError(description: "there is no time zone 'Europe/Berln'; did you mean 'Europe/Berlin'?")) {
            try Zones.database.zone(named: "Europe/Berln")
        }
        for (city, zone) in [("Berlin", "Europe/Berlin"), ("new york", "America/New_York")] {
            #expect(throws: ZoneError(description: "there is no time zone '\(city)'; did you mean '\(zone)'?")) {
                try Zones.database.zone(named: city)
            }
        }
        #expect(
            throws: ZoneError(description: "there is no time zone 'CEST' (names are as Europe/Berlin, UTC or +02:00)")
        ) { try Zone.named("CEST") }
        do {
            _ = try ZoneDatabase(variable: nil, folder: "/nowhere").zone(named: "Europe/Berlin")
            Issue.record("a zone without a database")
        } catch {
            #expect("\(error)".contains("tzdata"))
        }
    }

    @Test(
        "the user's zone is TZ's",
        arguments: [
            ("Europe/Berlin", 3600), (":Europe/Berlin", 3600), ("/usr/share/zoneinfo/Asia/Kathmandu", 20700), ("", 0),
            ("CET-1CEST,M3.5.0,M10.5.0/3", 3600), ("nonsense", 0), ("local", 0),
        ])
    func variable(text: String, seconds: Int) {
        #expect(ZoneDatabase(variable: text).local.offset(at: 1_768_000_000).seconds == seconds)
    }

    @Test("the user's zone is the system's, also after it was set anew")
    func system() throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("localtime")
        let database = ZoneDatabase(variable: nil, localFile: file)
        #expect(database.local.name == "UTC")
        for (name, seconds) in [("Europe/Berlin", 3600), ("Asia/Kathmandu", 20700)] {
            try? FileManager.default.removeItem(atPath: file)
            try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "/usr/share/zoneinfo/\(name)")
            #expect(database.local.name == name)
            #expect(try database.zone(named: "local").offset(at: 1_768_000_000).seconds == seconds)
        }
    }
}
