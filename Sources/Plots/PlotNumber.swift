import Platform

/// A decimal number of a scale: `digits × 10^exponent`, exactly.
struct PlotNumber: Hashable {
    let digits: Int64
    let exponent: Int

    var value: Double {
        // A power of ten below 10^22 is exact, so the result is the nearest number.
        if exponent >= 0 {
            return exponent <= 22 ? Double(digits) * Self.power(exponent) : Self.parsed(digits, exponent)
        }
        return exponent >= -22 ? Double(digits) / Self.power(-exponent) : Self.parsed(digits, exponent)
    }

    static func power(_ exponent: Int) -> Double { (0..<exponent).reduce(1.0) { value, _ in value * 10 } }

    private static func parsed(_ digits: Int64, _ exponent: Int) -> Double { Double("\(digits)e\(exponent)") ?? 0 }

    /// The number with commas between its thousands, and with so many decimals as its exponent has; with an exponent of
    /// its own where it would have more than 15 places.
    var text: String {
        if digits == 0 { return exponent < 0 && exponent >= -6 ? Self.fixed(0, -exponent) : "0" }
        let places = String(digits.magnitude).utf8.count + exponent
        if places > 15 || exponent < -9 { return Self.scientific(digits, exponent) }
        if exponent >= 0 { return Int(clamping: digits * Int64(Self.power(exponent))).grouped }
        return Self.fixed(digits, -exponent)
    }

    private static func fixed(_ digits: Int64, _ decimals: Int) -> String {
        var text = String(digits.magnitude)
        text = String(repeating: "0", count: max(0, decimals + 1 - text.utf8.count)) + text
        let whole = Int(text.dropLast(decimals)) ?? 0
        return (digits < 0 ? "-" : "") + whole.grouped + "." + text.suffix(decimals)
    }

    private static func scientific(_ digits: Int64, _ exponent: Int) -> String {
        var text = Substring(String(digits.magnitude))
        var exponent = exponent
        while text.utf8.count > 1, text.last == "0" {
            text = text.dropLast()
            exponent += 1
        }
        exponent += text.utf8.count - 1
        let fraction = text.dropFirst()
        return (digits < 0 ? "-" : "") + text.prefix(1) + (fraction.isEmpty ? "" : ".") + fraction + "e\(exponent)"
    }

    /// The text of any number: exactly for a whole one and for amounts, else in up to four places.
    static func label(_ number: Double, _ unit: PlotUnit) -> String {
        guard number.isFinite else { return "\(number)" }
        switch unit {
        case .money, .dollars:
            guard abs(number) < 1e13 else { break }
            let cents = Int64((number * 100).rounded())
            return PlotNumber(digits: cents, exponent: -2).label(unit)
        default: break
        }
        if abs(number) < 1e15, let whole = Int64(exactly: number) { return PlotNumber(digits: whole, exponent: 0).text }
        // Four places, without zeros at the end.
        let size = Int(log10(abs(number)).rounded(.down))
        var exponent = size - 3
        var digits = Int64((PlotNumber.scaled(number, by: -exponent)).rounded())
        while exponent < 0, digits != 0, digits.isMultiple(of: 10) { (digits, exponent) = (digits / 10, exponent + 1) }
        return PlotNumber(digits: digits, exponent: exponent).text
    }

    /// A number times a power of ten, without an overflow on the way.
    static func scaled(_ number: Double, by exponent: Int) -> Double {
        var (number, rest) = (number, exponent)
        while rest != 0 {
            let step = min(max(rest, -200), 200)
            number = step > 0 ? number * power(step) : number / power(-step)
            rest -= step
        }
        return number
    }

    /// The text of a number on an axis.
    func label(_ unit: PlotUnit) -> String {
        switch unit {
        case .number, .date, .category: return text
        case .money:
            return exponent >= -2 ? hundredths?.text ?? text : text
        case .dollars:
            let amount = exponent < 0 && exponent >= -2 ? hundredths ?? self : self
            // Whole dollars have no cents.
            let isWhole = amount.exponent == -2 && amount.digits.isMultiple(of: 100)
            let text = isWhole ? PlotNumber(digits: amount.digits / 100, exponent: 0).text : amount.text
            return text.hasPrefix("-") ? "-$" + text.dropFirst() : "$" + text
        }
    }

    /// The number in hundredths; nil if there are too many.
    private var hundredths: PlotNumber? {
        guard exponent >= -2, exponent < 12 else { return nil }
        let (digits, isTooLarge) = digits.multipliedReportingOverflow(by: Int64(Self.power(exponent + 2)))
        return isTooLarge || digits.magnitude > 1_000_000_000_000_000 ? nil : PlotNumber(digits: digits, exponent: -2)
    }
}
