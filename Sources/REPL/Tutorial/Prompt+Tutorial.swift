import Items
import LineEditor
import Lua
import Scripting
import Wording

/// The lessons at the prompt.
extension Prompt {
    /// `:tutorial`, from the start, from a lesson, or from the current one.
    func teach(_ argument: String) {
        switch argument {
        case "stop", "end", "off":
            guard tutorial != nil else { return print("no tutorial is under way; :tutorial begins it\n") }
            let removed = endTutorial()
            return say("The tutorial is over\(removed.map { ": " + $0 } ?? ""). :tutorial begins it again.\n")
        case "next": go(to: tutorial.map { $0.lesson + 1 } ?? 0)
        case "again", "": if tutorial == nil { tutorial = Tutorial(host) }
        default:
            guard let number = Int(argument), Lesson.all.indices.contains(number - 1) else {
                return complain("the lessons are 1 to \(Lesson.all.count); next, again and off lead through them")
            }
            go(to: number - 1)
        }
        showLesson()
    }

    /// Ends the tutorial, and removes what it has made.
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

    private func go(to lesson: Int) {
        if tutorial == nil { tutorial = Tutorial(host) }
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

    private var lamp: Item? {
        tutorial?.lamp(among: [evaluator.scope.locals["lamp"], host.state.globals["lamp"]], host)
    }

    private func showLesson() {
        guard let tutorial, let lesson = tutorial.current else {
            let removed = endTutorial()
            return say(
                "That was the last lesson\(removed.map { ": " + $0 } ?? ""). help() lists what there is; :help the commands. Enjoy your collection.\n"
            )
        }
        var text = StyledText("\(tutorial.lesson + 1) of \(Lesson.all.count): \(lesson.title)", .heading)
        let examples = lesson.advice ?? lesson.examples.joined(separator: "\n")
        let prose = WrappedText.paragraphs(lesson.text, to: printer.columns)
        text.append("\n" + prose + "\nTry:\n" + indented(examples) + "\n")
        print(text)
    }

    private func say(_ text: String) { print(WrappedText.paragraphs(text, to: printer.columns)) }

    private func indented(_ text: String) -> String {
        text.split(separator: "\n").map { "  " + $0 }.joined(separator: "\n")
    }

    /// Checks an entry: the lesson is solved, or a hint is due.
    func tutor(_ entry: LessonEntry) {
        guard tutorial != nil, host.exitCode == nil else { return }
        let lamp = lamp
        guard var tutorial else { return }
        let isSolved = tutorial.check(entry, lamp: lamp, host)
        self.tutorial = tutorial
        if isSolved, let lesson = tutorial.current {
            print(StyledText([.init("✓ \(lesson.title)", .success), .init("\n\n", .plain)]))
            self.tutorial?.go(to: tutorial.lesson + 1, host)
            return showLesson()
        }
        self.tutorial?.failures += 1
        guard let failures = self.tutorial?.failures, failures % 3 == 0 else { return }
        let isLampGone = tutorial.needsLamp && lamp == nil
        let hint =
            isLampGone
            ? "The variable `lamp` has no lamp of the tutorial. :tutorial \(tutorial.lesson + 1) makes one."
            : "Not yet. :tutorial again shows the lesson, :tutorial next skips it."
        print(StyledText([.init(WrappedText.paragraphs(hint, to: printer.columns), .dimmed), .init("\n", .plain)]))
    }

    /// Checks a command or a question, which is not Lua.
    func tutor(_ kind: EntryKind) {
        switch kind {
        case .command(let command):
            // Lua behind a command was checked itself.
            let passed = ["tutorial", "time", "profile", "bench", "edit", "load"]
            if !passed.contains(command.name) { tutor(LessonEntry(.command(command.name), hasFailed: hasFailed)) }
        case .question(let question):
            tutor(LessonEntry(.question, hasFailed: hasFailed || question.subject.isEmpty))
        case .lua: return
        }
    }

    /// Notes that the process stops: Ctrl-Z.
    func tutorialWillStop() { tutorial?.wasStopped = true }

    /// Checks the return to the foreground.
    func tutorialDidReturn() {
        guard tutorial?.wasStopped ?? false else { return }
        tutorial?.wasStopped = false
        tutor(LessonEntry(.returned, hasFailed: false))
    }
}
