import Application
import Foundation
import Items
import LineEditor
import Lua
import Scripting
import TestSupport
import Testing
import Wording

@testable import REPL

/// `:states`, `:trace`, `:inspect`, `:hex`.
@Suite("The application at the prompt") struct ApplicationCommandTests {
    private func boxes(_ screen: String) -> [String] {
        screen.split(separator: "\n").filter { $0.contains("║") }.flatMap { line in
            line.split(separator: "║").map { $0.trimmed }.filter { ApplicationState(rawValue: $0) != nil }
        }
    }

    @Test(arguments: [80, 79, 48])
    func `The states fit the screen, and one is lit`(columns: Int) throws {
        let prompt = try KeptPrompt(columns: columns)
        for entry in ["", "app:pressHome()", "app:open()", "app:interrupt()", "app:endInterruption()", "app:lock()"] {
            let screen = prompt.enter(entry, ":states")
            let lines = screen.split(separator: "\n", omittingEmptySubsequences: false)
            for line in lines { #expect(DisplayWidth.of(line) <= columns, "\(line)") }
            let state = prompt.host.applicationState
            if columns < 79 {
                #expect(screen.contains("▶ \(state.rawValue)\n"))
            } else {
                #expect(lines.count <= 23 && boxes(screen) == [state.rawValue], "\(screen)")
            }
            #expect(screen.contains("\n\(state.rawValue): "))
        }
    }

    @Test func `The way that was taken is shown`() throws {
        let prompt = try KeptPrompt(columns: 160)
        #expect(prompt.enter(":states").contains("  launch  not running → inactive → willFinishLaunching → "))
        let screen = prompt.enter("app:pressHome()", "app:open()", ":states")
        let out = "  script, simulated  active → willResignActive → inactive → background → didEnterBackground → save\n"
        let back = "  script, simulated  background → willEnterForeground → inactive → active → didBecomeActive\n"
        #expect(screen.hasSuffix(out + back) && !screen.contains("launch  "))
        #expect(screen.contains("│ inactive │━━━━━━━━━━━━━━━━━━━▶║ active ║"))
        #expect(screen.contains("│ not running │─────────────────────▷│ inactive │"))
        #expect(screen.contains("didEnterBackground ▼      ▲ willEnterForeground"))
    }

    @Test func `Callbacks are shown from now on, and no more`() throws {
        let prompt = try KeptPrompt()
        #expect(prompt.enter("app:pressHome() app:open()", ":trace").contains("callbacks are not shown"))
        #expect(!prompt.output.contains("applicationDidEnterBackground"))
        prompt.enter(":trace on")
        let shown = prompt.enter("app:pressHome()")
        #expect(shown.contains("applicationWillResignActive(_:)") && shown.contains("background, script, simulated"))
        prompt.enter(":trace off")
        #expect(!prompt.enter("app:open()").contains("applicationWillEnterForeground"))
        #expect(prompt.enter(":trace maybe").contains(":trace takes on or off"))
    }

    @Test func `The archive is a tree, with what the last save changed`() throws {
        let prompt = try KeptPrompt()
        let refused = prompt.enter(":inspect items.archivePath").split { $0.isWhitespace }
        #expect(
            refused.joined(separator: " ").hasSuffix(
                "No such file or directory; nothing was saved yet: items:saveChanges() writes it"))
        prompt.enter("lamp = items:createItem{ name = 'Lamp', room = 'Study' }", "items:saveChanges()")
        let first = prompt.enter(":inspect items.archivePath")
        #expect(first.contains("The last save was the first.") && first.contains("keyed archive, binary"))
        #expect(first.contains("name: \"Lamp\"") && first.contains("room: \"Study\""))
        prompt.enter("lamp.room = 'Attic'", "items:createItem{ name = 'Desk' }", "items:saveChanges()")
        let second = prompt.enter(":inspect items.archivePath")
        #expect(second.contains("The last save changed:"))
        #expect(second.contains("room: \"Study\" → \"Attic\"") && second.contains("+ root[1]: Item"), "\(second)")
        prompt.enter("lamp.room = 'Hall'")
        #expect(prompt.enter(":inspect items.archivePath").contains("There are changes since"))
        let part = prompt.enter(":inspect items.archivePath, 'root[0].room'")
        #expect(part == "\"Attic\"\n")
        #expect(prompt.enter(":inspect data(plist.encode{ a = 1 })").contains("a: 1"))
        #expect(prompt.enter(":inspect items").contains("takes text or data"))
        #expect(prompt.enter(":inspect nil, 'x'").contains("x"))
        #expect(prompt.enter(":inspect '/etc/none'").contains("sandbox"))
        #expect(prompt.enter(":inspect 'bplist00'").hasSuffix("\n") && prompt.session.hasFailed)
        #expect(prompt.enter(":inspect items.archivePath, 'root[9]'").contains("there is no"))
        #expect(prompt.enter(":inspect").contains(":inspect takes the path"))
    }

    @Test(arguments: [
        (":hex 'abc'", "00000000  61 62 63                                          |abc|\n"),
        (":hex 'abc', 1", "00000001  62 63                                             |bc|\n"),
        (
            ":hex 'abc' 1, 1",
            "00000001  62                                                |b|\n… and 1 more byte: :hex 'abc', 2\n"
        ),
        (
            ":hex 'abc' 1 1",
            "00000001  62                                                |b|\n… and 1 more byte: :hex 'abc', 2\n"
        ),
        (":hex data('\\0\\255'):bytes() 0, 2", "00000000  00 ff                                             |..|\n"),
        (":hex ''", ""), (":hex 'abc', 3", ""),
    ])
    func `Bytes are shown with their characters`(entry: String, text: String) throws {
        #expect(try KeptPrompt().enter(entry) == text)
    }

    @Test func `A dump is lines, and another text is a value`() throws {
        let prompt = try KeptPrompt()
        let line = "00000000  61 62 63                                          |abc|"
        #expect(prompt.enter("data('abc'):dump()") == line + "\n")
        #expect(prompt.enter("d = data('abc'); return d:dump((0), 3)") == line + "\n")
        #expect(prompt.enter("(data('abc'):dump())").hasPrefix("\""))
        #expect(prompt.enter("'dump()'") == "\"dump()\"\n")
    }

    @Test(arguments: [
        (":hex", ":hex takes text or data"), (":hex 12", "takes text or data"), (":hex 'abc', 4", "behind the end"),
        (":hex 'abc', -1", "from 0"), (":hex fs.read('/none')", "sandbox"), (":hex nope(", "expected"),
        (":hex nil, 0, 4", "takes text or data, got nil"),
    ])
    func `What is no bytes is said`(entry: String, text: String) throws {
        let prompt = try KeptPrompt()
        #expect(prompt.enter(entry).contains(text) && prompt.session.hasFailed, "\(prompt.output)")
    }

    @Test func `Many bytes are cut, and the screen's width is kept`() throws {
        let prompt = try KeptPrompt(columns: 60)
        let lines = prompt.enter(":hex ('x'):rep(10000)").split(separator: "\n")
        #expect(lines.count == 513 && lines.last == "… and 5,904 more bytes: :hex ('x'):rep(10000), 4096")
        for line in lines { #expect(DisplayWidth.of(line) <= 60) }
    }

    @Test func `The drawings of the page have every transition`() throws {
        let page = try String(contentsOfFile: "\(Project.root)/docs/life-cycle.md", encoding: .utf8)
        var (machine, trail) = (LifeCycleMachine(), LifeCycleTrail())
        let events: [(ApplicationEvent, LifeCycleCause)] = [
            (.launch(inBackground: false), .launch), (.suspend, .sigtstp), (.resume(inForeground: true), .sigcont),
        ]
        for (event, cause) in events {
            let start = machine.state
            let actions = try machine.handle(event)
            trail.add(try #require(LifeCycleWay(from: start, actions, cause, isSimulated: false)))
        }
        let diagram = StatesDiagram(state: machine.state, ways: Array(trail.latest), columns: 80)
        #expect(page.contains("```text\n> :states\n\(diagram.text.text)```\n"), "\(diagram.text.text)")
        let picture = try String(contentsOfFile: "\(Project.root)/docs/states.svg", encoding: .utf8)
        for state in ApplicationState.allCases { #expect(picture.contains(">\(StatesDiagram.name(state))<")) }
        for callback in LifeCycleCallback.allCases where callback != .didReceiveMemoryWarning {
            #expect(picture.contains(callback.rawValue), "scripts/lib/states_svg.py draws it")
            #expect(diagram.text.text.contains(callback.rawValue))
        }
        #expect(picture.hasPrefix("<svg xmlns=") && picture.hasSuffix("</svg>\n"))
    }
}
