import Application
import Lua
import PropertyList
package import Scripting

/// `clock`, `replace` and `fault`: the world of a test.
package enum SceneModule: ScriptModule {
    package static let name = "scene"
    package static let needs = ["test"]

    package static func declare(in host: ScriptHost) throws -> [Global] {
        try takeClock(of: host)
        return [try clock(host), replacements(host), faults(host)]
    }

    // MARK: The clock

    private final class TestClock {
        unowned let host: ScriptHost
        init(_ host: ScriptHost) { self.host = host }
    }

    private static func clock(_ host: ScriptHost) throws -> Global {
        let cls = LuaClass<TestClock>(
            "clock",
            doc:
                "The clock of a test. It stands, until the test moves it or waits: nothing waits in fact. Timers, dates, os.time and the budgets of handlers follow.",
            in: host.state)
        cls.method(
            "advance", [LuaParameter("seconds", .number, "0 or more")],
            doc: "Lets time pass: each timer that is due is called at its time before this returns.",
            example: "local count = 0 timer.every(1, function() count = count + 1 end) clock:advance(3) return count"
        ) { clock, call in
            let seconds = try call.number(0)
            guard seconds >= 0, seconds <= 3_000_000_000 else {
                throw call.refuse(0, "a number of seconds from 0 to 3,000,000,000 expected, got \(seconds)")
            }
            try TestModule.scene(clock.host).advance(by: seconds)
            return call.returnsNothing()
        }
        let dates = host.values.dates
        cls.method(
            "set", [LuaParameter("moment", .union([.object("date"), .text]), "a date, or its text")],
            doc:
                "Sets the date and the time of day. Daily timers that this makes due are called; others are not touched.",
            example: "clock:set(\"2026-11-21T02:29:00Z\") return date()"
        ) { clock, call in
            var value = call.value(0)
            if case .string = value, case .table(let date) = call.state.globals["date"],
                let made = try LuaValue.table(date).callable?.call(value)
            {
                guard made.count == 1, let first = made.first else {
                    throw call.refuse(0, "'\(value.textValue ?? "")' is not a date")
                }
                value = first
            }
            guard let moment = dates.object(of: value) else { throw call.refuse(0, "a date expected") }
            let seconds = moment.date.secondsSince1970
            guard abs(seconds) < 9_000_000_000 else {
                throw call.refuse(0, "a date of the years 1685 to 2255 expected, as the clock has")
            }
            // To the microsecond, as dates have it.
            try TestModule.scene(clock.host).set(wall: Int64((seconds * 1e6).rounded()) * 1000)
            return call.returnsNothing()
        }
        cls.metamethod("__tostring") { _, call in call.returns("clock") }
        cls.declareGlobalObject()
        return ("clock", cls.value(TestClock(host)))
    }

    /// Lua's own functions of time read the clock of the test.
    private static func takeClock(of host: ScriptHost) throws {
        let state = host.state
        let now = state.makeFunction("now", []) { () -> Int64 in
            Int64(PropertyListDate.now().secondsSince1970.rounded(.down))
        }
        let source = """
            local now, time, format = ..., os.time, os.date
            os.time = function(parts, ...)
              if parts == nil then return now() end
              return time(parts, ...)
            end
            os.date = function(pattern, moment, ...)
              if moment == nil then moment = now() end
              return format(pattern or "%c", moment, ...)
            end
            """
        try state.load(Array(source.utf8), name: "=(clock)").call(.function(now))
    }

    // MARK: Programs and requests

    private static func replacements(_ host: ScriptHost) -> Global {
        let module = LuaModule(
            "replace", doc: "Functions in place of programs and of the network, for one test.", in: host.state)
        module.function(
            "program",
            [
                "name": "the program's name, as the command begins",
                "body": .callback(
                    "(arguments: string[], input: function)",
                    "called in its place; returns the output or nil, and an exit status (default: 0)"),
            ],
            doc:
                "Has a function called in place of a program, by os.execute and io.popen. It gets the words behind the name; a command that needs a shell is one word. For io.popen with \"w\", `input` returns what the script has written.",
            example:
                "replace.program(\"tar\", function(arguments) return \"12 files\\n\" end) return io.popen(\"tar -cf a b\"):read(\"a\")"
        ) { [unowned host] (name: String, body: LuaFunction) in
            _ = try TestModule.scene(host)
            host.replacements.programs[name] = body
        }
        module.function(
            "http",
            [
                "body": .callback(
                    "(request: table)",
                    "gets `method`, `url`, `headers` and `body`; returns a table of `status`, `headers` and `body`, or nil and an error"
                )
            ],
            doc: "Has a function answer the requests of scripts: nothing is sent.",
            example: "replace.http(function(request) return { status = 200, body = \"ok\" } end)"
        ) { [unowned host] (body: LuaFunction) in
            _ = try TestModule.scene(host)
            host.replacements.http = body
        }
        return module.global
    }

    // MARK: Faults

    private static func faults(_ host: ScriptHost) -> Global {
        let module = LuaModule("fault", doc: "Failures put into the next save of a test.", in: host.state)
        module.function(
            "save", ["reason": "what the system would say (default: \"No space left on device\")"],
            doc: "Has the next save fail: its archive cannot be written.",
            example: "fault.save(\"disk full\")"
        ) { [unowned host] (reason: String?) in
            try TestModule.scene(host).faults.failNextSave(reason ?? "No space left on device")
        }
        let steps = SaveFaults.Step.allCases.map(\.rawValue)
        module.function(
            "kill",
            [
                "step": .choice(
                    steps,
                    "half of the archive is written; it is written; it is on the disk under another name; it is in its place beside the old journal (default: \"rename\")"
                )
            ],
            doc:
                "Kills the application at a step of its next save, as kill -9 does. The next function of the test runs in the launch after it.",
            example: "fault.kill(\"rename\")"
        ) { [unowned host] (step: String?) in
            let chosen = step.flatMap(SaveFaults.Step.init) ?? .rename
            try TestModule.scene(host).faults.kill(at: chosen)
        }
        return module.global
    }
}
