import Files
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("The index of keys") struct HashIndexTests {
    /// What a row's key would hash to: few homes, so that runs are long.
    private static func hash(_ row: UInt32) -> UInt64 {
        let mixed = UInt64(row) &* 0x9E37_79B9_7F4A_7C15
        return (mixed >> 40) << 32 | (UInt64(row) % 37) << 20
    }

    @Test("agrees with a set as rows come and go", arguments: [400, 70_000, 50_000_000] as [UInt32])
    func agreesWithASet(highest: UInt32) {
        var generator = MINSTD(seed: highest)
        var index = HashIndex()
        var rows: Set<UInt32> = []
        for step in 0..<6000 {
            let row = generator.next(below: step < 3000 ? min(highest, 400) : highest)
            if rows.remove(row) != nil {
                index.remove(row, hash: Self.hash(row), rehash: Self.hash)
            } else {
                rows.insert(row)
                index.insert(row, hash: Self.hash(row), rehash: Self.hash)
            }
            if rows.count > 300, let any = rows.first {
                rows.remove(any)
                index.remove(any, hash: Self.hash(any), rehash: Self.hash)
            }
            #expect(index.count == rows.count)
            guard step % 200 == 0 else { continue }
            for row in rows { #expect(index.find(Self.hash(row)) { $0 == row } == row) }
            for row in 0..<400 as Range<UInt32> where !rows.contains(row) {
                #expect(index.find(Self.hash(row)) { $0 == row } == nil)
            }
        }
    }

    /// So many that the slots lie on large pages, after tables that did not; a copy of a table is one, too.
    @Test func aLargeIndexFindsEveryRow() {
        var index = HashIndex()
        func hash(_ row: UInt32) -> UInt64 { UInt64(row) &* 0x9E37_79B9_7F4A_7C15 }
        let count: UInt32 = 900_000
        for row in 0..<count { index.insert(row, hash: hash(row), rehash: hash) }
        for row in stride(from: 0, to: count, by: 3) { index.remove(row, hash: hash(row), rehash: hash) }
        var isRight = true
        for row in 0..<count where index.find(hash(row), where: { $0 == row }) != (row % 3 == 0 ? nil : row) {
            isRight = false
        }
        #expect(isRight && index.count == 600_000)
    }

    @Test func keysOfOtherRowsAreSeldomLookedAt() {
        var index = HashIndex()
        for row in 0..<10_000 as Range<UInt32> {
            index.insert(row, hash: Checksum.hash([UInt8](String(row).utf8))) {
                Checksum.hash([UInt8](String($0).utf8))
            }
        }
        var looks = 0
        for row in 0..<10_000 as Range<UInt32> {
            let found = index.find(Checksum.hash([UInt8](String(row).utf8))) {
                looks += 1
                return $0 == row
            }
            #expect(found == row)
        }
        #expect(looks < 10_100)
    }
}

private struct MINSTD {
    private var state: UInt64
    init(seed: UInt32) { state = UInt64(seed) % 2_147_483_646 + 1 }
    mutating func next(below bound: UInt32) -> UInt32 {
        state = state * 48271 % 2_147_483_647
        let high = state
        state = state * 48271 % 2_147_483_647
        return UInt32((high << 31 | state) % UInt64(bound))
    }
}
