import Files
import PropertyList
import Testing

@testable import TimeZones

@Suite("ZoneFileReader")
struct ZoneFileReaderTests {
    static let bytes = (try? PosixFileLayer().contents(of: "/usr/share/zoneinfo/Europe/Berlin")) ?? []

    @Test("a file that is cut off anywhere is none")
    func cut() {
        #expect(ZoneFileReader.zone(named: "x", Self.bytes) != nil)
        for count in 0..<Self.bytes.count - 1 {
            #expect(ZoneFileReader.zone(named: "x", Array(Self.bytes[..<count])) == nil, "\(count)")
        }
    }

    @Test("a file with any byte changed is read or refused, and answers")
    func changed() {
        for place in Self.bytes.indices {
            for value: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
                var bytes = Self.bytes
                bytes[place] = value
                guard let zone = ZoneFileReader.zone(named: "x", bytes) else { continue }
                for moment: Int64 in [.min, -5_000_000_000, 0, 1_774_746_000, 10_000_000_000, .max] {
                    #expect(abs(zone.offset(at: moment).seconds) < 100_000)
                    _ = zone.moment(ofLocal: moment)
                }
            }
        }
    }

    @Test(
        "what is not a zone",
        arguments: ["zone.tab", "tzdata.zi", "leapseconds", "right/Europe/Berlin"])
    func refuse(name: String) throws {
        let bytes = (try? PosixFileLayer().contents(of: "/usr/share/zoneinfo/\(name)")) ?? []
        #expect(ZoneFileReader.zone(named: "x", bytes) == nil)
    }
}
