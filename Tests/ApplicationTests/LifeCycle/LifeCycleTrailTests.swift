import Testing

@testable import Application

@Suite("The way through the states") struct LifeCycleTrailTests {
    /// The trail of events, and the states of its latest ways.
    private func latest(_ events: [ApplicationEvent]) throws -> [[ApplicationState]] {
        var (machine, trail) = (LifeCycleMachine(), LifeCycleTrail())
        for event in events {
            let start = machine.state
            let actions = try machine.handle(event)
            if let way = LifeCycleWay(from: start, actions, .script, isSimulated: false) { trail.add(way) }
        }
        return trail.latest.map(\.states)
    }

    @Test func `Out and back are told together`() throws {
        let launch = ApplicationEvent.launch(inBackground: false)
        #expect(try latest([launch]) == [[.notRunning, .inactive, .active]])
        let out: [ApplicationState] = [.active, .inactive, .background, .suspended]
        let back: [ApplicationState] = [.suspended, .background, .inactive, .active]
        #expect(try latest([launch, .suspend, .resume(inForeground: true)]) == [out, back])
        #expect(try latest([launch, .suspend, .resume(inForeground: true), .memoryWarning]) == [out, back])
        #expect(
            try latest([
                launch, .interrupt, .endInterruption, .suspend, .resume(inForeground: false),
                .resume(inForeground: true),
            ])
                == [out, [.suspended, .background], [.background, .inactive, .active]])
        #expect(try latest([launch, .interrupt, .endInterruption]) == [[.active, .inactive], [.inactive, .active]])
    }

    @Test func `It does not grow`() throws {
        let events = (0..<100).flatMap { _ in [ApplicationEvent.interrupt, .lock, .endInterruption, .unlock] }
        #expect(try latest([.launch(inBackground: false)] + events) == [[.active, .inactive], [.inactive, .active]])
        #expect(try latest([]) == [])
    }
}
