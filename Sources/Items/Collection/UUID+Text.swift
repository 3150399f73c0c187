import FoundationEssentials

extension UUID {
    /// Reads a UUID's text: `6F9619FF-8B86-4D01-B42D-00CF4FC964FF`. Foundation's own initializer uses `sscanf`, which
    /// takes longer than the rest of a small model.
    ///
    /// - Parameters:
    ///   - text: 36 characters.
    ///   - takesLowercase: whether lowercase letters are allowed.
    init?(text: String, takesLowercase: Bool) {
        var words: (high: UInt64, low: UInt64) = (0, 0)
        var position = 0
        for byte in text.utf8 {
            defer { position += 1 }
            if [8, 13, 18, 23].contains(position) {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            case UInt8(ascii: "a")...UInt8(ascii: "f") where takesLowercase: digit = byte - UInt8(ascii: "a") + 10
            default: return nil
            }
            if position < 19 {
                words.high = words.high << 4 | UInt64(digit)
            } else {
                words.low = words.low << 4 | UInt64(digit)
            }
        }
        guard position == 36 else { return nil }
        let (high, low) = (words.high.bigEndian, words.low.bigEndian)
        self.init(uuid: unsafeBitCast((high, low), to: uuid_t.self))
    }
}
