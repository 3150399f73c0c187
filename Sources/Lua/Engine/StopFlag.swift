internal import Synchronization

/// A request, from any thread, to stop a script: of one run, or of all runs of an engine.
///
/// The interrupt only has the interrupt handler called. The handler reads the flags of the run in progress, so a request
/// that comes after its run has ended stops nothing else.
final class StopFlag: Sendable {
    private let flag = Atomic<Bool>(false)
    private let interrupter: LuaInterrupter

    init(_ interrupter: LuaInterrupter) { self.interrupter = interrupter }

    var isSet: Bool { flag.load(ordering: .acquiring) }

    func set() {
        flag.store(true, ordering: .releasing)
        // Unlike `.cancel`, events stay pending until code runs: a request just before the first instruction is not lost.
        interrupter.interrupt(.events)
    }
}
