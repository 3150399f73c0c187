import LineEditor
import Lua
import Scripting

/// The lessons at the prompt.
extension Prompt {
    /// `:tutorial`, from the start, from a lesson, or from the current one.
    func teach(_ argument: String) {
        switch argument {
        case "stop", "end":
            tutorial = nil
            return print("The tutorial is over; :tutorial begins it again.\n")
        case "next":
            if tutorial == nil { tutorial = Tutorial() } else { tutorial?.advance() }
        case "again": if tutorial == nil { tutorial = Tutorial() }
        case "": if tutorial == nil { tutorial = Tutorial() }
        default:
            guard let number = Int(argument), Lesson.all.indices.contains(number - 1) else {
                return complain("the lessons are 1 to \(Lesson.all.count); next, again and stop lead through them")
            }
            tutorial = Tutorial(lesson: number - 1)
        }
        showLesson()
    }

    private func showLesson() {
        guard let tutorial, let lesson = tutorial.current else {
            self.tutorial = nil
            return print(
                "That was the last lesson. help() lists what there is; :help the commands. Enjoy your collection.\n")
        }
        var text = StyledText("\(tutorial.lesson + 1) of \(Lesson.all.count): \(lesson.title)", .heading)
        text.append("\n" + lesson.text + "\nTry:\n" + indented(lesson.example) + "\n")
        print(text)
    }

    private func indented(_ text: String) -> String {
        text.split(separator: "\n").map { "  " + $0 }.joined(separator: "\n")
    }

    /// Checks an entry: the lesson is solved, or a hint is due.
    func tutor(_ entry: String, _ result: Result<[LuaValue], LuaError>) {
        guard let lesson = tutorial?.current, host.exitCode == nil else { return }
        let value = (try? result.get())?.first ?? .nil
        let source = "local items, app = require('cubby').items, require('cubby').app \(lesson.check)"
        let done = host.run(Array(source.utf8), name: "=tutorial", arguments: [.text(entry), value])
        if case .success(let values) = done, values.first?.isTruthy ?? false {
            print(StyledText([.init("✓ \(lesson.title)", .success), .init("\n\n", .plain)]))
            tutorial?.advance()
            return showLesson()
        }
        tutorial?.failures += 1
        guard let failures = tutorial?.failures, failures % 3 == 0 else { return }
        let hint = "Not yet. :tutorial again shows the lesson, :tutorial next skips it."
        print(StyledText([.init(hint, .dimmed), .init("\n", .plain)]))
    }
}
