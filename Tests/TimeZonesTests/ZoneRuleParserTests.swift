import PropertyList
import Testing

@testable import TimeZones

@Suite("ZoneRuleParser")
struct ZoneRuleParserTests {
    @Test(
        "rules, at a moment of winter and one of summer 2026",
        arguments: [
            ("UTC0", "UTC 0", "UTC 0"), ("CET-1CEST,M3.5.0,M10.5.0/3", "CET 3600", "CEST 7200"),
            ("EST5EDT", "EST -18000", "EDT -14400"),
            ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "+11 39600", "+1030 37800"),
            ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "-02 -7200", "-01 -3600"),
            ("XXX3EDT4,0/0,J365/23", "EDT -14400", "EDT -14400"),
            ("IST-1GMT0,M10.5.0,M3.5.0/1", "GMT 0", "IST 3600"), ("AAA0BBB,J60/0,J300/0", "AAA 0", "BBB 3600"),
            ("AAA0BBB,59/0,300/0", "AAA 0", "BBB 3600"),
        ])
    func rules(text: String, winter: String, summer: String) throws {
        let rule = try #require(ZoneRuleParser.parse(text))
        for (moment, expected) in [("2026-01-10T00:00Z", winter), ("2026-07-10T00:00Z", summer)] {
            let offset = rule.offset(at: try Zones.moment(moment))
            #expect("\(offset.abbreviation) \(offset.seconds)" == expected)
        }
    }

    @Test(
        "what is none",
        arguments: [
            "", "CET", "C-1", "CET-25", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0",
            "CET-1CEST,J0,J5", "CET-1CEST,366,5", "CET-1CEST,M3.5.0/168,M10.5.0", "<CET-1", "<+1>-1", "CET-1:60",
            "CET-1 ",
            "CET-99999999999999999999", "CET-1CEST,M3.5.0,M10.5.0,", "-1CET", "CET--1",
        ])
    func refuse(text: String) {
        #expect(ZoneRuleParser.parse(text) == nil)
    }
}
