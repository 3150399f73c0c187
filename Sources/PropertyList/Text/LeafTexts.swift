/// Base64 (RFC 4648, section 4) as property lists use it.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Bytes as a text.
    package static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        bytes.withUnsafeBytes { encode($0, into: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    package static func encode(_ bytes: UnsafeRawBufferPointer, into out: inout [UInt8]) {
        var index = 0
        while index < bytes.count {
            let left = bytes.count - index
            let b0 = bytes[index]
            let b1 = left > 1 ? bytes[index + 1] : 0
            let b2 = left > 2 ? bytes[index + 2] : 0
            out.append(alphabet[Int(b0 >> 2)])
            out.append(alphabet[Int((b0 & 3) << 4 | b1 >> 4)])
            out.append(left > 1 ? alphabet[Int((b1 & 15) << 2 | b2 >> 6)] : UInt8(ascii: "="))
            out.append(left > 2 ? alphabet[Int(b2 & 63)] : UInt8(ascii: "="))
            index += 3
        }
    }

    /// Decodes text, skipping characters outside the alphabet; `=` ends a group of four.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8] {
        var out: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for byte in text {
            // The remaining bits of a padded group are spare.
            if byte == UInt8(ascii: "=") { (bits, count) = (0, 0) }
            guard let digit = digit(byte) else { continue }
            bits = bits << 6 | UInt32(digit)
            count += 6
            if count >= 8 {
                count -= 8
                out.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return out
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }

    /// Whether a text is Base64 alone: groups of four digits, the last one padded if need be, and white space. The spare
    /// bits of a padded group are 0.
    package static func isValid(_ text: some Sequence<UInt8>) -> Bool {
        var digits = 0
        var padding = 0
        var last: UInt8 = 0
        for byte in text {
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: continue
            case UInt8(ascii: "="): padding += 1
            default:
                guard let digit = digit(byte), padding == 0 else { return false }
                last = digit
                digits += 1
            }
        }
        return padding <= 2 && (digits + padding) % 4 == 0 && last & (1 << UInt8(padding * 2) - 1) == 0
    }
}

/// The texts of numbers in XML property lists.
enum XMLNumber {
    static func trimmed(_ text: String) -> Substring {
        var rest = text[...]
        while let first = rest.unicodeScalars.first, isSpace(first) { rest.unicodeScalars.removeFirst() }
        while let last = rest.unicodeScalars.last, isSpace(last) { rest.unicodeScalars.removeLast() }
        return rest
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar == "\t" || scalar == "\n" || scalar == "\r"
    }

    /// An integer: an optional sign, then decimal digits, or `0x` and hexadecimal ones; from -2^63 to 2^64-1.
    static func integer(_ text: String) -> Int128? {
        var digits = trimmed(text)
        var isNegative = false
        if digits.hasPrefix("-") || digits.hasPrefix("+") { isNegative = digits.removeFirst() == "-" }
        var radix = 10
        if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
            digits = digits.dropFirst(2)
            radix = 16
        }
        // The standard parser would accept a second sign.
        guard let first = digits.utf8.first, first != 0x2B, first != 0x2D, digits.utf8.count <= 4096,
            let magnitude = UInt64(digits, radix: radix)
        else { return nil }
        let value = isNegative ? -Int128(magnitude) : Int128(magnitude)
        return value >= Int128(Int64.min) ? value : nil
    }

    /// A real: decimal, with or without an exponent, or a name of infinity or not-a-number in any case. A number beyond the
    /// reals is not one: infinity has its name.
    static func real(_ text: String) -> Double? {
        let digits = trimmed(text)
        guard !digits.isEmpty, digits.utf8.count <= 4096 else { return nil }
        switch digits.lowercased() {
        case "nan", "+nan", "-nan": return .nan
        case "inf", "infinity", "+inf", "+infinity": return .infinity
        case "-inf", "-infinity": return -.infinity
        default: break
        }
        return Double(decimal: digits)
    }
}

/// The text form of a date in XML: `YYYY-MM-DDThh:mm:ssZ`, in UTC, whole seconds. A year has four digits or more, and may be
/// negative.
enum PropertyListDateText {
    /// The date of a text, and whether a calendar has it; nil when it has another form. As in Apple's reader the 31st of
    /// April is the 1st of May.
    static func parse(_ text: some Sequence<UInt8>) -> (date: PropertyListDate, isOfCalendar: Bool)? {
        var fields: [Int64] = []
        var separators: [UInt8] = []
        var current: Int64?
        var isNegative = false
        for byte in text {
            if (0x30...0x39).contains(byte) {
                guard (current ?? 0) < 100_000 else { return nil }
                current = (current ?? 0) * 10 + Int64(byte - 0x30)
            } else if byte == UInt8(ascii: "-"), current == nil, fields.isEmpty, !isNegative {
                isNegative = true
            } else {
                guard let value = current else { return nil }
                fields.append(value)
                separators.append(byte)
                current = nil
            }
        }
        guard fields.count == 6, current == nil, separators.elementsEqual("--T::Z".utf8) else { return nil }
        let (year, month) = (isNegative ? -fields[0] : fields[0], fields[1])
        let days = daysSince1970(year: year, month: month, day: fields[2])
        let seconds = (days - 11323) * 86400 + fields[3] * 3600 + fields[4] * 60 + fields[5]
        let ofMonth =
            daysSince1970(year: year, month: month, day: 1)..<daysSince1970(year: year, month: month + 1, day: 1)
        let isOfCalendar =
            1...12 ~= month && ofMonth.contains(days) && fields[3] < 24 && fields[4] < 60 && fields[5] < 60
        return (PropertyListDate(secondsSinceReferenceDate: Double(seconds)), isOfCalendar)
    }

    /// Days since 1970; months beyond 12 continue in the next years.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let months = year * 12 + (month - 1)
        let whole = months >= 0 ? months / 12 : -((11 - months) / 12)
        return Int64(
            CalendarDate.daysSince1970(year: Int(whole), month: Int(months - whole * 12) + 1, day: Int(day)))
    }
}

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
