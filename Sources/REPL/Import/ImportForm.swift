import Application
import Files
import Glibc
import Items
package import LineEditor
import Wording

/// The table in which a user says what a file's columns become: a row a column. A value: keys in, lines of the screen out.
package struct ImportForm {
    /// The owner's action after a key.
    package enum Effect: Equatable { case none, accept, cancel, suspend }

    /// A column, as the user wants it.
    package struct Row: Equatable, Sendable {
        /// Its name in the file.
        package let name: String
        /// The field; nil for a column that is left out.
        package var field: String?
        /// The kind of its values, as the option has it: `real`, `date(dd.MM.yyyy)`.
        package var kind: String
        /// Whether it identifies the items.
        package var isKey = false
        /// Its first cells.
        let cells: [String]
        /// The kinds that can be chosen, the proposed one first.
        fileprivate let kinds: [String]
        fileprivate let proposed: String
        /// Whether the values have kinds of their own.
        private let isTyped: Bool

        package init(name: String, field: String, kind: String, cells: [String], isTyped: Bool = false) {
            (self.name, self.field, self.kind, self.cells, proposed) = (name, field, kind, cells, field)
            (kinds, self.isTyped) = ([kind] + ItemFieldKind.allCases.map(\.rawValue).filter { $0 != kind }, isTyped)
        }

        /// The kind that the import is given; nil if the values keep their own.
        package var givenKind: String? { isTyped && kind == kinds[0] ? nil : kind }
    }

    /// The rows, in the order of the file.
    package private(set) var rows: [Row]
    private let title: String
    /// The field that is the name of items, and the columns that it could be; nil for items without one.
    private let naming: (field: String, columns: [String])?
    private var columns: Int
    private var height: Int
    private var selected = 0
    private var top = 0
    /// The field's name that is being typed.
    private var entry: String?
    private var notice = ""

    /// - Parameters:
    ///   - title: what was found of the file.
    ///   - rows: the file's columns.
    ///   - size: of the screen.
    ///   - naming: the field that is the name of items, and the columns that it could be, said while no row has it.
    package init(
        _ title: String, _ rows: [Row], _ size: TerminalSize, naming: (field: String, columns: [String])? = nil
    ) {
        (self.title, self.rows, self.naming) = (title, rows, naming)
        (columns, height) = (max(20, size.columns), max(5, size.rows))
    }

    package mutating func resize(_ size: TerminalSize) {
        (columns, height) = (max(20, size.columns), max(5, size.rows))
        scroll()
    }

    /// The rows of the table that the screen has.
    private var visibleCount: Int { max(1, height - 3 - (hint == nil ? 0 : 1)) }

    /// What is said while no row is the name of items; nil for nothing.
    private var hint: String? {
        guard let naming, !rows.contains(where: { $0.field == naming.field }) else { return nil }
        let columns = naming.columns.prefix(5).map { VisibleText.line($0) }.joined(separator: ", ")
        let likely = columns.isEmpty ? "" : ", such as \(columns)\(naming.columns.count > 5 ? ", …" : "")"
        return "no column is the \(naming.field) of the items: f gives it to one\(likely)"
    }

    // MARK: The screen

    /// The lines of the screen: the title, the headings, the rows, and the keys.
    package func lines() -> [StyledText] {
        let visible = top..<min(rows.count, top + visibleCount)
        let widths = widths(of: visible)
        var lines = [StyledText(cut(VisibleText.line(title)), .heading)]
        if let hint { lines.append(StyledText(cut(hint), .emphasis)) }
        lines.append(
            StyledText(cut(line("  ", ["column", "field", "kind", "cells"], widths)), .heading))
        for place in visible {
            let row = rows[place]
            let isSelected = place == selected
            let field = isSelected ? entry.map { $0 + "▏" } ?? fieldText(row) : fieldText(row)
            let kind = row.field == nil ? "" : row.kind
            let text = line(
                isSelected ? "> " : "  ",
                [row.name, field, kind, row.cells.joined(separator: " · ")].map(VisibleText.line),
                widths)
            lines.append(StyledText(cut(text), isSelected ? .emphasis : row.field == nil ? .dimmed : .plain))
        }
        while lines.count < height - 1 { lines.append("") }
        return lines + [StyledText(cut(state), .searchMatch)]
    }

    private func fieldText(_ row: Row) -> String {
        guard let field = row.field else { return "– left out" }
        return row.isKey ? field + " (key)" : field
    }

    /// The widths of the first three columns: of what is shown, as far as the screen allows.
    private func widths(of visible: Range<Int>) -> [Int] {
        let shown = visible.map { rows[$0] }
        let limit = max(6, (columns - 8) * 3 / 10)
        func width(_ heading: String, _ text: (Row) -> String) -> Int {
            min(limit, shown.reduce(DisplayWidth.of(heading)) { max($0, DisplayWidth.of(VisibleText.line(text($1)))) })
        }
        return [
            width("column", \.name),
            max(width("field", fieldText), min(limit, entry.map { DisplayWidth.of($0) + 1 } ?? 0)),
            width("kind") { $0.field == nil ? "" : $0.kind },
        ]
    }

    private func line(_ mark: String, _ cells: [String], _ widths: [Int]) -> String {
        mark
            + cells.enumerated().map { place, cell in
                guard place < widths.count else { return cell }
                let text = TextTable.cut(cell, to: widths[place])
                return text + String(repeating: " ", count: max(0, widths[place] - DisplayWidth.of(text)))
            }.joined(separator: "  ")
    }

    private func cut(_ text: String) -> String { TextTable.cut(text, to: columns) }

    private var state: String {
        if entry != nil { return " the field's name; Enter takes it, Esc leaves it as it was " }
        if !notice.isEmpty { return " \(notice) " }
        let place = "\(selected + 1) of \(rows.count)"
        var keys = ["Enter: import", "q: cancel", "f: field", "←→: kind", "x: leave out", "k: key"]
        // The last keys give way on a narrow screen.
        while keys.count > 1 {
            let text = " \(place) · \(keys.joined(separator: ", ")) "
            if DisplayWidth.of(text) <= columns { return text }
            keys.removeLast()
        }
        return " \(place) · \(keys[0]) "
    }

    // MARK: Keys

    /// Handles a key.
    package mutating func press(_ key: EditorKey) -> Effect {
        switch key {
        case .press(.character("c"), .control), .press(.character("d"), .control): return .cancel
        case .press(.character("z"), .control): return .suspend
        default: break
        }
        if entry != nil {
            type(key)
            return .none
        }
        notice = ""
        switch key {
        case .press(.enter, _): return accept()
        case .press(.escape, _), .press(.character("q"), _): return .cancel
        case .press(.down, _), .press(.character("j"), []), .press(.tab, []): move(by: 1)
        case .press(.up, _), .press(.tab, .shift): move(by: -1)
        case .press(.pageDown, _), .press(.character(" "), []): move(by: visibleCount)
        case .press(.pageUp, _): move(by: -visibleCount)
        case .press(.home, _): move(by: -rows.count)
        case .press(.end, _): move(by: rows.count)
        case .press(.right, _), .press(.character("t"), _): changeKind(by: 1)
        case .press(.left, _): changeKind(by: -1)
        case .press(.character("f"), _): entry = rows.isEmpty ? nil : rows[selected].field ?? rows[selected].proposed
        case .press(.character("x"), _): toggle()
        case .press(.character("k"), _): toggleKey()
        default: break
        }
        return .none
    }

    /// Accepts the rows if each field has one column.
    private mutating func accept() -> Effect {
        var met: NameTable<Int> = [:]
        for (place, row) in rows.enumerated() {
            guard let field = row.field else { continue }
            if let other = met.updateValue(place, forKey: field) {
                notice =
                    "\(VisibleText.line(rows[other].name)) and \(VisibleText.line(row.name)) are both \(VisibleText.line(field)): f changes one"
                selected = place
                scroll()
                return .none
            }
        }
        return .accept
    }

    private mutating func type(_ key: EditorKey) {
        guard let text = entry else { return }
        switch key {
        case .press(.enter, _):
            if !text.isEmpty { rows[selected].field = text }
            entry = nil
            scroll()
        case .press(.escape, _): entry = nil
        case .press(.backspace, _): entry = String(text.dropLast())
        case .press(.character("u"), .control): entry = ""
        case .press(.character(let character), let modifiers) where modifiers.isSubset(of: .shift):
            entry = text + String(character)
        case .paste(let pasted): entry = text + VisibleText.line(pasted).shortened(to: 200)
        default: break
        }
    }

    private mutating func move(by count: Int) {
        selected = max(0, min(rows.count - 1, selected + count))
        scroll()
    }

    private mutating func scroll() {
        if selected < top { top = selected }
        if selected >= top + visibleCount { top = selected - visibleCount + 1 }
        top = max(0, min(top, rows.count - visibleCount))
    }

    private mutating func changeKind(by step: Int) {
        guard rows.indices.contains(selected), rows[selected].field != nil else { return }
        let kinds = rows[selected].kinds
        let place = (kinds.firstIndex(of: rows[selected].kind) ?? 0) + step
        rows[selected].kind = kinds[(place + kinds.count) % kinds.count]
    }

    private mutating func toggle() {
        guard rows.indices.contains(selected) else { return }
        rows[selected].field = rows[selected].field == nil ? rows[selected].proposed : nil
        if rows[selected].field == nil { rows[selected].isKey = false }
        scroll()
    }

    private mutating func toggleKey() {
        guard rows.indices.contains(selected), rows[selected].field != nil else { return }
        rows[selected].isKey.toggle()
    }
}

/// An import's form on the terminal's alternate screen, before anything else runs there.
package struct ImportFormScreen {
    private let palette: TerminalPalette

    /// Whether there is a terminal on which to ask.
    package static var canAsk: Bool {
        TerminalMode.supportsEditing(
            input: StandardDescriptor.input, output: StandardDescriptor.output, environment: ProcessEnvironment.value)
    }

    /// The size of the terminal, or a usual one.
    package static var size: TerminalSize { Console.size }

    /// - Parameter usesColor: whether styles are drawn.
    package init(usesColor: Bool) {
        palette = TerminalPalette.appropriate(
            isTerminal: StandardStream.output.isTerminal, isForbidden: !usesColor, environment: ProcessEnvironment.value
        )
    }

    /// Shows the form until it is accepted or cancelled.
    ///
    /// - Returns: the rows; nil if it was cancelled, and at the end of input.
    package func run(_ form: ImportForm) -> [ImportForm.Row]? {
        let mode = TerminalMode(input: StandardDescriptor.input, output: StandardDescriptor.output)
        do { try mode.enter() } catch { return form.rows }
        var form = form
        var decoder = KeyDecoder()
        put(Self.entering)
        defer {
            put(Self.leaving)
            mode.leave()
        }
        while true {
            form.resize(Self.size)
            put(Self.drawing(of: form, palette))
            var keys: [EditorKey]
            if let bytes = Self.input(within: decoder.isWaiting ? 40 : 500) {
                if bytes.isEmpty, !decoder.isWaiting { return nil }
                keys = bytes.isEmpty ? decoder.flush() : decoder.decode(bytes)
            } else {
                keys = decoder.isWaiting ? decoder.flush() : []
            }
            while !keys.isEmpty {
                switch form.press(keys.removeFirst()) {
                case .none: continue
                case .accept: return form.rows
                case .cancel: return nil
                case .suspend:
                    put(Self.leaving)
                    mode.leave()
                    raise(SIGTSTP)
                    guard (try? mode.enter()) != nil else { return nil }
                    put(Self.entering)
                }
            }
        }
    }

    private static let entering = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
    private static let leaving = PagerScreen.leaving

    private func put(_ text: String) {
        StandardStream.output.put(text)
        StandardStream.flushAll()
    }

    /// The bytes that draw the form.
    static func drawing(of form: ImportForm, _ palette: TerminalPalette) -> String {
        form.lines().enumerated().map { row, line in
            "\u{1B}[\(row + 1);1H\u{1B}[K\(palette.apply(to: line))\u{1B}[0m"
        }.joined() + "\u{1B}[J"
    }

    /// The next keys; nil if none came within the milliseconds, empty at the end of input.
    private static func input(within milliseconds: Int32) -> [UInt8]? {
        var poll = pollfd(fd: StandardDescriptor.input, events: Int16(POLLIN), revents: 0)
        guard Glibc.poll(&poll, 1, milliseconds) > 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = read(StandardDescriptor.input, &buffer, buffer.count)
        if count < 0, errno == EINTR || errno == EAGAIN { return nil }
        return Array(buffer[..<max(0, count)])
    }
}
