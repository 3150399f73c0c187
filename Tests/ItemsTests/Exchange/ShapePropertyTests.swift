import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items

/// Tables in random shapes, as people's programs write them: each value comes back equal, or as the text that it is, or the
/// file is refused with the option to give.
@Suite("Tables in all shapes")
struct ShapePropertyTests {
    /// How a table is written.
    private struct Shape: CustomStringConvertible {
        var delimiter: Character
        var quotesAll: Bool
        var encoding: Int
        var isComma: Bool
        var decimals: Int
        var isGrouped: Bool
        var sign: String
        var pattern: Int
        var titles: Int
        var lineEnd: String
        var namesSeparator: Bool

        init(_ random: inout TestGenerator) {
            delimiter = [",", ";", "\t", "|"][random.number(4)]
            quotesAll = random.number(3) == 0
            encoding = random.number(6)
            isComma = random.number(2) == 0
            decimals = 1 + random.number(3)
            isGrouped = random.number(2) == 0
            sign = ["", "", "€", "$"][random.number(4)]
            pattern = random.number(5)
            titles = random.number(3) == 0 ? 1 + random.number(3) : 0
            lineEnd = ["\n", "\r\n"][random.number(2)]
            namesSeparator = random.number(12) == 0
        }

        var description: String {
            "\(delimiter.debugDescription) quotes \(quotesAll) encoding \(encoding) comma \(isComma) decimals \(decimals) grouped \(isGrouped) \(sign) pattern \(pattern) titles \(titles)"
        }

        /// A number with so many decimals, given in units of the last one.
        func text(_ units: Int) -> String {
            var scale = 1
            for _ in 0..<decimals { scale *= 10 }
            let (whole, rest) = (units.magnitude / UInt(scale), units.magnitude % UInt(scale))
            var digits = "\(whole)"
            if isGrouped, digits.count > 3 {
                var groups: [Substring] = []
                var head = digits[...]
                while head.count > 3 {
                    groups.insert(head.suffix(3), at: 0)
                    head = head.dropLast(3)
                }
                digits = ([head] + groups).joined(separator: isComma ? "." : ",")
            }
            let fraction = String(repeating: "0", count: decimals - "\(rest)".count) + "\(rest)"
            let number = (units < 0 ? "-" : "") + digits + (isComma ? "," : ".") + fraction
            return sign.isEmpty
                ? number : sign == "$" ? (units < 0 ? "-$" + number.dropFirst() : "$" + number) : number + " " + sign
        }

        func value(_ units: Int) -> Double {
            var scale = 1.0
            for _ in 0..<decimals { scale *= 10 }
            return Double(units) / scale
        }

        func text(year: Int, month: Int, day: Int) -> String {
            func two(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
            return switch pattern {
            case 0: "\(two(day)).\(two(month)).\(year)"
            case 1: "\(two(month))/\(two(day))/\(year)"
            case 2: "\(day)/\(month)/\(year)"
            case 3: "\(year)/\(two(month))/\(two(day))"
            default: "\(year)-\(two(month))-\(two(day))"
            }
        }

        func line(_ cells: [String]) -> String {
            cells.map { cell in
                let needsQuotes = cell.contains { $0 == delimiter || $0 == "\"" || $0.isNewline }
                return quotesAll || needsQuotes ? "\"" + cell.replacing("\"", with: "\"\"") + "\"" : cell
            }.joined(separator: String(delimiter)) + lineEnd
        }

        /// The bytes of a text; nil for one that the encoding does not have.
        func bytes(_ text: String) -> [UInt8]? {
            func units(_ isBig: Bool) -> [UInt8] {
                text.utf16.flatMap { isBig ? [UInt8($0 >> 8), UInt8($0 & 0xFF)] : [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
            }
            switch encoding {
            case 0: return Array(text.utf8)
            case 1: return [0xEF, 0xBB, 0xBF] + Array(text.utf8)
            case 2: return units(false)
            case 3: return [0xFE, 0xFF] + units(true)
            case 4: return [0xFF, 0xFE] + units(false)
            default:
                let bytes = text.unicodeScalars.map { TextDecoding.byte(windows1252: $0) }
                return bytes.contains(nil) ? nil : bytes.compactMap(\.self)
            }
        }
    }

    private static let words = [
        "Lamp", "Bär", "Küchenstuhl, rot", "Rug \"old\"", "Tea; cup", "Böden", "a|b", "Two\nlines", "Café",
    ]

    @Test("come back equal") func tables() throws {
        var random = TestGenerator(seed: 41)
        var (asTexts, refused, equal) = (0, 0, 0)
        for _ in 0..<400 {
            let shape = Shape(&random)
            let count = 2 + random.number(8)
            var rows: [[String]] = []
            var values: [(units: Int?, day: (Int, Int, Int), whole: Int)] = []
            for row in 0..<count {
                let units = random.number(6) == 0 ? nil : random.number(40_000_000) - 5_000_000
                // One day is beyond the months, so that one order fits.
                let day = (
                    1950 + random.number(90), 1 + random.number(12),
                    row == 0 ? 13 + random.number(15) : 1 + random.number(28)
                )
                let whole = random.number(1_000_000)
                values.append((units, day, whole))
                rows.append([
                    "\(Self.words[random.number(Self.words.count)]) \(row)", units.map(shape.text) ?? "", "\(whole)",
                    shape.text(year: day.0, month: day.1, day: day.2), "00\(whole)",
                ])
            }
            var text = shape.namesSeparator ? "sep=\(shape.delimiter)\(shape.lineEnd)" : ""
            if !shape.namesSeparator {
                for title in 0..<shape.titles {
                    text += title == 0 ? "Inventory of May" + shape.lineEnd : "Page \(title)" + shape.lineEnd
                }
            }
            text += shape.line(["name", "price", "count", "day", "code"]) + rows.map(shape.line).joined()
            guard let bytes = shape.bytes(text) else { continue }
            let store = ItemStore()
            let report: ItemImportReport
            do { report = try store.importReport(bytes, path: "f", ItemFileOptions(format: .csv)) } catch let error
                as StoreError
            {
                refused += 1
                #expect(error.message.contains(" = "), "\(shape): \(error.message)")
                continue
            }
            #expect(report.created == count && report.rejected == 0, "\(shape): \(report)")
            guard report.created == count else { continue }
            for (index, item) in store.allItems.enumerated() {
                let (units, day, whole) = values[index]
                let read = try ["name", "price", "count", "day", "code"].map { try item.value(forField: $0) }
                #expect(read[0] == .string(rows[index][0]), "\(shape)")
                let price = units.map { shape.value($0) }
                if price != nil, read[1] == .string(rows[index][1]) {
                    asTexts += 1
                } else {
                    #expect(read[1] == price.map { .real($0) }, "\(shape): \(rows[index][1])")
                    equal += 1
                }
                #expect(read[2] == .integer(Int64(whole)), "\(shape)")
                let iso = "\(day.0)-\(day.1 < 10 ? "0" : "")\(day.1)-\(day.2 < 10 ? "0" : "")\(day.2)"
                #expect(read[3] == ISO8601.parse(iso).map { .date($0) }, "\(shape): \(rows[index][3])")
                #expect(read[4] == .string(rows[index][4]), "\(shape)")
            }
        }
        // Nearly all are numbers; some could be read in two ways.
        #expect(equal > 5 * asTexts, "\(equal) numbers, \(asTexts) texts")
        #expect(refused < 20, "\(refused)")
    }
}
