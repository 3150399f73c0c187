import Application
import Items
import PropertyList

/// The changes in the commits of an entry, an undo or a redo: `41 items created`, `2 items removed, 69,202 changed`.
struct ChangeNotice {
    /// The changes by code.
    private(set) var own = ItemCommitTally()
    /// The changes by undo and redo.
    private(set) var history = ItemCommitTally()

    /// Adds a commit. Those of other hosts are reported elsewhere.
    mutating func add(_ cause: ItemStoreCommit.Cause, _ tally: ItemCommitTally) {
        switch cause {
        case .script, .import: own = own + tally
        case .undo: history = history + tally.inverted
        case .redo: history = history + tally
        case .remote: break
        }
    }

    /// The text for a tally; the noun is written once.
    static func text(_ tally: ItemCommitTally) -> String {
        let parts = [
            (tally.created, "created"), (tally.removed, "removed"), (tally.changed, "changed"), (tally.moved, "moved"),
        ].filter { $0.0 > 0 }
        let texts = parts.enumerated().map { place, part in
            "\(place == 0 ? part.0.counted("item") : part.0.grouped) \(part.1)"
        }
        // An import that finds days declares them beside its items, which nobody asked for.
        if texts.isEmpty, tally.hasDeclarations { return "fields declared" }
        return texts.joined(separator: ", ")
    }
}

/// Reports changes by others at a prompt: merged, at most one line per second, and fewer while they continue.
final class PeerChanges {
    private static let shortest = 1.0
    private static let longest = 60.0
    /// Commits within this number of seconds are one line.
    private static let gathering = 0.1

    private let loop: EventLoop
    private let report: (String) -> Void
    private var tallies: [(author: String, tally: ItemCommitTally)] = []
    private var timer: LoopTimer?
    private var interval = PeerChanges.shortest
    private var lastReported: MonotonicTime?

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
    ///   - report: shows a line.
    init(_ loop: EventLoop, report: @escaping (String) -> Void) {
        self.loop = loop
        self.report = report
    }

    deinit { timer?.cancel() }

    /// Adds a commit.
    func add(_ tally: ItemCommitTally, by author: String) {
        guard tally.count > 0 || tally.hasDeclarations else { return }
        if let index = tallies.firstIndex(where: { $0.author == author }) {
            tallies[index].tally = tallies[index].tally + tally
        } else {
            tallies.append((author, tally))
        }
        schedule()
    }

    private func schedule() {
        guard !isQuiet, timer == nil, !tallies.isEmpty else { return }
        let since = lastReported.map { MonotonicTime.now().seconds(since: $0) } ?? .infinity
        // After a pause the next change is reported soon again.
        if since > 2 * interval { interval = Self.shortest }
        timer = loop.after(max(Self.gathering, interval - since)) { [weak self] in self?.reportAll() }
    }

    private func reportAll() {
        timer = nil
        let lines = tallies.map { "\(ChangeNotice.text($0.tally)) by \($0.author)" }
        tallies = []
        if let lastReported, MonotonicTime.now().seconds(since: lastReported) <= 2 * interval {
            interval = min(2 * interval, Self.longest)
        }
        lastReported = .now()
        report(lines.joined(separator: " · "))
    }
}

/// The times of the last changes to items' fields during this session: an item does not store its own.
///
/// The number of times is limited. After a commit of many items, or after many commits, all are discarded: an outdated
/// time must not be shown.
final class SessionChanges: ItemCommitObserver {
    private static let limit = 1000

    private var dates: NameTable<PropertyListDate> = [:]

    func itemStore(_ store: ItemStore, didCommit commit: ItemStoreCommit) {
        guard commit.count <= Self.limit, dates.count <= Self.limit else { return dates.removeAll() }
        let milliseconds = (PropertyListDate.now().secondsSinceReferenceDate * 1000).rounded(.down)
        let now = PropertyListDate(secondsSinceReferenceDate: milliseconds / 1000)
        for change in commit where change.kind != .move { dates[change.itemKey] = now }
    }

    /// The time of an item's last change; nil if it is unknown.
    func date(of item: Item) -> PropertyListDate? { (try? item.itemKey).flatMap { dates[$0] } }
}
