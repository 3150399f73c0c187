/// Key bindings.
public struct KeyMap: Sendable {
    private var commands: [Key: EditorCommand]

    /// A map of the given keys only.
    public init(_ commands: [Key: EditorCommand]) { self.commands = commands }

    /// The command of a key; nil removes the binding.
    public subscript(key: Key) -> EditorCommand? {
        get { commands[key] }
        set { commands[key] = newValue }
    }

    /// The bindings of Emacs and readline, with arrow keys.
    public static let emacs = KeyMap([
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
