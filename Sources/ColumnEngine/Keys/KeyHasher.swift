import Files

/// Hashes of keys, with a seed per process: no file can be crafted to have all its keys collide.
package struct KeyHasher {
    package let seed: UInt64

    /// The hasher of a table that was made with a seed.
    package init(seed: UInt64) {
        self.seed = seed
    }

    package init() {
        var generator = SystemRandomNumberGenerator()
        seed = generator.next() | 1
    }

    @inline(__always)
    package func hash(_ key: PackedKey) -> UInt64 {
        let product = (key.high ^ seed).multipliedFullWidth(by: key.low ^ 0x9E37_79B9_7F4A_7C15)
        return (product.high ^ product.low) &* 0x9FB2_1C65_1E98_DF25
    }

    package func hash(text: UnsafeBufferPointer<UInt8>) -> UInt64 {
        Checksum.hash(UnsafeRawBufferPointer(text), seed: seed)
    }
}
