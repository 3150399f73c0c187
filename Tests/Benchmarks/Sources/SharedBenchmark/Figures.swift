import Foundation

/// Times, and how they are told.
enum Figures {
    /// Its name, and what does a round of its work and gives the seconds.
    typealias Peer = (String, (Int) throws -> Double)

    static func report(_ what: String, _ ours: Double, _ peer: String, _ theirs: Double) {
        print(
            String(
                format: "%@: %.3f ms; %@: %.3f ms; ratio %.2f", what, ours * 1000, peer, theirs * 1000, ours / theirs))
        // A line is told at once, to a file, too.
        fflush(nil)
    }

    /// Measures some work beside that of peers, in turn, and tells the medians.
    static func compare(
        _ what: String, with peers: [Peer], rounds: Int, _ ours: (Int) throws -> Void
    ) throws {
        var times: [Double] = []
        var others = peers.map { _ in [Double]() }
        for round in 0..<rounds {
            for place in peers.indices { others[place].append(try peers[place].1(round)) }
            times.append(try seconds { try ours(round) })
        }
        for (place, peer) in peers.enumerated() { report(what, median(times), peer.0, median(others[place])) }
    }

    static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    static func seconds(_ body: () throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        try body()
        return seconds(since: start)
    }

    static func seconds(since start: ContinuousClock.Instant) -> Double {
        let parts = start.duration(to: .now).components
        return Double(parts.seconds) + Double(parts.attoseconds) / 1e18
    }
}
