import Glibc

/// Random numbers from the kernel, fetched in blocks: keys are made in loops, where a system call for each would cost
/// more than the item.
package struct KeySource {
    private var words: [UInt64] = []

    mutating func next() -> UInt64 {
        if let word = words.popLast() { return word }
        // One call returns up to 256 bytes.
        var fresh = [UInt64](repeating: 0, count: 32)
        let failed = fresh.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { getentropy($0, bytes.count) } ?? -1
        }
        if failed != 0 {
            var generator = SystemRandomNumberGenerator()
            for index in fresh.indices { fresh[index] = generator.next() }
        }
        words = fresh
        return words.removeLast()
    }

    /// A new random UUID (version 4).
    package mutating func uuid() -> PackedKey {
        .uuid(high: next(), low: next(), version: 4)
    }

    /// A number below `bound`, sufficiently uniform for `randomItem`.
    package mutating func number(below bound: UInt64) -> Int {
        Int(next().multipliedFullWidth(by: bound).high)
    }
}
