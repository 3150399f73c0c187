/// Writes scenes to a terminal, each as the difference from the previous one.
///
/// Tracks its output and the cursor's position relative to the prompt's first row; the absolute position is neither
/// queried nor needed. Rows are added only by line feeds at the bottom, so that the screen scrolls only when necessary.
/// A scene taller than the screen is shown in part, around the cursor.
///
/// The returned bytes are to be written to the terminal in order; other output may come between them only after
/// `erase()` or `leave(_:)`.
public struct TerminalRenderer: Sendable {
    /// The terminal's width in columns.
    package private(set) var columns: Int
    /// The terminal's height in lines.
    package private(set) var rows: Int
    /// The palette. A change applies to the next full drawing.
    package var palette: TerminalPalette
    /// Whether the terminal rewraps long lines when its width changes. All do but xterm and the Linux console.
    package var reflows = true

    private var last: Frame?
    /// The first visible row of the scene.
    var scroll = 0
    private var output = TerminalOutput()

    /// Creates a renderer for a terminal's size.
    public init(columns: Int = 80, rows: Int = 24, palette: TerminalPalette = .none) {
        self.columns = max(2, columns)
        self.rows = max(1, rows)
        self.palette = palette
    }

    /// The bytes that change the terminal from the last scene to this one; empty if they are equal.
    package mutating func render(_ scene: Scene) -> [UInt8] {
        var frame = Frame(scene, columns: columns)
        scroll = frame.fit(height: rows, scrolledTo: scroll)
        return draw(frame)
    }

    /// Draws a scene for the last time, in full even if it is taller than the screen, and moves the cursor to the start
    /// of the row below.
    package mutating func leave(_ scene: Scene) -> [UInt8] {
        var frame = Frame(scene, columns: columns)
        // A frame that is taller than the screen is drawn whole, and scrolls.
        var bytes = frame.rows.count > rows ? erase() : []
        frame.cursorRow = frame.rows.count - 1
        frame.cursorColumn = frame.rows[frame.cursorRow].cells.count
        bytes += draw(frame)
        forget()
        return bytes + Array("\r\n".utf8)
    }

    /// Erases the scene and moves the cursor to its start. The next scene is drawn from there.
    package mutating func erase() -> [UInt8] {
        guard let frame = last else { return [] }
        forget()
        // No ESC [ J from the first row: at the top of the screen tmux treats that as clearing the screen, and copies
        // the cleared rows into its history.
        let below = frame.rows.count > 1 ? "\u{1B}[B\u{1B}[J\u{1B}[A" : ""
        return Array("\r".utf8) + TerminalOutput.up(frame.cursorRow) + Array(("\u{1B}[K" + below).utf8)
    }

    /// Forgets the drawn scene: the next one is drawn at the cursor.
    package mutating func forget() {
        last = nil
        scroll = 0
    }

    /// Sets a new size and returns the bytes that erase the reflowed last scene.
    ///
    /// Terminals rewrap before they report the size, so the prompt's row is computed from the rewrapped rows.
    package mutating func resize(columns: Int, rows: Int) -> [UInt8] {
        let newColumns = max(2, columns)
        let newRows = max(1, rows)
        guard newColumns != self.columns || newRows != self.rows else { return [] }
        if var frame = last {
            if newColumns != self.columns, reflows { frame.reflow(to: newColumns) }
            // Rows above the screen's top are out of reach.
            frame.cursorRow = min(frame.cursorRow, newRows - 1)
            last = frame
        }
        self.columns = newColumns
        self.rows = newRows
        return erase()
    }

    // MARK: Drawing

    private mutating func draw(_ frame: Frame) -> [UInt8] {
        let isFirst = last == nil
        output.begin(
            row: last?.cursorRow ?? 0, column: last?.cursorColumn ?? 0, allocated: max(last?.rows.count ?? 1, 1),
            columns: columns)
        if isFirst { output.write("\r\u{1B}[J") }
        let old = last?.rows ?? [Frame.Row()]
        let changed = frame.rows.indices.count { $0 >= old.count || old[$0] != frame.rows[$0] }
        let hides = changed > 1
        if hides { output.write("\u{1B}[?25l") }
        var continues = false
        for (index, row) in frame.rows.enumerated() {
            let before = index < old.count ? old[index] : Frame.Row()
            let following = index + 1 < frame.rows.count ? frame.rows[index + 1] : nil
            continues = drawRow(row, index, over: before, continuing: continues, before: following)
        }
        if old.count > frame.rows.count {
            output.move(toRow: frame.rows.count, column: 0)
            output.setStyle("")
            output.write("\u{1B}[J")
        }
        output.move(toRow: frame.cursorRow, column: min(frame.cursorColumn, columns - 1))
        if hides { output.write("\u{1B}[?25h") }
        last = frame
        return output.take()
    }

    /// Draws the changed cells of a row.
    /// - Returns: whether the last column was written and the text continues: the next row's first character must then
    ///   be written as well, which makes the terminal join both rows into one line.
    private mutating func drawRow(
        _ row: Frame.Row, _ index: Int, over old: Frame.Row, continuing: Bool, before following: Frame.Row?
    ) -> Bool {
        let new = row.cells
        var start = 0
        let common = min(new.count, old.cells.count)
        while start < common, new[start] == old.cells[start] { start += 1 }
        var end = new.count
        if new.count == old.cells.count {
            while end > start, new[end - 1] == old.cells[end - 1] { end -= 1 }
        }
        // A row with unchanged text whose wrapping changes is written to its end.
        if row.wraps != old.wraps, row.wraps, !new.isEmpty {
            start = min(start, new.count - 1)
            end = new.count
        }
        if continuing, !new.isEmpty {
            start = 0
            end = max(end, 1)
        }
        while start > 0, start < new.count, new[start].width == 0 { start -= 1 }
        while end < new.count, new[end].width == 0 { end += 1 }
        if start < end {
            if !(continuing && start == 0) { output.move(toRow: index, column: start) }
            if continuing { output.wrapped(toRow: index) }
            for cell in new[start..<end] where cell.width > 0 {
                output.setStyle(palette[cell.style])
                output.put(cell)
            }
        }
        if old.cells.count > new.count, new.count < columns {
            output.move(toRow: index, column: new.count)
            output.setStyle("")
            output.write("\u{1B}[K")
        }
        guard row.wraps, start < end, end == new.count, let following else { return false }
        // A cursor at an uncertain column must be positioned explicitly.
        return !following.cells.isEmpty && following.cells[0].width == 1 && !output.isUncertain
    }
}

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
