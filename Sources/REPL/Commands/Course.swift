import Application
import Images
import Items
import Lua
import PropertyList
import Scripting

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
        host.commit()
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
