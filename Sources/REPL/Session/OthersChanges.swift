import Application
import Items

/// Reports changes by others at a prompt: merged, at most one line per second, and fewer while they continue.
final class OthersChanges {
    private static let shortest = 1.0
    private static let longest = 60.0
    /// Commits within this number of seconds are one line.
    private static let gathering = 0.1

    private let loop: EventLoop
    private let tell: (String) -> Void
    private var tallies: [(author: String, tally: ItemCommitTally)] = []
    private var timer: LoopTimer?
    private var interval = OthersChanges.shortest
    private var lastTold: MonotonicTime?

    /// Whether reports wait, because an entry runs.
    var isQuiet = false {
        didSet {
            if isQuiet {
                timer?.cancel()
                timer = nil
            } else {
                interval = Self.shortest
                schedule()
            }
        }
    }

    /// - Parameters:
    ///   - loop: the thread's loop.
    ///   - tell: shows a line.
    init(_ loop: EventLoop, tell: @escaping (String) -> Void) {
        self.loop = loop
        self.tell = tell
    }

    deinit { timer?.cancel() }

    /// Adds a commit.
    func add(_ tally: ItemCommitTally, by author: String) {
        guard tally.count > 0 else { return }
        if let index = tallies.firstIndex(where: { $0.author == author }) {
            tallies[index].tally = tallies[index].tally + tally
        } else {
            tallies.append((author, tally))
        }
        schedule()
    }

    private func schedule() {
        guard !isQuiet, timer == nil, !tallies.isEmpty else { return }
        let since = lastTold.map { MonotonicTime.now().seconds(since: $0) } ?? .infinity
        // After a pause the next change is reported soon again.
        if since > 2 * interval { interval = Self.shortest }
        timer = loop.after(max(Self.gathering, interval - since)) { [weak self] in self?.tellAll() }
    }

    private func tellAll() {
        timer = nil
        let lines = tallies.map { "\(ChangeNotice.text($0.tally)) by \($0.author)" }
        tallies = []
        if let lastTold, MonotonicTime.now().seconds(since: lastTold) <= 2 * interval {
            interval = min(2 * interval, Self.longest)
        }
        lastTold = .now()
        tell(lines.joined(separator: " · "))
    }
}
