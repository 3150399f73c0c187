internal import Synchronization

/// A request, from any thread, to stop a script: of one run, or of all runs of an engine.
///
/// The interrupt only triggers the interrupt handler. The handler reads the flags of the current run, so a request that
/// arrives after its run has ended stops nothing else. The runs' waits end immediately.
final class StopFlag: Sendable {
    private let flag = Atomic<Bool>(false)
    private let waits = Mutex<[ObjectIdentifier: RunWait]>([:])
    private let interrupter: LuaInterrupter

    init(_ interrupter: LuaInterrupter) { self.interrupter = interrupter }

    var isSet: Bool { flag.load(ordering: .acquiring) }

    func set() {
        let waits = waits.withLock { waits in
            flag.store(true, ordering: .releasing)
            defer { waits = [:] }
            return waits
        }
        // Unlike `.cancel`, events stay pending until code runs, so a request before the first instruction is not lost.
        interrupter.interrupt(.events)
        for wait in waits.values { wait.end(nil) }
    }

    /// Makes a request end the wait.
    func add(_ wait: RunWait) {
        let isLate = waits.withLock { waits in
            if !isSet { waits[ObjectIdentifier(wait)] = wait }
            return isSet
        }
        if isLate { wait.end(nil) }
    }

    func remove(_ wait: RunWait) { waits.withLock { $0[ObjectIdentifier(wait)] = nil } }
}
