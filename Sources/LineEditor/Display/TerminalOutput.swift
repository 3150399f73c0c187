import Wording

/// Output for the terminal, with the resulting cursor position.
struct TerminalOutput: Sendable {
    private var bytes: [UInt8] = []
    private var row = 0
    private var column = 0
    /// The number of existing rows; a line feed creates one below them.
    private var allocated = 1
    private var columns = 80
    private var style = ""
    /// Whether terminals may disagree about the cursor's column.
    private(set) var isUncertain = false

    mutating func begin(row: Int, column: Int, allocated: Int, columns: Int) {
        bytes.removeAll(keepingCapacity: true)
        self.row = row
        self.column = column
        self.allocated = allocated
        self.columns = columns
        style = ""
        isUncertain = false
    }

    /// The bytes, ending with a style reset.
    mutating func take() -> [UInt8] {
        setStyle("")
        return bytes
    }

    mutating func write(_ text: String) { bytes += text.utf8 }

    mutating func setStyle(_ code: String) {
        guard code != style else { return }
        if !style.isEmpty { write("\u{1B}[0m") }
        if !code.isEmpty { write("\u{1B}[" + code + "m") }
        style = code
    }

    mutating func put(_ cell: Frame.Cell) {
        if isUncertain {
            write("\u{1B}[\(column + 1)G")
            isUncertain = false
        }
        bytes += cell.character.utf8
        column += Int(cell.width)
        if cell.character.utf8.count > 1, !DisplayWidth.isReliable(cell.character) { isUncertain = true }
    }

    /// The terminal wraps when the next character is written behind a full row.
    mutating func wrapped(toRow row: Int) {
        self.row = row
        column = 0
        allocated = max(allocated, row + 1)
    }

    mutating func move(toRow target: Int, column wanted: Int) {
        // Behind a full row the cursor is pending at the margin; a return makes its position certain.
        if column >= columns || isUncertain {
            write("\r")
            column = 0
            isUncertain = false
        }
        if target >= allocated {
            setStyle("")
            if row != allocated - 1 { bytes += Self.down(allocated - 1 - row) }
            write("\r")
            for _ in allocated...target { write("\n") }
            allocated = target + 1
            column = 0
        } else if target < row {
            bytes += Self.up(row - target)
        } else if target > row {
            bytes += Self.down(target - row)
        }
        row = target
        guard wanted != column else { return }
        if wanted == 0 {
            write("\r")
        } else if wanted > column {
            write(wanted - column == 1 ? "\u{1B}[C" : "\u{1B}[\(wanted - column)C")
        } else if column - wanted <= 3 {
            for _ in wanted..<column { write("\u{8}") }
        } else {
            write("\u{1B}[\(column - wanted)D")
        }
        column = wanted
    }

    static func up(_ count: Int) -> [UInt8] { count > 0 ? Array("\u{1B}[\(count)A".utf8) : [] }

    static func down(_ count: Int) -> [UInt8] { count > 0 ? Array("\u{1B}[\(count)B".utf8) : [] }
}
