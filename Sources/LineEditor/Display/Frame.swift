/// A scene laid out in rows of cells for a width, from the prompt's row on.
struct Frame: Sendable {
    /// One column of the screen. The second column of a wide character is a cell of width 0 without text.
    struct Cell: Equatable, Sendable {
        var character: Character
        var style: TextStyle
        var width: UInt8

        static let placeholder = Cell(character: " ", style: .plain, width: 0)
    }

    /// One row of the screen, up to the end of its text.
    struct Row: Equatable, Sendable {
        var cells: [Cell] = []
        /// Whether the text continues in the next row because this one is full.
        var wraps = false
    }

    var rows: [Row] = [Row()]
    var cursorRow = 0
    var cursorColumn = 0
    /// The number of rows below the text.
    var rowsBelow = 0
    let columns: Int

    /// Lays out a scene. Complexity: linear in the text and the spans.
    init(_ scene: Scene, columns: Int) {
        self.columns = max(2, columns)
        add(scene.prompt)
        let firstRow = rows.count - 1
        addText(scene)
        var column = 0
        for character in scene.suggestion where !character.is("\n") {
            addDisplayed(character, .suggestion, textColumn: &column)
        }
        addMargin(scene.margin, toRow: firstRow)
        // Behind a full row, the cursor is at the start of the next one.
        if cursorColumn == self.columns {
            cursorRow += 1
            cursorColumn = 0
            if cursorRow == rows.count { breakRow(wraps: true) }
        }
        addBelow(scene.below)
    }

    private mutating func addText(_ scene: Scene) {
        let styles = Self.styles(of: scene)
        var offset = 0
        var textColumn = 0
        for (index, character) in scene.characters.enumerated() {
            if index == scene.cursor { markCursor() }
            if character.is("\n") {
                breakRow(wraps: false)
                add(scene.continuationPrompt)
                textColumn = 0
            } else {
                let style = TextStyle(rawValue: styles[offset]) ?? .plain
                let before = (row: rows.count, column: rows[rows.count - 1].cells.count)
                addDisplayed(character, style, textColumn: &textColumn)
                // A character that did not fit moved the cursor with it to the next row.
                if index == scene.cursor, rows.count > before.row, before.column < columns {
                    markCursorBefore(character)
                }
            }
            offset += character.utf8.count
        }
        if scene.cursor >= scene.characters.count { markCursor() }
    }

    private mutating func markCursor() {
        cursorRow = rows.count - 1
        cursorColumn = rows[cursorRow].cells.count
    }

    private mutating func markCursorBefore(_ character: Character) {
        guard DisplayWidth.of(character) > 1 else { return }
        cursorRow = rows.count - 1
        cursorColumn = 0
    }

    private mutating func add(_ text: StyledText) {
        var column = 0
        for piece in text.pieces {
            for character in piece.text {
                if character.is("\n") {
                    breakRow(wraps: false)
                } else {
                    addDisplayed(character, piece.style, textColumn: &column)
                }
            }
        }
    }

    /// The last column stays free: some terminals wrap there.
    private mutating func addMargin(_ text: StyledText, toRow row: Int) {
        let characters = text.pieces.flatMap { piece in piece.text.map { ($0, piece.style) } }
        let start = columns - 1 - characters.count
        guard !characters.isEmpty, !rows[row].wraps, rows[row].cells.count + 2 <= start else { return }
        let blank = Cell(character: " ", style: .plain, width: 1)
        rows[row].cells += Array(repeating: blank, count: start - rows[row].cells.count)
        // Numbers and letters, one column each.
        rows[row].cells += characters.map { Cell(character: $0.0, style: $0.1, width: 1) }
    }

    private mutating func addBelow(_ lines: [StyledText]) {
        for line in lines {
            breakRow(wraps: false)
            rowsBelow += 1
            var column = 0
            for piece in line.pieces {
                for character in piece.text {
                    // Rows below the text are not wrapped; the last column stays free.
                    guard column + DisplayForm.width(of: character, atColumn: column) < columns else { break }
                    addDisplayed(character, piece.style, textColumn: &column)
                }
            }
        }
    }

    private mutating func addDisplayed(_ character: Character, _ style: TextStyle, textColumn: inout Int) {
        switch DisplayForm(character, atColumn: textColumn) {
        case .itself(let width):
            addCell(character, style, width: width)
            textColumn += width
        case .substitute(let text):
            for shown in text {
                addCell(shown, style, width: 1)
                textColumn += 1
            }
        }
    }

    private mutating func addCell(_ character: Character, _ style: TextStyle, width: Int) {
        let column = rows[rows.count - 1].cells.count
        // A cluster that some terminals show wider must not reach the margin there.
        let needed = width == 1 && character.utf8.count == 1 ? 1 : DisplayWidth.upperBound(character)
        if column + max(width, min(needed, columns)) > columns { breakRow(wraps: column == columns) }
        let last = rows.count - 1
        rows[last].cells.append(Cell(character: character, style: style, width: UInt8(width)))
        if width == 2 { rows[last].cells.append(.placeholder) }
    }

    private mutating func breakRow(wraps: Bool) {
        rows[rows.count - 1].wraps = wraps
        rows.append(Row())
    }

    /// The style of each byte of the text.
    private static func styles(of scene: Scene) -> [UInt8] {
        let total = scene.characters.reduce(0) { $0 + $1.utf8.count }
        var styles = [UInt8](repeating: TextStyle.plain.rawValue, count: total)
        for span in scene.spans {
            let range = span.range.clamped(to: 0..<total)
            for index in range { styles[index] = span.style.rawValue }
        }
        return styles
    }

    // MARK: Fitting

    /// Keeps the rows that fit around the cursor, near the previous first row.
    /// - Returns: the index of the first row kept.
    @discardableResult
    mutating func fit(height: Int, scrolledTo earlier: Int) -> Int {
        let height = max(1, height)
        guard rows.count > height else { return 0 }
        let below = min(rowsBelow, height - 1)
        let textHeight = height - below
        let textCount = rows.count - rowsBelow
        var first = min(earlier, max(0, textCount - textHeight))
        first = min(first, cursorRow)
        first = max(first, cursorRow - textHeight + 1, 0)
        let text = rows[first..<min(first + textHeight, textCount)]
        rows = Array(text) + rows[textCount..<textCount + below]
        cursorRow -= first
        rowsBelow = below
        return first
    }

    /// Wraps the rows for another width, as the terminal does when its width changes. Only the number of rows and the
    /// cursor's row are valid afterwards.
    mutating func reflow(to newColumns: Int) {
        let width = max(2, newColumns)
        var total = 0
        var column = 0
        var newCursorRow = 0
        for (index, row) in rows.enumerated() {
            var hasCursor = index == cursorRow
            for (place, cell) in row.cells.enumerated() where cell.width > 0 {
                if column + Int(cell.width) > width {
                    total += 1
                    column = 0
                }
                if hasCursor, place >= cursorColumn {
                    newCursorRow = total
                    hasCursor = false
                }
                column += Int(cell.width)
            }
            // The empty row behind a full one stays if the row before is full again.
            if hasCursor { newCursorRow = total + (row.cells.isEmpty && column >= width ? 1 : 0) }
            if !row.wraps {
                total += 1
                column = 0
            }
        }
        cursorRow = newCursorRow
        cursorColumn = 0
        rows = Array(repeating: Row(), count: max(total, newCursorRow + 1))
    }
}

/// The visible content: the prompt, the text with its styles, and the lines below it.
package struct Scene: Sendable {
    /// The prompt of the first line.
    package var prompt: StyledText
    /// The prompt of all other lines.
    package var continuationPrompt: StyledText
    /// The text, and the index of the character at the cursor.
    package var characters: [Character]
    package var cursor: Int
    /// The styles of the text; later spans override earlier ones.
    package var spans: [StyledSpan]
    /// The suggestion behind the end of the text; one line.
    package var suggestion: String
    /// The text at the right margin of the first line, if there is room.
    package var margin: StyledText = ""
    /// Lines below the text, each truncated to the width.
    package var below: [StyledText]

    package init(
        prompt: StyledText, continuationPrompt: StyledText = "", buffer: EditBuffer = EditBuffer(),
        spans: [StyledSpan] = [], suggestion: String = "", below: [StyledText] = []
    ) {
        self.prompt = prompt
        self.continuationPrompt = continuationPrompt
        characters = buffer.characters
        cursor = buffer.cursor
        self.spans = spans
        self.suggestion = suggestion
        self.below = below
    }
}

/// The display form of a character: itself, or a substitute where a terminal would interpret it or show nothing.
enum DisplayForm: Equatable {
    /// The character itself, with its columns.
    case itself(Int)
    /// A substitute, whose characters have one column each.
    case substitute(String)

    /// Columns between tab stops, counted from the beginning of the text of a line.
    static let tabStop = 4

    init(_ character: Character, atColumn column: Int) {
        let width = DisplayWidth.of(character)
        guard width == 0, let scalar = character.unicodeScalars.first else {
            self = .itself(width)
            return
        }
        let text =
            switch scalar.value {
            case 0x09: String(repeating: " ", count: Self.tabStop - column % Self.tabStop)
            case 0..<0x20: "^" + String(Character(Unicode.Scalar(UInt8(scalar.value) + 0x40)))
            case 0x7F: "^?"
            default:
                switch scalar.properties.generalCategory {
                // A combining mark without a base is shown on Unicode's dotted circle.
                case .nonspacingMark, .enclosingMark, .spacingMark: "\u{25CC}" + String(character)
                default: "<" + String(scalar.value, radix: 16, uppercase: true) + ">"
                }
            }
        self = .substitute(text)
    }

    static func width(of character: Character, atColumn column: Int) -> Int {
        switch DisplayForm(character, atColumn: column) {
        case .itself(let width): width
        case .substitute(let text): text.count
        }
    }
}
