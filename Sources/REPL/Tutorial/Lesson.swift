/// A lesson: its text, an entry that solves it, and a check.
struct Lesson: Sendable {
    let title: String
    let text: String
    /// An entry that solves it.
    let example: String
    /// Lua code that takes the entry and its first result, and returns whether the lesson is solved.
    let check: String

    /// The lessons, from the first item to a handler that saves.
    static let all: [Lesson] = [
        Lesson(
            title: "Values",
            text: "What you type is run, and its value shown; no `print` needed.",
            example: "6 * 7", check: "local entry, value = ... return value == 42"),
        Lesson(
            title: "The first item",
            text: "`items` is your collection. A thing becomes an item; fields are yours to invent.",
            example: "lamp = items:createItem{ name = \"Tutorial Lamp\", valueInDollars = 45, room = \"Study\" }",
            check: "for _, item in items:each() do if item.name == 'Tutorial Lamp' then return true end end"),
        Lesson(
            title: "Completion",
            text: "Type `lamp.val` and press Tab: the rest comes by itself. Tab again walks through a menu.",
            example: "lamp.valueInDollars",
            check: "local entry, value = ... return entry:find('valueInDollars') and value == 45"),
        Lesson(
            title: "Changing",
            text: "Fields are assigned like any other. What an entry changed is safe when it has ended.",
            example: "lamp.room = \"Attic\"",
            check:
                "for _, item in items:each() do if item.name == 'Tutorial Lamp' and item.room == 'Attic' then return true end end"
        ),
        Lesson(
            title: "Results",
            text:
                "`_` is the last value, and `_3` that of the third entry. Ask for the lamp's name, by way of `_` if you like.",
            example: "lamp.name", check: "local entry, value = ... return value == 'Tutorial Lamp'"),
        Lesson(
            title: "Queries",
            text:
                "Predicates find items, in the language of NSPredicate. Tab completes fields inside of the quotes, too.",
            example: "items:query(\"room == 'Attic' AND valueInDollars < 100\")",
            check: "local entry = ... return entry:find('items:query', 1, true)"),
        Lesson(
            title: "Help",
            text: "A question mark before or after a name tells what is known of it; help() lists everything.",
            example: "help(\"items.createItem\")",
            check: "local entry = ... return entry:find('help', 1, true) or entry:find('?', 1, true)"),
        Lesson(
            title: "Blocks",
            text: "A loop goes on in the next line until its `end`. Up recalls it whole, and the cursor moves in it.",
            example: "for _, item in items:each() do\n  if item.room == \"Attic\" then print(item.name) end\nend",
            check: "local entry = ... return entry:find('for ', 1, true)"),
        Lesson(
            title: "All or nothing",
            text:
                "What happens in a transaction happens as a whole; an error takes it back. This one fails on purpose.",
            example: "items:transaction(function() lamp.valueInDollars = 1 error(\"no\") end)",
            check:
                "local entry = ... return entry:find('transaction', 1, true) and items:query(\"name == 'Tutorial Lamp'\"):first().valueInDollars == 45"
        ),
        Lesson(
            title: "Undo",
            text: "Change the lamp's value, and take it back by :undo. One entry is one step.",
            example: "lamp.valueInDollars = 9 items:undo()",
            check:
                "local lamp = items:query(\"name == 'Tutorial Lamp'\"):first() return lamp and lamp.valueInDollars == 45"
        ),
        Lesson(
            title: "A handler",
            text: "Handlers run at the moments of the application's life. This one speaks when the items were saved.",
            example:
                "app:on(\"didSave\", { id = \"tutorial\" }, function(event) print(event.items .. \" items are saved\") end)",
            check: "return #app:hooks{ id = 'tutorial' } == 1"),
        Lesson(
            title: "Saving",
            text:
                "Ctrl-Z is the Home button: the items are saved, and `fg` comes back. Or just save: your handler speaks.\n"
                + "Remove the lamp first, so that nothing of the tutorial stays.",
            example: "items:removeItem(lamp) items:saveChanges()",
            check: "return not items.hasChanges and items:query(\"name == 'Tutorial Lamp'\"):count() == 0"),
    ]
}
