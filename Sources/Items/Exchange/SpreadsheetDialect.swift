import PropertyList

/// How comma-separated values are written for a spreadsheet, which reads cells by its own rules and those of its locale.
///
/// A text that it would read as a number, a date, a truth value or a formula is written as a formula that gives the text:
/// `007` stays `007`, and an item's name is never computed.
package struct SpreadsheetDialect: Sendable, Hashable {
    /// The programs whose rules are known.
    package enum Program: String, Sendable, CaseIterable {
        /// Microsoft Excel; LibreOffice Calc reads the same file.
        case excel
    }

    /// The mark by which the program recognizes UTF-8.
    static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    /// The characters of a cell at most.
    static let cellLimit = 32_767
    /// The digits of a number at most.
    static let digitLimit = 15
    /// The bytes of a text that is written as a formula at most: a formula has 8,192 characters.
    private static let formulaLimit = 7_000
    /// The bytes of a text within a formula at most: it has 255 characters there.
    private static let pieceLimit = 240

    /// Separates cells.
    package let delimiter: UInt8
    /// Whether numbers have a decimal comma.
    package let usesDecimalComma: Bool

    /// Creates the dialect of a locale.
    ///
    /// - Parameters:
    ///   - locale: its POSIX name, such as `de_DE.UTF-8`; unknown ones are like `C`.
    ///   - delimiter: the separator of cells; nil for the locale's. With a semicolon numbers have a decimal comma, with a
    ///     comma a point, since readers of such files have them.
    package init(locale: String, delimiter: UInt8? = nil) {
        let name = locale.prefix { $0 != "." && $0 != "@" }.split(separator: "_")
        let (language, territory) = (name.first ?? "", name.count > 1 ? name[1] : "")
        let isSwiss = territory == "CH" || territory == "LI"
        let hasComma = !isSwiss && Self.hasDecimalComma(language, territory)
        let semicolon = UInt8(ascii: ";")
        self.delimiter = delimiter ?? (hasComma || isSwiss ? semicolon : UInt8(ascii: ","))
        switch delimiter {
        case semicolon?: usesDecimalComma = !isSwiss
        case UInt8(ascii: ",")?: usesDecimalComma = false
        default: usesDecimalComma = hasComma
        }
    }

    private static func hasDecimalComma(_ language: Substring, _ territory: Substring) -> Bool {
        switch language {
        case "en": territory == "ZA" || territory == "DK"
        case "es": !["419", "DO", "GT", "HN", "MX", "NI", "PA", "PR", "SV", "US"].contains(territory)
        default: commaLanguages.contains(language)
        }
    }

    private static let commaLanguages = Set<Substring>([
        "af", "az", "be", "bg", "bs", "ca", "cs", "da", "de", "el", "et", "eu", "fi", "fo", "fr", "gl", "hr", "hu",
        "hy", "id", "is", "it", "ka", "kk", "ky", "lb", "lt", "lv", "mk", "nb", "nl", "nn", "no", "pl", "pt", "ro",
        "ru", "sk", "sl", "sq", "sr", "sv", "tr", "tt", "uk", "uz", "vi",
    ])

    // MARK: Cells

    /// A day, `2024-01-31`, or a moment of UTC, `2024-01-31 10:00:00.250`, which spreadsheets of every locale read.
    ///
    /// - Returns: the cell, and whether digits below a millisecond were cut from it.
    func cell(_ date: PropertyListDate) -> (text: String, isCut: Bool) {
        let text = date.exchangeText
        if text.hasSuffix("T00:00:00Z") { return (String(text.dropLast(10)), false) }
        let parts = text.dropLast().split(separator: "T")
        guard text.hasSuffix("Z"), parts.count == 2 else { return (text, false) }
        let time = parts[1].split(separator: ".")
        guard time.count == 2 else { return ("\(parts[0]) \(parts[1])", false) }
        let digits = time[1].prefix(3)
        return ("\(parts[0]) \(time[0])\(usesDecimalComma ? "," : ".")\(digits)", digits.count < time[1].count)
    }

    /// A number that is finite.
    ///
    /// - Returns: the cell, and whether it has more digits than a spreadsheet reads.
    func cell(_ number: Double) -> (text: String, isRounded: Bool) {
        var bytes: [UInt8] = []
        number.appendShortest(to: &bytes)
        let mantissa = bytes.prefix { $0 | 0x20 != UInt8(ascii: "e") }.filter { 0x30...0x39 ~= $0 }
        let digits = mantissa.drop { $0 == 0x30 }.reversed().drop { $0 == 0x30 }
        if usesDecimalComma, let point = bytes.firstIndex(of: UInt8(ascii: ".")) { bytes[point] = UInt8(ascii: ",") }
        return (String(decoding: bytes, as: UTF8.self), digits.count > Self.digitLimit)
    }

    /// An amount of money with its decimals, `1234.50`; one with more digits than a spreadsheet reads is a text.
    func cell(amount: String) -> String {
        let text = usesDecimalComma ? amount.replacing(".", with: ",") : amount
        let digits = amount.utf8.count { 0x30...0x39 ~= $0 }
        return digits > Self.digitLimit ? Self.formula(Array(text.utf8)) : text
    }

    /// An integer; one with more digits than a spreadsheet reads is a text.
    func cell(integer digits: String) -> String {
        digits.utf8.count { $0 != UInt8(ascii: "-") } > Self.digitLimit ? Self.formula(Array(digits.utf8)) : digits
    }

    /// A text.
    ///
    /// - Returns: nil for one that would be computed, and is too long for a formula.
    func cell(_ text: UnsafeBufferPointer<UInt8>) -> String? {
        if Self.staysText(text) { return String(decoding: text, as: UTF8.self) }
        return text.count > Self.formulaLimit ? nil : Self.formula(Array(text))
    }

    /// A formula whose value is a text: `="007"`.
    private static func formula(_ text: [UInt8]) -> String {
        var result = "="
        var start = text.startIndex
        repeat {
            var end = min(start + pieceLimit, text.endIndex)
            // Not within a character.
            while end < text.endIndex, text[end] & 0xC0 == 0x80 { end -= 1 }
            let quote = UInt8(ascii: "\"")
            let doubled = text[start..<end].flatMap { $0 == quote ? [quote, quote] : [$0] }
            result += (start == text.startIndex ? "\"" : "&\"") + String(decoding: doubled, as: UTF8.self) + "\""
            start = end
        } while start < text.endIndex
        return result
    }

    // MARK: Texts that a spreadsheet reads otherwise

    /// Whether a spreadsheet reads a cell as this text. It says no in cases of doubt: a formula is never wrong.
    static func staysText(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let text = text[text.startIndex...].drop { $0 == UInt8(ascii: " ") }
        guard let first = text.first else { return true }
        switch first {
        case UInt8(ascii: "="), UInt8(ascii: "@"), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"):
            return false
        case UInt8(ascii: "+"), UInt8(ascii: "-"): return text.count == 1
        case UInt8(ascii: "#"): return !text.dropFirst().allSatisfy { isLetter($0) || "/!?0".utf8.contains($0) }
        default: return !mayBeNumber(text)
        }
    }

    /// Whether a text has nothing but what numbers, sums of money, days and times are written with, or is a truth value.
    private static func mayBeNumber(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var hasDigit = false
        var place = text.startIndex
        while place < text.endIndex {
            let byte = text[place]
            if 0x30...0x39 ~= byte { hasDigit = true }
            if let length = signLength(text[place...]) {
                place += length
                continue
            }
            guard isLetter(byte) else { return false }
            let end = text[place...].firstIndex { !isLetter($0) } ?? text.endIndex
            guard end - place <= 12 else { return false }
            let word = text[place..<end].map { $0 < 0x80 ? $0 | 0x20 : $0 }
            if place == text.startIndex, end == text.endIndex { return truths.contains(word) }
            let isKnown = currencies.contains(word) || months.contains(where: word.starts)
            guard isKnown || place > text.startIndex && suffixes.contains(word) else { return false }
            place = end
        }
        return hasDigit
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        byte >= 0x80 || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
    }

    /// The length of a digit, a sign or a currency at the start; nil for another character.
    private static func signLength(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        guard let first = text.first else { return nil }
        if 0x30...0x39 ~= first || " .,:/-+%()'$".utf8.contains(first) { return 1 }
        return signs.first { text.starts(with: $0) }?.count
    }

    /// Signs of currencies, and blanks, outside of ASCII.
    private static let signs = ["€", "£", "¥", "\u{A0}", "\u{202F}", "\u{2212}"].map { Array($0.utf8) }
    private static let currencies = Set(["eur", "usd", "chf", "gbp"].map { Array($0.utf8) })
    /// What is within a number or a time, or behind it.
    private static let suffixes = Set(["e", "a", "p", "am", "pm", "t", "z"].map { Array($0.utf8) })
    private static let truths = Set(
        [
            "true", "false", "wahr", "falsch", "vrai", "faux", "verdadero", "falso", "vero", "verdadeiro", "waar",
            "onwaar",
        ]
        .map { Array($0.utf8) })
    /// How months begin in the languages with the most readers.
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "mär", "mai", "okt", "dez",
        "fév", "avr", "jui", "aoû", "déc", "ene", "abr", "ago", "dic", "gen", "mag", "giu", "lug", "set", "ott", "mrt",
        "mei", "maa", "fev", "out",
    ].map { Array($0.utf8) }
}
