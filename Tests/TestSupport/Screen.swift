import LineEditor
import Wording

/// A small terminal: applies what is written to a grid, as xterm would.
package struct Screen {
    package let columns: Int
    package let rows: Int
    package private(set) var grid: [[String]]
    package private(set) var scrolledOff: [String] = []
    package private(set) var row = 0
    package private(set) var column = 0
    package private(set) var unknown: [String] = []
    /// The SGR parameters in force where each cell was written.
    package private(set) var styles: [[String]]
    private var style = ""
    private var waitsAtMargin = false
    /// Whether text goes on in the next row; else what is beyond the margin is cut.
    private var wraps = true
    /// The screen of before, while the alternate one is shown.
    private var normal: (grid: [[String]], styles: [[String]], row: Int, column: Int)?

    package init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
        grid = Array(repeating: Array(repeating: " ", count: columns), count: rows)
        styles = Array(repeating: Array(repeating: "", count: columns), count: rows)
    }

    /// The rows without blanks at their ends, up to the last that has text.
    package var lines: [String] {
        var lines = grid.map { row -> String in
            var text = row.joined()
            while text.hasSuffix(" ") { text.removeLast() }
            return text
        }
        while lines.count > 1, lines.last == "" { lines.removeLast() }
        return lines
    }

    package mutating func apply(_ bytes: [UInt8]) {
        var scalars = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)[...]
        var run = ""
        func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 }
        while let scalar = scalars.popFirst() {
            guard isControl(scalar) else {
                run.unicodeScalars.append(scalar)
                continue
            }
            print(run)
            run = ""
            switch scalar {
            case "\r":
                column = 0
                waitsAtMargin = false
            case "\n": lineFeed()
            case "\u{8}":
                column = max(0, column - 1)
                waitsAtMargin = false
            case "\t":
                column = min(columns - 1, (column / 8 + 1) * 8)
                waitsAtMargin = false
            case "\u{1B}": control(&scalars)
            default: unknown.append("\\u\(scalar.value)")
            }
        }
        print(run)
    }

    private mutating func print(_ text: String) {
        for character in text {
            let width = DisplayWidth.of(character)
            if waitsAtMargin || column + width > columns {
                guard wraps else { return }
                column = 0
                lineFeed()
            }
            // Half of a wide character that is written over goes as a whole.
            if grid[row][column] == "", column > 0 { grid[row][column - 1] = " " }
            grid[row][column] = String(character)
            styles[row][column] = style
            if width == 2 {
                grid[row][column + 1] = ""
                styles[row][column + 1] = style
            }
            column += width
            if column < columns, grid[row][column] == "" { grid[row][column] = " " }
            if column >= columns {
                column = columns - 1
                waitsAtMargin = true
            }
        }
    }

    private mutating func lineFeed() {
        waitsAtMargin = false
        guard row == rows - 1 else {
            row += 1
            return
        }
        scrolledOff.append(grid.removeFirst().joined())
        styles.removeFirst()
        grid.append(Array(repeating: " ", count: columns))
        styles.append(Array(repeating: "", count: columns))
    }

    private mutating func control(_ scalars: inout ArraySlice<Unicode.Scalar>) {
        switch scalars.popFirst() {
        case "["?: break
        case "]"?, "_"?, "P"?:
            // A text for the terminal itself, up to a bell or ESC \.
            while let scalar = scalars.popFirst(), scalar != "\u{7}" {
                if scalar == "\u{1B}" {
                    _ = scalars.popFirst()
                    return
                }
            }
            return
        default:
            unknown.append("ESC")
            return
        }
        var body = ""
        while let scalar = scalars.popFirst() {
            if scalar.value >= 0x40 {
                perform(Character(scalar), body)
                return
            }
            body.unicodeScalars.append(scalar)
        }
        unknown.append("unfinished \(body)")
    }

    private mutating func perform(_ final: Character, _ body: String) {
        let count = max(1, Int(body) ?? 1)
        if final != "m" { waitsAtMargin = false }
        switch final {
        case "A": row = max(0, row - count)
        case "B": row = min(rows - 1, row + count)
        case "C": column = min(columns - 1, column + count)
        case "D": column = max(0, column - count)
        case "G": column = min(columns - 1, count - 1)
        case "H":
            let place = body.split(separator: ";").compactMap { Int($0) }
            row = min(rows, max(1, place.first ?? 1)) - 1
            column = min(columns, max(1, place.dropFirst().first ?? 1)) - 1
        case "J":
            if body == "2" {
                for index in 0..<rows { clear(index, from: 0) }
            } else {
                clear(row, from: column)
                for index in row + 1..<max(rows, row + 1) { clear(index, from: 0) }
            }
        case "K": clear(row, from: column)
        case "m": style = body == "0" ? "" : body
        case "h", "l":
            switch body {
            case "?7": wraps = final == "h"
            case "?1049": alternate(final == "h")
            default: if !body.hasPrefix("?") { unknown.append(body) }
            }
        default: unknown.append(body + String(final))
        }
    }

    private mutating func alternate(_ isOn: Bool) {
        if isOn, normal == nil {
            normal = (grid, styles, row, column)
            for index in 0..<rows { clear(index, from: 0) }
        } else if !isOn, let normal {
            (grid, styles, row, column) = normal
            self.normal = nil
        }
    }

    private mutating func clear(_ index: Int, from start: Int) {
        for column in start..<columns {
            grid[index][column] = " "
            styles[index][column] = ""
        }
    }
}
