import Application
import Images
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
            let isUndo = entry.isCommand("undo") || entry.hasWorked && entry.calls("undo")
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

/// Lessons in their order, with the command that leads through them.
struct Course: Sendable {
    /// The command's name.
    let command: String
    let lessons: [Lesson]
    /// Whether what the lessons make stays, and the place in them is kept for the next launch.
    let isPersistent: Bool

    /// Twelve lessons about the prompt, in any container; what they make is removed.
    static let tutorial = Course(command: "tutorial", lessons: Lesson.all, isPersistent: false)
    /// The chapter "Saving, Loading, and Application States", in a container of its own.
    static let chapter = Course(command: "chapter", lessons: Lesson.chapter, isPersistent: true)

    /// What one of its lessons is called.
    var word: String { isPersistent ? "step" : "lesson" }

    /// The key of the place in the preferences.
    private static let placeKey = "ChapterStep"

    /// The place where an earlier launch has left; 0 for the beginning.
    func place(in host: ScriptHost) -> Int {
        guard isPersistent, case .integer(let place)? = host.stores.defaults.value(forKey: Self.placeKey) else {
            return 0
        }
        return min(max(Int(clamping: place), 0), lessons.count)
    }

    /// Keeps the place for the next launch.
    func keep(_ place: Int, in host: ScriptHost) {
        guard isPersistent, !host.options.isReadOnly else { return }
        try? host.stores.defaults.set(.integer(Int64(place)), forKey: Self.placeKey)
        host.lifeCycle.saver.commitForHost()
    }
}

/// The steps of the chapter.
extension Lesson {
    static let chapter: [Lesson] = items + states + further

    private static let items: [Lesson] = [
        Lesson(
            title: "The item",
            text: "An item has a name, a serial number, a value, a date, and a key for its picture.",
            examples: ["items:createItem{ name = \"Lamp\", valueInDollars = 45 }"],
            objectiveC: "[[BNRItem alloc] init]",
            swift: "Item(name: \"Lamp\", serialNumber: nil, valueInDollars: 45)"
        ) { entry, state in
            entry.hasWorked && state.host.items.count > 0
                && entry.words.contains { $0 == "createItem" || $0 == "randomItem" }
        },
        Lesson(
            title: "encode(with:) and init(coder:)",
            text:
                "A class writes its properties under keys, and reads them. A key is unique within its object; the coder is the same for all of them.",
            examples: [
                "Foo = archiver.class(\"Foo\", { secure = true })\nfunction Foo:encode(coder)\n  coder:encodeObject(self.name, \"name\")\nend\nfunction Foo:init(coder)\n  self.name = coder:decodeObject(\"name\")\nend"
            ],
            objectiveC: "[coder encodeObject:self.name forKey:@\"name\"]",
            swift: "coder.encode(name, forKey: \"name\")"
        ) { entry, state in entry.hasWorked && state.isArchivable("Foo") },
        Lesson(
            title: "There and back",
            text:
                "An archive holds the object and all that it refers to. Foo is the class of the step before, :chapter 2.",
            examples: ["archiver.unarchivedObject({ Foo },\n  archiver.archivedData(Foo{ name = \"James\" }))"],
            objectiveC: "[NSKeyedUnarchiver unarchiveObjectWithData:data]",
            swift: "try NSKeyedUnarchiver.unarchiveTopLevelObjectWithData(data)"
        ) { entry, _ in
            entry.hasWorked && entry.value?.isTruthy ?? false
                && entry.words.contains { $0 == "unarchivedObject" || $0 == "unarchiveObject" }
        },
        Lesson(
            title: "saveChanges",
            text: "The store archives all of its items to items.archivePath, the array as the root.",
            examples: ["items:saveChanges()"],
            objectiveC: "[NSKeyedArchiver archiveRootObject:items toFile:path]",
            swift: "try NSKeyedArchiver.archivedData(withRootObject: allItems, requiringSecureCoding: false)"
        ) { entry, state in
            entry.hasWorked && entry.calls("saveChanges") && entry.value?.isTruthy ?? true
                && !state.host.items.hasChanges
        },
        Lesson(
            title: "The archive, seen",
            text:
                "The tree of the file: the root, the items, the keys of each. After a second save its changes are above it.",
            examples: [":inspect items.archivePath"]
        ) { entry, _ in entry.isCommand("inspect") },
        Lesson(
            title: "The sandbox",
            text:
                "Documents and Library are in a backup, Library/Caches and tmp are not. No other application reaches them, and this one reaches nothing else.",
            examples: ["fs.list(app.container.path)"],
            objectiveC: "NSSearchPathForDirectoriesInDomains(NSDocumentDirectory, NSUserDomainMask, YES)",
            swift: "FileManager.default.urls(for: .documentDirectory, in: .userDomainMask)"
        ) { entry, _ in entry.hasWorked && entry.words.contains("container") },
    ]

    private static let states: [Lesson] = [
        Lesson(
            title: "The states",
            text:
                "Five states, and the callbacks on the way from one to the next. The one with double lines is the current one.",
            examples: [":states"]
        ) { entry, _ in entry.isCommand("states") },
        Lesson(
            title: "applicationDidEnterBackground",
            text:
                "The way to the background is the last moment at which code surely runs. The host saves there by itself; a handler runs before.",
            examples: ["app:on(\"didEnterBackground\", function()\n  print(#items .. \" items\")\nend)"],
            objectiveC: "- (void)applicationDidEnterBackground:(UIApplication *)app",
            swift: "func sceneDidEnterBackground(_ scene: UIScene)"
        ) { entry, state in
            entry.hasWorked
                && (!state.host.scriptHandlers.of("didEnterBackground").without(state.tutorial.formerHandlers).isEmpty
                    || entry.words.contains("delegate"))
        },
        Lesson(
            title: "Home, and back",
            text:
                "Ctrl-Z is the Home button: the application resigns active, enters the background, saves, and is suspended. `fg` in the shell brings it back. Where there is no shell: app:pressHome() app:open().",
            examples: ["app:pressHome() app:open()"], advice: "Ctrl-Z, then fg in the shell"
        ) { entry, state in
            guard state.host.applicationState == .active else { return false }
            if case .returned = entry.kind { return true }
            return entry.hasWorked && (entry.calls("pressHome") || entry.words.contains("app") && entry.calls("open"))
        },
        Lesson(
            title: "The way that was taken",
            text: "The same drawing: the lines of the way out and back are heavy, and its callbacks are below.",
            examples: [":states"]
        ) { entry, _ in entry.isCommand("states") },
    ]

    private static let further: [Lesson] = [
        Lesson(
            title: "ImageStore",
            text:
                "A picture is a JPEG file in Documents, named by the item's key. It is not in the archive; a cache keeps it.",
            examples: [
                "items[1].image = image.fromData(data.fromBase64(\n  \"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4\"\n  .. \"2mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==\"))"
            ],
            objectiveC: "[UIImageJPEGRepresentation(image, 0.5) writeToFile:path atomically:YES]",
            swift: "try image.jpegData(compressionQuality: 0.5)?.write(to: url)"
        ) { entry, state in entry.hasWorked && entry.words.contains("image") && state.hasPicture },
        Lesson(
            title: "Low memory",
            text: "The application that runs is warned, and empties its caches: what was in them is read again.",
            examples: ["app:simulateMemoryWarning()"],
            objectiveC: "UIApplicationDidReceiveMemoryWarningNotification",
            swift: "UIApplication.didReceiveMemoryWarningNotification"
        ) { entry, _ in entry.hasWorked && entry.calls("simulateMemoryWarning") },
        Lesson(
            title: "Errors",
            text:
                "What fails outside of the program is nil, an error and its code; err.domain is NSPOSIXErrorDomain here. This file is not there.",
            examples: ["fs.read(app.container.documents .. \"/none\")"],
            objectiveC: "NSError **", swift: "do { try … } catch { … }"
        ) { entry, _ in
            entry.hasWorked && entry.words.contains("fs") && entry.values?.count ?? 0 > 1
                && entry.value?.isNil ?? false
        },
        Lesson(
            title: "Several objects in one archive",
            text: "A writer takes any number of objects, each under a key; a reader finds them again.",
            examples: [
                "w = archiver.writer()\nw:encodeObject({ \"Juliana\", \"Nicolas\" }, \"mybar\")\nw:encodeObject(\"James\", \"myfoo\")\nr = archiver.reader(w:finishEncoding())\nreturn r:decodeObject(\"mybar\"), r:decodeObject(\"myfoo\")"
            ],
            objectiveC: "[[NSKeyedArchiver alloc] initForWritingWithMutableData:data]",
            swift: "NSKeyedArchiver(requiringSecureCoding: false)"
        ) { entry, _ in
            entry.hasWorked && entry.calls("decodeObject") && entry.value?.isTruthy ?? false
        },
        Lesson(
            title: "The second run",
            text: "The items of this run are those of the next. Leave, and come back: the chapter goes on here.",
            examples: [":quit"], advice: ":quit, then cubby chapter in the shell"
        ) { entry, state in
            if case .relaunched = entry.kind { state.host.items.count > 0 } else { false }
        },
    ]
}

extension LessonEntry {
    /// Whether it is a command that has worked.
    func isCommand(_ name: String) -> Bool {
        if case .command(let own) = kind { own == name && !hasFailed } else { false }
    }
}

extension LessonState {
    /// Whether a global is a class with both methods of NSCoding.
    func isArchivable(_ name: String) -> Bool {
        guard case .table(let table) = host.state.globals[name], case .function = table["encode"],
            case .function = table["init"]
        else { return false }
        return true
    }

    /// Whether an item has a picture.
    var hasPicture: Bool {
        host.items.allItems.contains { item in
            guard let key = try? item.itemKey, let images = try? host.images.images(forKey: key) else { return false }
            return !images.isEmpty
        }
    }
}
