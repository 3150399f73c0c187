import Application
import Glibc

/// One bar. It is drawn at most ten times a second: work must not wait for the terminal.
final class ProgressBar {
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

    /// So much of the whole is done by now; for callers that report seldom.
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
        output.writeError("\r\(label) \(bar) \(done)/\(total) · \(Int(left.rounded(.up))) s left \u{1b}[K")
    }

    func finish(_ output: ScriptOutput) {
        guard isDrawn else { return }
        isDrawn = false
        output.writeError("\r\u{1b}[K")
    }
}
