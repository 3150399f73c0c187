import Application
import Glibc
import Lua

/// `progress(total, label)`: how far a long piece of work has come, drawn on a terminal and silent elsewhere.
enum ProgressModule {
    /// One bar. It is drawn at most ten times a second: work must not wait for the terminal.
    private final class Bar {
        let total: Int64
        let label: String
        var done: Int64 = 0
        private let start = MonotonicTime.now()
        private var nextDrawing = MonotonicTime.now().advanced(by: 0.2)
        private var isDrawn = false
        /// How many steps go by before the clock is asked again.
        private var countdown = 0

        init(total: Int64, label: String) {
            self.total = total
            self.label = label
        }

        func advance(_ steps: Int64, _ output: ScriptOutput) {
            done += steps
            countdown -= 1
            guard countdown < 0 else { return }
            countdown = 64
            let now = MonotonicTime.now()
            guard now >= nextDrawing else { return }
            nextDrawing = now.advanced(by: 0.1)
            draw(now, output)
        }

        private func draw(_ now: MonotonicTime, _ output: ScriptOutput) {
            guard isatty(STDERR_FILENO) == 1 else { return }
            isDrawn = true
            let share = total > 0 ? min(1, Double(done) / Double(total)) : 0
            let filled = Int((share * 30).rounded())
            let left = share > 0.01 ? now.seconds(since: start) * (1 - share) / share : 0
            let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 30 - filled)
            output.writeError("\r\(label) \(bar) \(done)/\(total) · \(Int(left.rounded(.up))) s left \u{1b}[K")
        }

        func finish(_ output: ScriptOutput) {
            guard isDrawn else { return }
            isDrawn = false
            output.writeError("\r\u{1b}[K")
        }
    }

    static func install(in host: ScriptHost) -> LuaModule {
        let cls = LuaClass<Bar>("Progress", "How far a long piece of work has come.", in: host.state)
        cls.method(
            "advance", [LuaParameter("steps", .optional(.integer), "1 if not given")], "So much more is done.",
            example: "local bar = progress(10) bar:advance() bar:advance(9) bar:finish()"
        ) {
            [unowned host] bar, call in
            bar.advance(try call.optional(0, call.integer) ?? 1, host.output)
            return call.returnsNothing()
        }
        cls.method(
            "finish", "The work is done: the bar goes away.",
            example: "local bar = progress(1) bar:advance() bar:finish()"
        ) { [unowned host] bar, call in
            bar.finish(host.output)
            return call.returnsNothing()
        }
        let module = LuaModule("progress", "A bar on the terminal for long work.", in: host.state)
        module.callable(
            [
                LuaParameter("total", .integer, "how many steps there are"),
                LuaParameter("label", .optional(.text), "stands before the bar"),
            ], returns: [.object("Progress")],
            "A bar for so many steps; nothing is drawn where there is no terminal.",
            example: "local bar = progress(3, \"Copying\") for _ = 1, 3 do bar:advance() end bar:finish()"
        ) { call in
            call.returns(Bar(total: try call.integer(0), label: try call.optional(1, call.text) ?? ""), cls)
        }
        return module
    }
}
