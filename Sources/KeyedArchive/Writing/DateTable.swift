/// The UIDs of the dates already archived, by their bits. A table of its own, because every record has a date.
struct DateTable {
    private static let seed = UInt64.random(in: .min ... .max)

    private var keys: [UInt64] = Array(repeating: 0, count: 64)
    /// 0 for a free slot.
    private var uids: [UInt32] = Array(repeating: 0, count: 64)
    private var used = 0

    /// The UID of the date with these bits, or nil.
    @inline(__always)
    func find(_ bits: UInt64) -> UInt32? {
        let index = slot(bits)
        return uids[index] == 0 ? nil : uids[index]
    }

    /// Notes a date that `find` did not have.
    mutating func insert(_ bits: UInt64, uid: UInt32) {
        if used * 2 >= keys.count { grow() }
        let index = slot(bits)
        keys[index] = bits
        uids[index] = uid
        used += 1
    }

    @inline(__always)
    private func slot(_ bits: UInt64) -> Int {
        let mask = keys.count - 1
        let product = (bits ^ Self.seed).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        var index = Int(truncatingIfNeeded: product.high ^ product.low) & mask
        while uids[index] != 0, keys[index] != bits { index = (index &+ 1) & mask }
        return index
    }

    private mutating func grow() {
        let (oldKeys, oldUIDs) = (keys, uids)
        keys = Array(repeating: 0, count: oldKeys.count * 4)
        uids = Array(repeating: 0, count: oldKeys.count * 4)
        for index in oldKeys.indices where oldUIDs[index] != 0 {
            let place = slot(oldKeys[index])
            keys[place] = oldKeys[index]
            uids[place] = oldUIDs[index]
        }
    }
}
