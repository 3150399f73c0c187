import Application
import Glibc
import Lua
import Wording

/// `progress(total, label)`: the progress of long work, drawn on a terminal only.
enum ProgressModule {
    static func install(in runtime: Runtime) -> LuaModule {
        let (state, output) = (runtime.state, runtime.output)
        let cls = LuaClass<ProgressBar>(ProgressBar.luaName, "The progress of a long task.", in: state)
        cls.method(
            "advance", ["steps": "the number of steps (default: 1)"], "Advances the bar.",
            example: "local bar = progress(10) bar:advance() bar:advance(9) bar:finish()"
        ) { (bar, steps: Int64?) in bar.advance(steps ?? 1, output) }
        cls.method(
            "finish", [], "Ends the progress and removes the bar.",
            example: "local bar = progress(1) bar:advance() bar:finish()"
        ) { bar in bar.finish(output) }
        let module = LuaModule("progress", "A progress bar on the terminal.", in: state)
        module.callable(
            ["total": "the number of steps", "label": "the text before the bar"],
            "Makes a progress bar; without a terminal nothing is drawn.",
            example: "local bar = progress(3, \"Copying\") for _ = 1, 3 do bar:advance() end bar:finish()"
        ) { (total: Int64, label: String?) in ProgressBar(total: total, label: label ?? "") }
        return module
    }
}

/// One bar, drawn at most ten times a second: the work must not wait for the terminal.
final class ProgressBar {
    let total: Int64
    let label: String
    let unit: Unit
    var done: Int64 = 0
    private let start = MonotonicTime.now()
    private var nextDrawing = MonotonicTime.now().advanced(by: 0.2)
    private var isDrawn = false
    /// The number of steps until the clock is read again.
    private var countdown = 0

    /// The unit of progress.
    enum Unit {
        case steps, bytes
    }

    init(total: Int64, label: String, unit: Unit = .steps) {
        self.total = total
        self.label = VisibleText.line(label)
        self.unit = unit
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

    /// Shows the completed amount, for callers that report rarely.
    func show(_ done: Int64, _ output: ScriptOutput) {
        self.done = done
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
        output.put(
            Array("\r\(label) \(bar) \(amount) · \(Int(left.rounded(.up))) s left \u{1b}[K".utf8), toStandardError: true
        )
    }

    /// The completed and the total amount, in a stable format.
    private var amount: String {
        guard unit == .bytes, total >= 1000 else { return "\(done)/\(total)" }
        let (size, name) = total >= 1_000_000 ? (1_000_000.0, "MB") : (1000.0, "kB")
        func tenths(_ bytes: Int64) -> String {
            let tenths = Int64((Double(bytes) / size * 10).rounded())
            return "\(tenths / 10).\(tenths % 10)"
        }
        return "\(tenths(done)) of \(tenths(total)) \(name)"
    }

    func finish(_ output: ScriptOutput) {
        guard isDrawn else { return }
        isDrawn = false
        output.put(Array("\r\u{1b}[K".utf8), toStandardError: true)
    }
}

/// Work of many steps in one call of the host: Ctrl-C and time limits interrupt it, and a terminal shows its progress
/// if it is slow.
final class LongWork {
    private let output: ScriptOutput
    private let checkpoint: LuaFunction
    private let bar: ProgressBar

    init(_ label: String, total: Int, in runtime: Runtime) throws {
        output = runtime.output
        // The VM checks for interrupts and limits when it enters a function.
        checkpoint = try runtime.state.load(Array("".utf8), name: "=checkpoint")
        bar = ProgressBar(total: Int64(total), label: label)
    }

    /// Reports the number of completed steps.
    ///
    /// - Throws: the error that ends the script.
    func step(_ done: Int) throws {
        _ = try checkpoint.call()
        bar.show(Int64(done), output)
    }

    func finish() { bar.finish(output) }
}

/// The progress bar of a command's long work that runs no script: on standard error, if it is a terminal.
package struct CommandProgress {
    private let bar: ProgressBar
    private let output = ScriptOutput()

    /// - Parameters:
    ///   - label: the name of the work.
    ///   - total: the number of steps.
    package init(_ label: String, total: Int) { bar = ProgressBar(total: Int64(total), label: label) }

    /// Shows the number of completed steps.
    package func show(_ done: Int) { bar.show(Int64(done), output) }

    package func finish() { bar.finish(output) }
}
