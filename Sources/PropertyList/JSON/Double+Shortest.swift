extension Double {
    /// Appends the text of `description`.
    ///
    /// Whole thousandths of up to fifteen digits, the most common numbers of collections, are converted here in a third
    /// of the time. A decimal of fifteen digits identifies its real, so that without trailing zeros it is the shortest.
    package func appendShortest(to bytes: inout [UInt8]) {
        let scaled = (self * 1000).rounded()
        guard abs(scaled) < 1e12, scaled / 1000 == self, self != 0 else {
            return bytes.append(contentsOf: description.utf8)
        }
        let thousandths = Int(abs(scaled))
        // Smaller numbers are written with an exponent.
        guard thousandths >= 1 else { return bytes.append(contentsOf: description.utf8) }
        if self < 0 { bytes.append(UInt8(ascii: "-")) }
        Self.append(thousandths / 1000, to: &bytes)
        bytes.append(UInt8(ascii: "."))
        let fraction = thousandths % 1000
        bytes.append(UInt8(0x30 + fraction / 100))
        if fraction % 100 > 0 { bytes.append(UInt8(0x30 + fraction / 10 % 10)) }
        if fraction % 10 > 0 { bytes.append(UInt8(0x30 + fraction % 10)) }
    }

    private static func append(_ number: Int, to bytes: inout [UInt8]) {
        var power = 1
        while power <= number / 10 { power *= 10 }
        while power > 0 {
            bytes.append(UInt8(0x30 + number / power % 10))
            power /= 10
        }
    }
}
