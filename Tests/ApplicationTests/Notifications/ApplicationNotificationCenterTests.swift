import Application
import PropertyList
import Testing

@Suite("NotificationCenter")
struct NotificationCenterTests {
    final class Thing {}

    @Test func callsInOrderByNameAndObject() {
        let center = ApplicationNotificationCenter()
        let (one, other) = (Thing(), Thing())
        var calls: [String] = []
        center.addObserver("a") { _ in calls.append("first") }
        center.addObserver(nil) { calls.append("all " + $0.name) }
        center.addObserver("a", object: one) { _ in calls.append("one") }
        center.addObserver("b") { _ in calls.append("b") }
        #expect(center.post("a", object: other) == 2)
        #expect(center.post("a", object: one, userInfo: ["key": .integer(1)]) == 3)
        #expect(calls == ["first", "all a", "first", "all a", "one"])
        #expect(center.post("c") == 1)
    }

    @Test func deliversOverASnapshot() {
        let center = ApplicationNotificationCenter()
        var calls: [String] = []
        var second: NotificationToken?
        center.addObserver("a") { [unowned center] _ in
            calls.append("first")
            if let second { center.removeObserver(second) }
            center.addObserver("a") { _ in calls.append("new") }
        }
        second = center.addObserver("a") { _ in calls.append("second") }
        #expect(center.post("a") == 1)
        #expect(calls == ["first"])
        #expect(second?.isRemoved == true)
        #expect(center.observerCount == 2)
    }

    @Test func anObserverOfAnObjectThatIsGoneHearsNothing() {
        let center = ApplicationNotificationCenter()
        var calls = 0
        do {
            let thing = Thing()
            center.addObserver("a", object: thing) { _ in calls += 1 }
            center.post("a", object: thing)
        }
        center.post("a")
        #expect(calls == 1)
    }
}
