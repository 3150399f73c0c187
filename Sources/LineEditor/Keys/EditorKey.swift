/// One terminal event: a key, a paste, a change of focus or a report.
package enum EditorKey: Hashable, Sendable {
    /// A pressed or repeated key with its modifiers.
    case press(KeyCode, KeyModifiers)
    /// The raw text of a bracketed paste, with line breaks of any kind.
    case paste(String)
    /// The terminal's window gained (`true`) or lost the focus.
    case focus(Bool)
    /// The answer to a query.
    case report(TerminalReport)

    /// A key without modifiers.
    package static func press(_ code: KeyCode) -> EditorKey { .press(code, []) }

    /// A character with Control, named by its lower-case letter.
    package static func control(_ character: Character) -> EditorKey { .press(.character(character), .control) }

    /// A character with Alt.
    package static func alt(_ character: Character) -> EditorKey { .press(.character(character), .alt) }
}

/// A key without its modifiers.
package enum KeyCode: Hashable, Sendable {
    /// Text. With Control or Alt it is the key's letter, in lower case unless Shift changes it.
    case character(Character)
    /// Return.
    case enter
    /// Tab.
    case tab
    /// Backspace.
    case backspace
    /// Escape.
    case escape
    /// Arrow up.
    case up
    /// Arrow down.
    case down
    /// Arrow left.
    case left
    /// Arrow right.
    case right
    /// Home.
    case home
    /// End.
    case end
    /// Page up.
    case pageUp
    /// Page down.
    case pageDown
    /// Insert.
    case insert
    /// Delete.
    case delete
    /// The middle of the numeric keypad.
    case begin
    /// F1 to F35.
    case function(Int)
}

/// The modifiers of a key, in xterm's encoding (the parameter minus one).
package struct KeyModifiers: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Shift.
    package static let shift = KeyModifiers(rawValue: 1)
    /// Alt, or Escape before the key.
    package static let alt = KeyModifiers(rawValue: 2)
    /// Control.
    package static let control = KeyModifiers(rawValue: 4)
    /// Super, Hyper or Meta, which only the kitty keyboard protocol reports.
    package static let command = KeyModifiers(rawValue: 8)

    /// Decodes the parameter of a control sequence, which is the bits plus one; Caps Lock and Num Lock are ignored.
    init(parameter: Int) {
        let bits = UInt8(truncatingIfNeeded: parameter > 0 ? parameter - 1 : 0)
        self = KeyModifiers(rawValue: bits & 7).union(bits & 0b11_1000 != 0 ? .command : [])
    }
}

/// An answer of the terminal, received among the keys.
public struct TerminalReport: Hashable, Sendable {
    package enum Answer: Hashable, Sendable {
        /// The cursor's position from 1, the answer to `ESC [ 6 n`.
        case cursorPosition(row: Int, column: Int)
        /// The device attributes: everything between `ESC [` and `c` with its marker (`?62;4` includes sixel).
        case deviceAttributes(String)
        /// The active flags of the kitty keyboard protocol, the answer to `ESC [ ? u`.
        case keyboardFlags(Int)
        /// Any other control sequence, without `ESC [`: modes, window sizes, the mouse.
        case controlSequence(String)
        /// A string: its introducer (`]` OSC, `P` DCS, `_` APC) and the bytes up to the terminator.
        case string(introducer: UInt8, bytes: [UInt8])
    }

    package let answer: Answer

    package init(_ answer: Answer) { self.answer = answer }
}

/// Key bindings.
package struct KeyMap: Sendable {
    private var commands: [EditorKey: EditorCommand]

    /// A map of the given keys only.
    package init(_ commands: [EditorKey: EditorCommand]) { self.commands = commands }

    /// The command of a key; nil removes the binding.
    package subscript(key: EditorKey) -> EditorCommand? {
        get { commands[key] }
        set { commands[key] = newValue }
    }

    /// The bindings of Emacs and readline, with arrow keys.
    package static let emacs = KeyMap([
        .control("a"): .edit(.moveToLineStart), .control("e"): .edit(.moveToLineEnd),
        .control("b"): .edit(.moveLeft), .control("f"): .edit(.moveRight),
        .control("p"): .up, .control("n"): .down,
        .control("d"): .deleteOrEnd, .control("h"): .edit(.deleteBackward),
        .control("k"): .edit(.killToLineEnd), .control("u"): .edit(.killToLineStart),
        .control("w"): .edit(.killBlankBackward), .control("y"): .edit(.yank),
        .control("t"): .edit(.transposeCharacters), .control("_"): .edit(.undo), .control("/"): .edit(.undo),
        .control("l"): .clearScreen, .control("r"): .searchOlder, .control("s"): .searchNewer,
        .control("c"): .interrupt, .control("z"): .suspend, .control("g"): .cancel,
        .control("i"): .complete, .control("m"): .enter, .control("j"): .enter,
        .alt("b"): .edit(.moveWordLeft), .alt("f"): .edit(.moveWordRight),
        .alt("d"): .edit(.killWordForward), .alt("y"): .edit(.yankPop), .alt("t"): .edit(.transposeWords),
        .alt("u"): .edit(.uppercaseWord), .alt("l"): .edit(.lowercaseWord), .alt("c"): .edit(.capitalizeWord),
        .alt("<"): .edit(.moveToStart), .alt(">"): .edit(.moveToEnd), .alt("_"): .edit(.redo),
        .alt("p"): .olderEntry, .alt("n"): .newerEntry,
        .press(.enter): .enter, .press(.enter, .alt): .newLine, .press(.enter, .shift): .newLine,
        .press(.enter, .control): .submit,
        .press(.tab): .complete, .press(.tab, .shift): .completeBackward, .press(.escape): .cancel,
        .press(.backspace): .edit(.deleteBackward), .press(.backspace, .shift): .edit(.deleteBackward),
        .press(.backspace, .alt): .edit(.killWordBackward), .press(.backspace, .control): .edit(.killWordBackward),
        .press(.delete): .edit(.deleteForward), .press(.delete, .alt): .edit(.killWordForward),
        .press(.delete, .control): .edit(.killWordForward),
        .press(.left): .edit(.moveLeft), .press(.right): .edit(.moveRight), .press(.up): .up, .press(.down): .down,
        .press(.left, .control): .edit(.moveWordLeft), .press(.right, .control): .edit(.moveWordRight),
        .press(.left, .alt): .edit(.moveWordLeft), .press(.right, .alt): .edit(.moveWordRight),
        .press(.up, .alt): .olderEntry, .press(.down, .alt): .newerEntry,
        .press(.up, .control): .olderEntry, .press(.down, .control): .newerEntry,
        .press(.home): .edit(.moveToLineStart), .press(.end): .edit(.moveToLineEnd),
        .press(.home, .control): .edit(.moveToStart), .press(.end, .control): .edit(.moveToEnd),
        .press(.pageUp): .olderEntry, .press(.pageDown): .newerEntry,
    ])
}

/// The commands that keys can be bound to.
package enum EditorCommand: Hashable, Sendable {
    /// A command of the buffer.
    case edit(EditCommand)
    /// Runs the text if it is complete and the cursor is not at the end of an inner line; else begins a new line.
    case enter
    /// Begins a new line.
    case newLine
    /// Runs the text, complete or not.
    case submit
    /// Moves up; from the first line, recalls the older history entry with the text before the cursor as its prefix.
    case up
    /// To the next line, or the next entry.
    case down
    /// The previous entry of the history.
    case olderEntry
    /// The next entry of the history.
    case newerEntry
    /// Searches the history backwards.
    case searchOlder
    /// Searches the history forwards.
    case searchNewer
    /// Completes; in a line's leading white space, indents.
    case complete
    /// The previous candidate.
    case completeBackward
    /// Accepts the whole suggestion.
    case acceptSuggestion
    /// Ctrl-C: abandons the text.
    case interrupt
    /// Ctrl-Z: stops the host's process.
    case suspend
    /// Deletes forward; on an empty line ends the input.
    case deleteOrEnd
    /// Clears the screen and redraws the text.
    case clearScreen
    /// Closes the menu or the search.
    case cancel
}
