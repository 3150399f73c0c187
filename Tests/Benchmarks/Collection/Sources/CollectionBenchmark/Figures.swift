/// The best times of each thing that is measured, for both.
@MainActor final class Figures {
    private var names: [String] = []
    private var best: [String: (own: Duration, peer: Duration)] = [:]

    @discardableResult
    func measure<Own, Peer>(
        _ name: String, own: @MainActor () async throws -> Own, peer: @MainActor () async throws -> Peer
    ) async throws -> (Own, Peer) {
        let clock = ContinuousClock()
        let start = clock.now
        let result = try await own()
        let middle = clock.now
        let other = try await peer()
        let times = (own: middle - start, peer: clock.now - middle)
        if let former = best[name] {
            best[name] = (min(former.own, times.own), min(former.peer, times.peer))
        } else {
            names.append(name)
            best[name] = times
        }
        return (result, other)
    }

    func print() {
        for name in names {
            guard let (own, peer) = best[name] else { continue }
            Swift.print(name, own, peer, (own / peer * 100).rounded() / 100, separator: "\t")
        }
    }
}
