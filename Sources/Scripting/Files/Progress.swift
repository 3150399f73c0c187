import Application
import Files
import Glibc
import Lua

/// One bar, drawn at most ten times a second: the work must not wait for the terminal.
package final class ProgressBar {
    package let total: Int64
    package let label: String
    let unit: Unit
    package var done: Int64 = 0
    private let start = MonotonicTime.now()
    private var nextDrawing = MonotonicTime.now().advanced(by: 0.2)
    private var isDrawn = false
    /// The number of steps until the clock is read again.
    private var countdown = 0

    /// The unit of progress.
    package enum Unit {
        case steps, bytes
    }

    package init(total: Int64, label: String, unit: Unit = .steps) {
        self.total = total
        self.label = VisibleText.line(label.shortened(to: 200))
        self.unit = unit
    }

    package func advance(_ steps: Int64, _ output: ScriptOutput) {
        done += steps
        countdown -= 1
        guard countdown < 0 else { return }
        countdown = 64
        show(done, output)
    }

    /// Shows the completed amount, for callers that report rarely.
    package func show(_ done: Int64, _ output: ScriptOutput) {
        self.done = done
        let now = MonotonicTime.now()
        guard now >= nextDrawing else { return }
        nextDrawing = now.advanced(by: 0.1)
        draw(now, output)
    }

    private func draw(_ now: MonotonicTime, _ output: ScriptOutput) {
        guard output.error.isTerminal else { return }
        isDrawn = true
        let share = total > 0 ? min(1, Double(done) / Double(total)) : 0
        let filled = Int((share * 30).rounded())
        let left = share > 0.01 ? now.seconds(since: start) * (1 - share) / share : 0
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 30 - filled)
        output.draw(status: "\(label) \(bar) \(amount) · \(Int(left.rounded(.up))) s left ")
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

    package func finish(_ output: ScriptOutput) {
        guard isDrawn else { return }
        isDrawn = false
        output.eraseStatus()
    }
}

/// Work of many steps in one call of the host: Ctrl-C and time limits interrupt it, and a terminal shows its progress
/// if it is slow.
package final class LongWork {
    private let output: ScriptOutput
    private let checkpoint: LuaFunction
    private let bar: ProgressBar

    package init(_ label: String, total: Int, in runtime: Runtime) throws {
        output = runtime.output
        // The VM checks for interrupts and limits when it enters a function.
        checkpoint = try runtime.state.load(Array("".utf8), name: "=checkpoint")
        bar = ProgressBar(total: Int64(total), label: label)
    }

    /// Reports the number of completed steps.
    ///
    /// - Throws: the error that ends the script.
    package func step(_ done: Int) throws {
        _ = try checkpoint.call()
        bar.show(Int64(done), output)
    }

    package func finish() { bar.finish(output) }
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
