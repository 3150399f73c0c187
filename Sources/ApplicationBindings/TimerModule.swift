import Application
import Logging
import Lua
package import Scripting
import TimeZones

/// `timer`: delayed functions, and waiting.
package enum TimerModule: ScriptModule {
    package static let name = "timer"

    package static func declare(in host: ScriptHost) -> [Global] {
        host.state.addClass(ScriptTimer.self)
        let module = LuaModule("timer", doc: "Functions that run later, while the host serves events.", in: host.state)
        for (name, repeats, documentation) in [
            ("after", false, "Runs a function once after a delay."),
            ("every", true, "Runs a function repeatedly. After three failures in a row the timer is paused."),
        ] {
            module.function(
                name, ["seconds": "0 or more", "handler": "the function to call"], doc: documentation,
                example: "local t = timer.\(name)(0.01, function() print(\"now\") end) timer.sleep(0.02) t:cancel()"
            ) { [unowned host] (seconds: Double, handler: LuaCallback<LuaNothing>) in
                try check(seconds)
                return host.timer("\(name) \(seconds) s", handler.function, repeats: repeats) { fire in
                    let timer =
                        repeats ? host.loop.every(seconds, handler: fire) : host.loop.after(seconds, handler: fire)
                    return { [weak timer] in timer?.cancel() }
                }
            }
        }
        installDaily(module, in: host)
        module.function(
            "sleep", [LuaParameter("seconds", .number, "0 or more")],
            doc: "Waits; timers, signals and other tasks continue meanwhile.",
            example: "timer.sleep(0.01)"
        ) { [unowned host] call in
            let seconds = try call.number(0)
            try check(seconds)
            try host.lifeCycle.saver.settle()
            return try host.scheduler.wait(call) { resume in
                let timer = host.loop.after(seconds, handler: resume)
                return { timer.cancel() }
            }
        }
        installRetry(module, in: host)
        return [module.global]
    }

    private static func installRetry(_ module: LuaModule, in host: ScriptHost) {
        module.function(
            "retry", [LuaParameter("options", Retrying.type, "the function, and when it is called again")],
            returns: [.variadic(.any)],
            doc: """
                Calls a function until it succeeds: a call fails when it raises, or returns nil and an error. Returns what the \
                function has returned, or nil and the last error. Timers, signals and other tasks continue meanwhile; a time \
                limit and Ctrl-C end the row at once.
                """,
            example:
                "return timer.retry{ times = 3, delay = 0.01, run = function(call) assert(call == 2, \"too early\") return \"done\" end }"
        ) { [unowned host] call in
            let (schedule, function) = try Retrying.read(call)
            return try host.retry(call, function, schedule)
        }
    }

    /// The options of `timer.retry`.
    private struct Retrying: LuaOptions {
        var schedule = RetrySchedule()
        var run: LuaFunction?

        static var luaOptions: [LuaOption<Retrying>] {
            LuaOption("times", \.schedule.times, doc: "the greatest number of calls (default: 3)")
            LuaOption("delay", \.schedule.delay, doc: "seconds before the second call (default: 1)")
            LuaOption(
                "factor", \.schedule.factor, doc: "the growth of the delay from one call to the next (default: 2)")
            LuaOption(
                "jitter", \.schedule.jitter,
                doc: "the part of a delay, 0 to 1, by which it is longer or shorter at random (default: 0)")
            LuaOption(
                "run", \.run,
                doc: .callback("(call: integer) → any…", "the function, called with the number of the call, from 1"))
        }

        /// Without a function there is nothing to call.
        static var type: LuaType { if case .optional(let type) = luaType { type } else { luaType } }

        static func read(_ call: LuaCall) throws(LuaMismatch) -> (RetrySchedule, LuaFunction) {
            func refuse(_ option: String, _ expected: String, _ got: some Any) -> LuaMismatch {
                LuaMismatch("option '\(option)': \(expected) expected, got \(got)", argument: "options")
            }
            let options: Retrying
            do throws(LuaMismatch) { options = try Retrying(lua: call.value(0)) } catch {
                throw LuaMismatch(error.message, argument: "options")
            }
            let schedule = options.schedule
            if schedule.times < 1 { throw refuse("times", "a number from 1", schedule.times) }
            for (name, seconds) in [("delay", schedule.delay), ("factor", schedule.factor)]
            where !(seconds >= 0 && seconds.isFinite) {
                throw refuse(name, "a number from 0", seconds)
            }
            if !(0...1).contains(schedule.jitter) { throw refuse("jitter", "0 to 1", schedule.jitter) }
            guard let run = options.run else { throw refuse("run", "function", "no value") }
            return (schedule, run)
        }
    }

    private static func installDaily(_ module: LuaModule, in host: ScriptHost) {
        module.function(
            "at",
            [
                "time": "the time of day, \"02:30\" or \"02:30:15\"",
                "zone": .callback("()", "the time zone, as \"Europe/Berlin\" (default: the user's zone)"),
                "handler": .callback("()", "the function to call"),
            ],
            doc:
                "Runs a function each day at a time of day. A time skipped by daylight saving is moved forward, a repeated one is the earlier one. A time missed while the program was stopped, or the clock was set, is made up for once.",
            example: "local t = timer.at(\"02:30\", \"Europe/Berlin\", function() items:saveChanges() end) t:cancel()"
        ) { [unowned host] (text: String, place: LuaEither<String, LuaFunction>, handler: LuaFunction?) in
            guard let time = timeOfDay(text) else {
                throw LuaMismatch(
                    "a time of day from 00:00 to 23:59:59 expected, got '\(text.shortened(to: 100))'", argument: "time")
            }
            let (zone, function): (String, LuaFunction)
            switch (place, handler) {
            case (.first(let name), let handler?): (zone, function) = (name, handler)
            case (.second(let handler), nil): (zone, function) = ("local", handler)
            case (.first, nil): throw LuaMismatch("function expected, got no value", argument: "handler")
            case (.second, _?): throw LuaMismatch("a zone's name expected before the handler", argument: "zone")
            }
            let rules = try host.values.clock.zone(named: zone)
            var schedule = DailySchedule(time: time, zone: rules, now: host.loop.wallTime)
            let timer = host.timer("at \(text) \(zone)", function, repeats: true) { fire in
                let timer = host.loop.at(schedule.next) { now in
                    if schedule.takeDue(now) { fire() }
                    return schedule.next
                }
                return { [weak timer] in timer?.cancel() }
            }
            return timer
        }
    }

    /// Seconds after midnight of `HH:MM` or `HH:MM:SS`; nil for another text.
    private static func timeOfDay(_ text: String) -> Int? {
        guard text.utf8.count <= "23:59:59".utf8.count else { return nil }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3 else { return nil }
        var seconds = 0
        for (place, part) in parts.enumerated() {
            guard (place == 0 ? 1 : 2)...2 ~= part.utf8.count, part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int(part), number < (place == 0 ? 24 : 60)
            else { return nil }
            seconds = seconds * 60 + number
        }
        return parts.count == 2 ? seconds * 60 : seconds
    }

    private static func check(_ seconds: Double) throws(LuaMismatch) {
        guard seconds >= 0, seconds.isFinite else {
            throw LuaMismatch("a number of seconds from 0 expected, got \(seconds)", argument: "seconds")
        }
    }
}

/// `log`: lines for standard error, bare on a terminal, in NSLog's form elsewhere.
package enum LogModule: ScriptModule {
    package static let name = "log"

    package static func declare(in host: ScriptHost) -> [Global] {
        let runtime = host.runtime
        let module = LuaModule("log", doc: "Log messages on standard error.", in: runtime.state)
        let levels: [(name: String, level: Logger.Level, documentation: String)] = [
            ("debug", .debug, "Logs a debugging message, shown with --log-level debug."),
            ("info", .info, "Logs an informational message."), ("warning", .warning, "Logs a warning."),
            ("error", .error, "Logs an error."),
        ]
        for (name, level, documentation) in levels {
            module.function(
                name, ["…": "values, shown as print shows them"], doc: documentation,
                example: "log.\(name)(\"items:\", #items)"
            ) { (values: LuaVariadic<LuaValue>) in
                let texts = try values.map {
                    String(decoding: try BaseModule.text(of: $0, in: runtime.state), as: UTF8.self)
                }
                runtime.log.logger.log(level: level, "\(texts.joined(separator: "\t"))")
            }
        }
        return [module.global]
    }
}

/// `progress(total, label)`: the progress of long work, drawn on a terminal only.
package enum ProgressModule: ScriptModule {
    package static let name = "progress"

    package static func declare(in host: ScriptHost) -> [Global] {
        let (state, output) = (host.state, host.output)
        let cls = LuaClass<ProgressBar>(ProgressBar.luaName, doc: "The progress of a long task.", in: state)
        cls.method(
            "advance", ["steps": "the number of steps (default: 1)"], doc: "Advances the bar.",
            example: "local bar = progress(10) bar:advance() bar:advance(9) bar:finish()"
        ) { (bar, steps: Int64?) in bar.advance(steps ?? 1, output) }
        cls.method(
            "finish", doc: "Ends the progress and removes the bar.",
            example: "local bar = progress(1) bar:advance() bar:finish()"
        ) { bar in bar.finish(output) }
        let module = LuaModule("progress", doc: "A progress bar on the terminal.", in: state)
        module.callable(
            ["total": "the number of steps", "label": "the text before the bar"],
            doc: "Makes a progress bar; without a terminal nothing is drawn.",
            example: "local bar = progress(3, \"Copying\") for _ = 1, 3 do bar:advance() end bar:finish()"
        ) { (total: Int64, label: String?) in ProgressBar(total: total, label: label ?? "") }
        return [module.global]
    }
}
