import Items
import LineEditor
import Lua
import PredicateFormat
import Scripting

/// The progress in the lessons of a course, and what they leave to be removed.
struct Tutorial {
    static let lampName = "Tutorial Lamp"
    /// The lesson that registers a handler.
    private static let handlerLesson = 10

    let course: Course
    /// The current lesson, from 0.
    private(set) var lesson: Int
    /// The number of failed attempts at this lesson.
    var failures = 0
    /// The keys of the items of the lamp's name that were there before.
    private let formerKeys: Set<String>
    /// The key of the lamp.
    private(set) var lampKey: String?
    /// Whether the lamp's value was changed in this lesson.
    private(set) var hasChangedValue = false
    /// The handlers registered before this lesson.
    private(set) var formerHandlers: ScriptHandlers
    /// The handlers that solved a lesson.
    private(set) var handlers = ScriptHandlers()
    /// Whether the process was stopped since the last entry.
    var wasStopped = false

    init(_ host: ScriptHost, _ course: Course, lesson: Int = 0) {
        self.course = course
        self.lesson = lesson
        formerKeys = Set(Self.lamps(of: host).compactMap { try? $0.itemKey })
        formerHandlers = host.scriptHandlers
    }

    var current: Lesson? { course.lessons.indices.contains(lesson) ? course.lessons[lesson] : nil }

    /// Whether the lesson is about the lamp.
    var needsLamp: Bool { !course.isPersistent && (2...9).contains(lesson) }

    /// Goes to another lesson.
    mutating func go(to lesson: Int, _ host: ScriptHost) {
        self.lesson = lesson
        failures = 0
        hasChangedValue = false
        formerHandlers = host.scriptHandlers
        course.keep(lesson, in: host)
    }

    /// The lamp among the values of the variable `lamp`: an item that was not there before.
    func lamp(among values: [LuaValue], _ host: ScriptHost) -> Item? {
        for value in values {
            guard case .item(let item) = host.inspect(value), let key = try? item.itemKey, !formerKeys.contains(key),
                key == lampKey || (try? item.name) == Self.lampName
            else { continue }
            return item
        }
        return nil
    }

    /// Checks an entry.
    ///
    /// - Returns: whether it solves the lesson.
    mutating func check(_ entry: LessonEntry, lamp: Item?, _ host: ScriptHost) -> Bool {
        let state = LessonState(host: host, tutorial: self, lamp: lamp)
        lampKey = lamp.flatMap { try? $0.itemKey } ?? lampKey
        guard let current, current.isSolved(entry, state) else {
            if let value = state.value, value != 45 { hasChangedValue = true }
            return false
        }
        if !course.isPersistent, lesson == Self.handlerLesson { handlers.add(state.handlers) }
        return true
    }

    /// Removes the items and the handlers that the lessons have made.
    ///
    /// - Returns: what was removed, in words; nil for nothing.
    func cleanUp(_ host: ScriptHost) -> String? {
        if course.isPersistent { return nil }
        var removed: [String] = []
        var failure: String?
        var lamps = Self.lamps(of: host)
        if let lampKey, let lamp = host.items.item(forKey: lampKey), (try? lamp.name) != Self.lampName {
            lamps.append(lamp)
        }
        lamps = lamps.filter { lamp in (try? lamp.itemKey).map { !formerKeys.contains($0) } ?? false }
        if !lamps.isEmpty {
            do throws(StoreError) {
                try host.items.removeItems(lamps)
                try host.items.commit()
                removed.append("the lamp")
            } catch { failure = "the lamp of the tutorial stays: \(error.message)" }
        }
        if host.remove(handlers) > 0 { removed.append("the handler") }
        if let failure { return failure }
        let verb = removed.count == 1 ? "was" : "were"
        return removed.isEmpty ? nil : "\(removed.joined(separator: " and ")) of the tutorial \(verb) removed"
    }

    private static func lamps(of host: ScriptHost) -> [Item] {
        guard let query = try? host.items.query(FormatPredicate(format: "name == '\(lampName)'")) else { return [] }
        return (try? query.all()) ?? []
    }
}

/// The lessons at the prompt.
extension PromptSession {
    /// `:tutorial`, from the start, from a lesson, or from the current one.
    func teach(_ argument: String) {
        guard host.items.schema.isHousehold else {
            return complain("the tutorial is about a household's items: cubby --container :memory: begins without any")
        }
        teach(argument, .tutorial)
    }

    /// `:chapter`, from where it was left.
    func teachChapter(_ argument: String) {
        guard settings.offersChapter else {
            return complain("cubby chapter opens the chapter, in a container of its own")
        }
        teach(argument, .chapter)
    }

    /// Begins the chapter with the prompt, or resumes it.
    func beginChapter() {
        let place = Course.chapter.place(in: host)
        if place == Course.chapter.lessons.count {
            return say("The chapter was gone through to its end. What you made is here; :chapter 1 begins it again.\n")
        }
        say(
            "\(place == 0 ? "The chapter checks what you do." : "The chapter goes on where it was left.") "
                + ":chapter shows the step, :chapter next skips it, :chapter 1 begins again. Leave at any time: cubby chapter resumes it.\n\n"
        )
        teach("", .chapter)
        if place > 0 { tutor(LessonEntry(.relaunched, hasFailed: false), hints: false) }
    }

    private func teach(_ argument: String, _ course: Course) {
        if let tutorial, tutorial.course.command != course.command { endTutorial() }
        switch argument {
        case "stop", "end", "off":
            guard tutorial != nil else {
                return print("no \(course.command) is under way; :\(course.command) begins it\n")
            }
            let removed = endTutorial()
            return say(
                "The \(course.command) is over\(removed.map { ": " + $0 } ?? ""). :\(course.command) "
                    + (course.isPersistent ? "goes on at this step.\n" : "begins it again.\n")
            )
        case "next": go(to: tutorial.map { $0.lesson + 1 } ?? course.place(in: host), course)
        case "again", "":
            if tutorial == nil { tutorial = Tutorial(host, course, lesson: course.place(in: host)) }
        default:
            guard let number = Int(argument), course.lessons.indices.contains(number - 1) else {
                return complain(
                    "the \(course.word)s are 1 to \(course.lessons.count); next, again and off lead through them")
            }
            go(to: number - 1, course)
        }
        showLesson()
    }

    /// Ends the tutorial, and removes what it has made. What the chapter has made stays, and so does its place.
    ///
    /// - Returns: what was removed, in words.
    @discardableResult
    func endTutorial() -> String? {
        guard let tutorial, !host.items.isInTransaction else { return nil }
        for variables in [host.state.globals, evaluator.scope.locals]
        where tutorial.lamp(among: [variables["lamp"]], host) != nil { variables["lamp"] = .nil }
        self.tutorial = nil
        return tutorial.cleanUp(host)
    }

    private func go(to lesson: Int, _ course: Course) {
        if tutorial == nil { tutorial = Tutorial(host, course) }
        tutorial?.go(to: lesson, host)
        // A lesson that was skipped may have made it.
        guard tutorial?.needsLamp ?? false, lamp == nil else { return }
        let source = """
            lamp = require("cubby").items:createItem{
              name = "\(Tutorial.lampName)", valueInDollars = 45, room = "\(lesson < 4 ? "Study" : "Attic")" }
            """
        guard
            let chunk = try? host.state.load(
                Array(source.utf8), name: "=tutorial", environment: evaluator.scope.environment),
            case .success = host.run(chunk)
        else { return }
        say("The lamp of the lessons before is made for you: its variable is `lamp`.\n\n")
    }

    /// The rows of a screen that has room for a drawing of the states and the text of a step.
    private static let roomyRows = 40

    private var lamp: Item? {
        tutorial?.lamp(among: [evaluator.scope.locals["lamp"], host.state.globals["lamp"]], host)
    }

    private func showLesson() {
        guard let tutorial, let lesson = tutorial.current else {
            let isChapter = tutorial?.course.isPersistent ?? false
            let removed = endTutorial()
            return say(
                isChapter
                    ? "That was the chapter. What you made stays here; :chapter 1 begins it again.\n"
                    : "That was the last lesson\(removed.map { ": " + $0 } ?? ""). help() lists what there is; :help the commands. Enjoy your collection.\n"
            )
        }
        var text = StyledText("\(tutorial.lesson + 1) of \(tutorial.course.lessons.count): \(lesson.title)", .heading)
        let examples = lesson.advice ?? lesson.examples.joined(separator: "\n")
        let prose = WrappedText.paragraphs(lesson.text, to: printer.columns)
        text.append("\n" + prose + "\n")
        for (language, line) in [("Objective-C", lesson.objectiveC), ("Swift", lesson.swift)] {
            guard let line else { continue }
            text.append(
                WrappedText.wrapped("  \(language.padded(to: 11))  \(line)", to: printer.columns) + "\n", .dimmed)
        }
        text.append("Try:\n" + indented(examples) + "\n")
        print(text)
    }

    private func say(_ text: String) { print(WrappedText.paragraphs(text, to: printer.columns)) }

    private func indented(_ text: String) -> String {
        text.split(separator: "\n").map { "  " + $0 }.joined(separator: "\n")
    }

    /// Checks an entry: the lesson is solved, or a hint is due.
    func tutor(_ entry: LessonEntry, hints: Bool = true) {
        guard tutorial != nil, host.exitCode == nil else { return }
        let lamp = lamp
        guard var tutorial else { return }
        let isSolved = tutorial.check(entry, lamp: lamp, host)
        self.tutorial = tutorial
        if isSolved, let lesson = tutorial.current {
            self.tutorial?.go(to: tutorial.lesson + 1, host)
            let isDrawn = if case .command("states") = entry.kind { true } else { false }
            if isDrawn, printer.rows < Self.roomyRows, let next = self.tutorial?.current {
                // The text of the next step would push what is lit in the drawing off the screen.
                print(
                    StyledText([
                        .init("✓ \(lesson.title)", .success),
                        .init(" · :chapter shows step \(tutorial.lesson + 2), \(next.title)\n", .plain),
                    ]))
                return
            }
            print(StyledText([.init("✓ \(lesson.title)", .success), .init("\n\n", .plain)]))
            return showLesson()
        }
        guard hints else { return }
        self.tutorial?.failures += 1
        // A step of several entries is not solved by the first of them.
        let patience = max(3, tutorial.current?.entries.count ?? 0)
        guard let failures = self.tutorial?.failures, failures % patience == 0 else { return }
        let isLampGone = tutorial.needsLamp && lamp == nil
        let hint =
            isLampGone
            ? "The variable `lamp` has no lamp of the tutorial. :tutorial \(tutorial.lesson + 1) makes one."
            : "Not yet. :\(tutorial.course.command) again shows the \(tutorial.course.word), :\(tutorial.course.command) next skips it."
        print(StyledText([.init(WrappedText.paragraphs(hint, to: printer.columns), .dimmed), .init("\n", .plain)]))
    }

    /// Checks a command or a question, which is not Lua.
    func tutor(_ kind: EntryKind) {
        switch kind {
        case .command(let command):
            // Lua behind a command was checked itself.
            if !Command.all.contains(where: { $0.isChecked && $0.name == command.name }) {
                tutor(LessonEntry(.command(command.name), hasFailed: hasFailed))
            }
        case .question(let question):
            tutor(LessonEntry(.question, hasFailed: hasFailed || question.subject.isEmpty))
        case .lua: return
        }
    }

    /// Records that the process stops: Ctrl-Z.
    func tutorialWillStop() { tutorial?.wasStopped = true }

    /// Checks the return to the foreground.
    func tutorialDidReturn() {
        guard tutorial?.wasStopped ?? false else { return }
        tutorial?.wasStopped = false
        tutor(LessonEntry(.returned, hasFailed: false))
    }
}
