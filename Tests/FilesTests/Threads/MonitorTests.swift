import Files
import TestSupport
import Testing

@Suite("Monitor")
struct MonitorTests {
    @Test("changes of several threads are all there")
    func changes() {
        let monitor = Monitor(0)
        OwnThread.run(times: 4) {
            for _ in 0..<10_000 { monitor.change { $0 += 1 } }
        }
        #expect(monitor.change { $0 } == 40_000)
    }

    @Test("who waits goes on with the change that makes it so, and tells the next")
    func turns() {
        let monitor = Monitor([Int]())
        let workers = [2, 0, 3, 1].map { turn in
            WorkerThread { monitor.wait(until: { $0.count == turn }) { $0.append(turn) } }
        }
        for worker in workers { _ = worker.join() }
        #expect(monitor.change { $0 } == [0, 1, 2, 3])
    }

    @Test("who comes when it is so already does not wait")
    func ready() {
        #expect(Monitor(7).wait(until: { $0 > 6 }) { $0 + 1 } == 8)
    }
}
