import Application
import Foundation
import Items
import LineEditor
import Lua
import PropertyList
import Scripting
import TestSupport
import Testing
import Wording

@testable import REPL

@Suite("The tutorial") struct TutorialTests {
    @Test(arguments: [80, 40])
    func `Its examples lead through it, its lines fit, and nothing of it stays`(columns: Int) throws {
        let prompt = try KeptPrompt(columns: columns)
        let hooks = prompt.hooks
        var shown = prompt.enter(":tutorial")
        for (place, lesson) in Lesson.all.enumerated() {
            #expect(prompt.lesson == place + 1, "\(lesson.title)")
            let lines = prompt.enter(":tutorial again").split(separator: "\n")
            for line in lines { #expect(DisplayWidth.of(line) <= columns, "\(line)") }
            #expect(lines.count < 20 && shown.hasSuffix(prompt.output))
            shown = ""
            for example in lesson.examples { shown += prompt.enter(example) }
            #expect(shown.contains("✓ \(lesson.title)"))
        }
        #expect(prompt.lesson == nil)
        #expect(
            shown.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains(
                "the lamp and the handler of the tutorial were removed"))
        #expect(prompt.hooks == hooks && prompt.lamps == 0)
        #expect(prompt.enter("lamp").contains("nil"))
    }

    @Test(arguments: Array(1...12))
    func `A lesson is not passed by something else`(number: Int) throws {
        let prompt = try KeptPrompt()
        prompt.enter(":tutorial \(number)")
        let others = [
            "", "42", "1 + 1", "nope()", "x = = 1", "print('help items:query( for transaction undo')", ":time",
            ":hooks",
            ":nonsense", "?nothingofthisname", "?", "items:query()", "items:query():count()", "-- for query(",
            "'6 * 7'",
            "items:createItem{ name = 'Lamp', valueInDollars = 45 }", "items:transaction()",
            "items:transaction(function() end)", "items:undo(0)", "app:on('willSave', function() end)", ":undo nothing",
            "lamp2 = lamp", "lamp.room", "_err", "app.state",
        ]
        for other in others {
            prompt.enter(other)
            #expect(prompt.lesson == number, "\(other)")
        }
    }

    @Test(arguments: [
        (1, ["7*6"]), (1, ["return 6 * 7.0"]),
        (2, ["lamp = items:createItem{ valueInDollars = 45, name = 'Tutorial Lamp' }"]),
        (2, ["items:createItem{ valueInDollars = 45, name = 'Tutorial Lamp' }", "lamp = _"]),
        (2, ["local lamp = items:createItem{ valueInDollars = 45, name = 'Tutorial Lamp' }"]),
        (3, ["lamp . valueInDollars"]), (4, ["items:query():update{ room = 'Attic' }"]), (5, ["lamp", "_.name"]),
        (6, ["items:query([[room == 'Attic']]):count()"]),
        (6, ["items:query():where('valueInDollars == 45'):all()"]), (6, ["items:query'room == \"Attic\"'"]),
        (7, [":help"]), (7, ["help()"]), (7, ["help(items)"]), (7, ["items?"]), (7, ["??createItem"]), (7, ["help"]),
        (7, [":help :undo"]),
        (8, ["for i = 1, 2 do print(i) end"]), (8, ["while false do\nend"]),
        (9, ["items:transaction(function() lamp.valueInDollars = 1; error('no') end)"]),
        (9, ["pcall(function() items:transaction(function() error('x') end) end)"]),
        (10, ["lamp.valueInDollars = 9", "items:undo()"]), (10, ["lamp.valueInDollars = 9 items:undo()"]),
        (11, ["app:on('didSave', { id = 'mine' }, function() end)"]), (12, ["app:pressHome() app:open()"]),
    ])
    func `Other ways to do what is asked are ways`(number: Int, entries: [String]) throws {
        let prompt = try KeptPrompt()
        prompt.enter(":tutorial \(number)")
        for entry in entries { prompt.enter(entry) }
        #expect(prompt.lesson == (number == 12 ? nil : number + 1), "\(prompt.output)")
    }

    @Test func `Left in the middle it leaves nothing but what was there`() throws {
        for end in [":tutorial off", ":tutorial stop", ":quit", "app:terminate()"] {
            let prompt = try KeptPrompt()
            prompt.enter("items:createItem{ name = 'Tutorial Lamp', mine = true }")
            prompt.enter("app:on('didSave', { id = 'tutorial' }, function() end)")
            let hooks = prompt.hooks
            prompt.enter(":tutorial 2")
            prompt.enter(Lesson.all[1].examples[0], ":tutorial 11", Lesson.all[10].examples[0], "nope()")
            #expect(prompt.lamps == 2 && prompt.hooks != hooks)
            prompt.enter(end)
            #expect(prompt.lamps == 1 && prompt.session.tutorial == nil, "\(end)")
            #expect(try prompt.host.items[0]?.value(forField: "mine") == .boolean(true))
            if end.hasPrefix(":tutorial") { #expect(prompt.hooks == hooks) }
        }
    }

    @Test func `Without the lamp a lesson says how to get one`() throws {
        let prompt = try KeptPrompt()
        prompt.enter(":tutorial 4", "items:removeItem(lamp)", "1", "2")
        #expect(prompt.output.contains(":tutorial 4 makes one"))
        #expect(prompt.enter(":tutorial 4").contains("is made for you"))
        prompt.enter("lamp.room = 'Attic'")
        #expect(prompt.lesson == 5)
    }
}

@Suite("The chapter") struct ChapterTests {
    private func prompt(columns: Int = 80) throws -> KeptPrompt {
        let prompt = try KeptPrompt(columns: columns)
        prompt.session.settings.offersChapter = true
        return prompt
    }

    @Test func `Its examples lead through it, its lines fit, and what they make stays`() throws {
        let prompt = try prompt()
        prompt.session.beginChapter()
        #expect(prompt.output.contains("The chapter checks what you do."))
        var shown = prompt.output
        var former = ""
        for (place, lesson) in Lesson.chapter.dropLast().enumerated() {
            #expect(prompt.lesson == place + 1, "\(lesson.title)")
            let lines = prompt.enter(":chapter").split(separator: "\n")
            for line in lines { #expect(DisplayWidth.of(line) <= 80, "\(line)") }
            let isSaid = shown.hasSuffix("✓ \(former) · :chapter shows step \(place + 1), \(lesson.title)\n")
            #expect(lines.count < 18 && (shown.hasSuffix(prompt.output) || isSaid), "\(shown)")
            // Below a drawing there is no room for the next step.
            #expect(isSaid == (former == "The states" || former == "The way that was taken"))
            shown = ""
            for example in lesson.examples { shown += prompt.enter(example) }
            #expect(shown.contains("✓ \(lesson.title)"), "\(shown)")
            former = lesson.title
        }
        #expect(prompt.lesson == Lesson.chapter.count)
        #expect(prompt.enter(":chapter off").contains(":chapter goes on at this step"))
        #expect(prompt.session.tutorial == nil && prompt.host.items.count == 1)
        #expect(!prompt.host.scriptHandlers.of("didEnterBackground").isEmpty)
        prompt.output = ""
        prompt.session.beginChapter()
        #expect(prompt.output.contains("The chapter goes on where it was left."))
        #expect(prompt.output.contains("✓ The second run") && prompt.output.contains("That was the chapter."))
    }

    @Test func `Its screens are those of these steps`() throws {
        let screens = PromptCapture.all(in: "chapter")
        for (place, lesson) in Lesson.chapter.enumerated() {
            let name = "\(place + 1) of \(Lesson.chapter.count): \(lesson.title)"
            let screen = try #require(screens.first { $0.name == name }, "no screen: \(name)")
            #expect(screen.screen.contains("✓ \(lesson.title)"), "\(name)")
            let lines = lesson.entries.flatMap { $0.split(separator: "\n").map(String.init) }
            #expect(lesson.advice != nil || screen.typed == lines, "\(name)")
        }
        #expect(screens.contains { $0.name == "left and resumed" })
        let page = try String(contentsOfFile: "\(Project.root)/docs/chapter.md", encoding: .utf8)
        let blocks = page.split(separator: "\n").count { $0.hasPrefix("```lua") || $0.hasPrefix("```console") }
        #expect(blocks >= 13 && screens.count { $0.name.hasSuffix("of the page") } == blocks)
    }

    @Test func `It is left and resumed at its step`() throws {
        let prompt = try prompt()
        prompt.session.beginChapter()
        prompt.enter(Lesson.chapter[0].examples[0], ":chapter next", ":chapter off")
        #expect(prompt.enter(":chapter off").contains("no chapter is under way"))
        #expect(prompt.enter(":chapter").contains("3 of 15"))
        prompt.enter(":tutorial")
        #expect(prompt.session.tutorial?.course.command == "tutorial")
        #expect(prompt.enter(":chapter").contains("3 of 15"))
        #expect(prompt.enter(":chapter 16").contains("the steps are 1 to 15"))
        #expect(prompt.enter(":chapter 5", "1", "2", "3").contains("Not yet. :chapter again"))
        // Who types the entries of a step one by one gets no hint.
        let several = Lesson.chapter.indices.filter { Lesson.chapter[$0].entries.count > 2 }
        #expect(several.count >= 2)
        for place in several {
            var shown = prompt.enter(":chapter \(place + 1)")
            for entry in Lesson.chapter[place].entries { shown += prompt.enter(entry) }
            #expect(shown.contains("✓ \(Lesson.chapter[place].title)") && !shown.contains("Not yet."))
        }
    }

    @Test(arguments: Array(1...15))
    func `A step is not passed by something else`(number: Int) throws {
        let prompt = try prompt()
        prompt.enter("items:createItem{ name = 'Lamp' }", ":chapter \(number)")
        let others = [
            "", "42", "nope()", "x = = 1", ":time", ":hooks", ":inspect", ":inspect '/none'", "#items", "app.state",
            "items[1].name", "-- items:createItem()", "print('items:saveChanges()')", ":states now", "fs.exists('x')",
            "archiver.archivedData('x')", "app:on('didSave', print)",
        ]
        for other in others {
            prompt.enter(other)
            #expect(prompt.lesson == number, "\(other)")
        }
    }

    @Test func `Elsewhere the command says where it is`() throws {
        let prompt = try KeptPrompt()
        #expect(prompt.enter(":chapter").contains("cubby chapter opens the chapter"))
        #expect(prompt.session.hasFailed && prompt.session.tutorial == nil)
    }
}

@Suite("Commands of the prompt") struct PromptCommandTests {
    @Test(arguments: ["break", "debug"] + Command.atBreaks.map(\.name))
    func `Where no break is shown, the debugger's commands say so`(name: String) throws {
        let prompt = try KeptPrompt()
        #expect(prompt.enter(":\(name)").contains("':\(name)' is for the prompt of the host itself"))
        #expect(prompt.session.hasFailed)
    }

    @Test(":undo and :redo do not run what a script made of globals")
    func undo() throws {
        let prompt = try KeptPrompt()
        prompt.enter("items:createItem{ name = 'Lamp' }")
        prompt.enter("ran = 0 function require() ran = ran + 1 end items = { undo = require }")
        #expect(prompt.enter(":undo").contains("undone") && prompt.lamps == 0)
        prompt.enter(":redo")
        #expect(prompt.lamps == 1)
        #expect(prompt.enter("ran") == "0\n")
    }
}
