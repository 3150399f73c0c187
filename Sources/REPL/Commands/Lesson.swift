import Items
import Lua
import PropertyList
import Scripting

/// A lesson: its text, entries that solve it, and a check.
struct Lesson: Sendable {
    let title: String
    let text: String
    /// Entries that solve it, one after the other.
    let examples: [String]
    /// What to try instead of the examples.
    var advice: String?
    /// The same in Objective-C, and in Swift.
    var objectiveC: String?
    var swift: String?
    /// The entries of the examples: a line that is indented, or an `end`, goes on with the one before.
    var entries: [String] {
        examples.flatMap { $0.split(separator: "\n") }.reduce(into: []) { entries, line in
            if let last = entries.last, line.hasPrefix(" ") || line.hasPrefix("end") {
                entries[entries.count - 1] = last + "\n" + line
            } else {
                entries.append(String(line))
            }
        }
    }
    /// Whether an entry solves it.
    let isSolved: @Sendable (LessonEntry, LessonState) -> Bool

    /// The lessons, from the first item to a save.
    static let all: [Lesson] = [
        Lesson(
            title: "Values", text: "What you type is run, and its value shown; no `print` needed.", examples: ["6 * 7"]
        ) { entry, _ in entry.words.contains("*") && entry.value?.numberValue == 42 },
        Lesson(
            title: "The first item",
            text:
                "`items` is your collection. A thing becomes an item; fields are yours to invent. The lamp is removed at the end of the tutorial.",
            examples: [
                "lamp = items:createItem{\n  name = \"Tutorial Lamp\",\n  valueInDollars = 45,\n  room = \"Study\" }"
            ]
        ) { entry, state in entry.hasWorked && state.value == 45 },
        Lesson(
            title: "Completion",
            text: "Type `lamp.val` and press Tab: the rest comes by itself. Tab again walks through a menu.",
            examples: ["lamp.valueInDollars"]
        ) { entry, _ in entry.words.contains("valueInDollars") && entry.value?.integerValue == 45 },
        Lesson(
            title: "Changing",
            text: "Fields are assigned like any other. What an entry changed is safe when it has ended.",
            examples: ["lamp.room = \"Attic\""]
        ) { entry, state in
            entry.hasWorked && entry.words.contains("room") && entry.words.contains("=") && state.lampPlace == "Attic"
        },
        Lesson(
            title: "Results",
            text:
                "`_` is the last value, and `_3` that of the third entry. Ask for the lamp's name, by way of `_` if you like.",
            examples: ["lamp.name"]
        ) { entry, state in
            state.name != nil && entry.value?.textValue == state.name
                && (entry.words.contains("name") || entry.words.contains { $0.hasPrefix("_") })
        },
        Lesson(
            title: "Queries",
            text:
                "Predicates find items, in the language of NSPredicate. Tab completes fields inside of the quotes, too. Ask for what is in the attic.",
            examples: ["items:query(\"room == 'Attic'\")"]
        ) { entry, state in entry.asksForItems && state.finds(entry.value) },
        Lesson(
            title: "Help",
            text: "A question mark before or after a name tells what is known of it; help() lists everything.",
            examples: ["?items.createItem"]
        ) { entry, _ in
            switch entry.kind {
            case .question: !entry.hasFailed
            case .command(let name): name == "help" && !entry.hasFailed
            case .lua: entry.hasWorked && entry.words.first == "help" && entry.words.count > 1
            case .returned, .relaunched: false
            }
        },
        Lesson(
            title: "Blocks",
            text: "A loop goes on in the next line until its `end`. Up recalls it whole, and the cursor moves in it.",
            examples: ["for _, item in items:each() do\n  print(item.name)\nend"]
        ) { entry, _ in
            entry.hasWorked && entry.words.contains { $0 == "for" || $0 == "while" || $0 == "repeat" }
        },
        Lesson(
            title: "All or nothing",
            text:
                "What happens in a transaction happens as a whole; an error takes it back. This one fails on purpose.",
            examples: ["items:transaction(function()\n  lamp.valueInDollars = 1\n  error(\"no\")\nend)"]
        ) { entry, state in entry.calls("transaction") && entry.hasRaised && state.value == 45 },
        Lesson(
            title: "Undo",
            text: "Change the lamp's value, and take it back by :undo. One entry is one step.",
            examples: ["lamp.valueInDollars = 9", ":undo"]
        ) { entry, state in
            let isUndo: Bool =
                switch entry.kind {
                case .command(let name): name == "undo" && !entry.hasFailed
                default: entry.hasWorked && entry.calls("undo")
                }
            return isUndo && state.value == 45
                && (state.tutorial.hasChangedValue || entry.words.contains("valueInDollars"))
        },
        Lesson(
            title: "A handler",
            text:
                "Handlers run at the moments of the application's life. This one speaks when the items were saved; the end of the tutorial removes it.",
            examples: ["app:on(\"didSave\", function(event)\n  print(event.items .. \" items saved\")\nend)"]
        ) { entry, state in entry.hasWorked && !state.handlers.isEmpty },
        Lesson(
            title: "Saving",
            text:
                "Ctrl-Z is the Home button: the items are saved, your handler speaks, and `fg` in the shell comes back. Where there is no shell, items:saveChanges() saves, too.",
            examples: ["items:saveChanges()"], advice: "Ctrl-Z, then fg in the shell"
        ) { entry, state in
            let hasSaved: Bool =
                if case .returned = entry.kind { true } else {
                    entry.hasWorked && entry.value?.isTruthy ?? true
                        && (entry.calls("saveChanges") || entry.calls("pressHome"))
                }
            return hasSaved && !state.host.items.hasChanges
        },
    ]
}

/// An entry as the lessons see it.
struct LessonEntry {
    enum Kind {
        case lua
        /// A command, by its name.
        case command(String)
        case question
        /// No entry: the application was in the background, and is in the foreground again.
        case returned
        /// No entry: the application was launched again.
        case relaunched
    }

    let kind: Kind
    /// The words and signs of Lua, without comments; a string is a quotation mark.
    let words: [String]
    /// What the entry gave; nil for an error.
    let values: [LuaValue]?
    let error: LuaError?
    /// Whether a command or a question was refused.
    let hasFailed: Bool

    init(_ kind: Kind, hasFailed: Bool) {
        (self.kind, words, values, error, self.hasFailed) = (kind, [], nil, nil, hasFailed)
    }

    /// Lua and its result.
    init(_ text: String, _ result: Result<[LuaValue], LuaError>) {
        let bytes = Array(text.utf8)
        words = LuaLexer.tokens(bytes).filter { !$0.isComment }.map {
            $0.isString ? "\"" : String(decoding: bytes[$0.range], as: UTF8.self)
        }
        kind = .lua
        switch result {
        case .success(let values): (self.values, error, hasFailed) = (values, nil, false)
        case .failure(let error): (values, self.error, hasFailed) = (nil, error, true)
        }
    }

    /// Whether it is Lua without an error.
    var hasWorked: Bool { values != nil && !words.isEmpty }
    /// The first value.
    var value: LuaValue? { values?.first }

    /// Whether it raised an error of its own, also one that `pcall` caught.
    var hasRaised: Bool {
        if let error { return error.kind == .runtime && !error.message.contains("bad argument") }
        return words.contains("pcall") && value.map { !$0.isTruthy } ?? false
    }

    func calls(_ name: String) -> Bool {
        words.indices.dropLast().contains { words[$0] == name && words[$0 + 1] == "(" }
    }

    /// Whether it queries items by a condition.
    var asksForItems: Bool {
        words.indices.dropLast(2).contains { place in
            guard words[place] == "query" || words[place] == "where" else { return false }
            return words[place + 1] == "(" && words[place + 2] != ")"
        } || words.indices.dropLast().contains { words[$0] == "query" && words[$0 + 1] == "\"" }
    }
}

/// What the lessons look at beside an entry.
struct LessonState {
    let host: ScriptHost
    let tutorial: Tutorial
    /// The item of the variable `lamp`, if the tutorial has made it.
    let lamp: Item?

    var name: String? { lamp.flatMap { try? $0.name } }
    var value: Int64? { lamp.flatMap { try? $0.valueInDollars } }
    var lampPlace: String? {
        guard let lamp, case .string(let lampPlace)? = try? lamp.value(forField: "room") else { return nil }
        return lampPlace
    }

    /// The handlers of saves that were registered since the lesson began.
    var handlers: ScriptHandlers { host.scriptHandlers.of("didSave").without(tutorial.formerHandlers) }

    /// Whether a value is a result that is not empty.
    func finds(_ value: LuaValue?) -> Bool {
        guard let value else { return false }
        switch host.inspect(value) {
        case .query(let query): return (try? query.count()) ?? 0 > 0
        case .item: return true
        case .items(let items): return !items.isEmpty
        default: return value.numberValue ?? 0 > 0
        }
    }
}
