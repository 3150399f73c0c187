import Application
import Glibc
import Wording

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
