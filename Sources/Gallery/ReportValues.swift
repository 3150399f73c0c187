import PropertyList

/// The texts of values for people, on paper.
enum ReportText {
    /// A value's text; empty for no value and for an empty text.
    static func of(_ value: PropertyListValue?) -> String {
        switch value {
        case nil, .null?, .uid?: ""
        case .string(let text)?: text
        case .utf16?: value?.text ?? ""
        case .boolean(let flag)?: flag ? "yes" : "no"
        case .integer(let number)?: String(number)
        case .wideInteger(let number)?: String(number)
        case .real(let number)?: real(number)
        case .single(let number)?: real(Double(number))
        case .date(let date)?: day(date)
        case .data(let bytes)?: bytes.count.counted("byte")
        case .array(let elements)?, .set(let elements)?: elements.map { of($0) }.joined(separator: ", ")
        case .dictionary(let entries)?:
            entries.sortedEntries.map { "\($0.key.keyText): \(of($0.value))" }.joined(separator: ", ")
        }
    }

    private static func real(_ number: Double) -> String {
        Int64(exactly: number).map { String($0) } ?? "\(number)"
    }

    /// The day, and the time of UTC if it is not midnight; what is left out of the time is marked.
    private static func day(_ date: PropertyListDate) -> String {
        let text = date.exchangeText
        if text.hasSuffix("T00:00:00Z") { return String(text.dropLast(10)) }
        let parts = text.split(separator: "T")
        guard parts.count == 2, text.hasSuffix("Z") else { return text }
        let isWhole = parts[1].dropFirst(5) == ":00Z"
        return "\(parts[0]) \(parts[1].prefix(5))\(isWhole ? "" : "…")"
    }
}

/// A sum of values, exact while they are whole numbers or have at most two decimals.
struct ReportSum {
    /// The number of values in the sum.
    private(set) var count = 0
    /// Values that are not numbers.
    private(set) var misfits = 0
    private var hundredths: Int128? = 0
    private var real = 0.0
    private var hasDecimals = false

    mutating func add(_ value: PropertyListValue?) {
        switch value {
        case nil, .null?: return
        case .integer(let number)?: add(whole: Int128(number))
        case .wideInteger(let number)?: add(whole: number)
        case .real(let number)? where number.isFinite: add(number)
        case .single(let number)? where number.isFinite: add(Double(number))
        default:
            misfits += 1
            return
        }
        count += 1
    }

    private mutating func add(whole number: Int128) {
        real += Double(number)
        let (product, isTooLarge) = number.multipliedReportingOverflow(by: 100)
        add(hundredths: isTooLarge ? nil : product)
    }

    private mutating func add(_ number: Double) {
        real += number
        let scaled = (number * 100).rounded()
        // Beyond, a real has no hundredths.
        let isExact = abs(scaled) < 0x1p53 && scaled / 100 == number
        if Int64(exactly: number) == nil { hasDecimals = true }
        add(hundredths: isExact ? Int128(scaled) : nil)
    }

    private mutating func add(hundredths number: Int128?) {
        guard let number, let present = hundredths else {
            hundredths = nil
            return
        }
        let (sum, isTooLarge) = present.addingReportingOverflow(number)
        hundredths = isTooLarge ? nil : sum
    }

    /// The sum, grouped by thousands, with two decimals if a value has decimals.
    ///
    /// - Parameters:
    ///   - currency: what is before it.
    ///   - hasDecimals: whether it has decimals in any case, like those beside it.
    /// - Returns: the text.
    func text(_ currency: String, hasDecimals: Bool = false) -> String {
        guard let hundredths else { return (real < 0 ? "−" : "") + currency + "\(abs(real))" }
        let digits = String(hundredths.magnitude)
        let padded = String(repeating: "0", count: max(0, 3 - digits.utf8.count)) + digits
        let decimals = self.hasDecimals || hasDecimals ? "." + padded.suffix(2) : ""
        return (hundredths < 0 ? "−" : "") + currency + Self.grouped(padded.dropLast(2)) + decimals
    }

    /// Whether the sum has decimals.
    var isDecimal: Bool { hasDecimals }

    private static func grouped(_ digits: Substring) -> String {
        var result = ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.utf8.count - place).isMultiple(of: 3) { result.append(",") }
            result.append(digit)
        }
        return result
    }
}
