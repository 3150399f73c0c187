import Application
import Testing

@Suite("LifeCycleMachine")
struct LifeCycleMachineTests {
    /// Every situation that events can find, and the events that lead there.
    enum Situation: String, CaseIterable, Sendable {
        case notRunning, active, interrupted, locked, unfocused, background, suspended

        var way: [ApplicationEvent] {
            switch self {
            case .notRunning: []
            case .active: [.launch(inBackground: false)]
            case .interrupted: [.launch(inBackground: false), .interrupt]
            case .locked: [.launch(inBackground: false), .lock]
            case .unfocused: [.launch(inBackground: false), .focusOut]
            case .background: [.launch(inBackground: true)]
            case .suspended: [.launch(inBackground: false), .suspend]
            }
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var situation: Situation
        var event: ApplicationEvent
        /// The callbacks, the other steps in short, and the state at the end; nil when illegal.
        var expected: (steps: String, state: ApplicationState)?
        var testDescription: String { "\(event) when \(situation)" }
    }

    static let events: [ApplicationEvent] = [
        .launch(inBackground: false), .launch(inBackground: true), .pressHome, .suspend, .resume(inForeground: true),
        .resume(inForeground: false), .interrupt, .endInterruption, .lock, .unlock, .focusOut, .focusIn,
        .terminate(explicitly: false), .terminate(explicitly: true), .memoryWarning,
    ]

    static let home = "sync willResignActive >inactive >background didEnterBackground commit save saveRestoration"
    static let homeFromInactive = "sync >background didEnterBackground commit save saveRestoration"
    static let stop = " tasks >suspended stop"
    static let end = " willTerminate commit save lastTasks >notRunning exit"
    static let front = "willEnterForeground >inactive >active didBecomeActive"

    /// The whole table: situation × event. What is not here is illegal.
    static let legal: [Situation: [(ApplicationEvent, String, ApplicationState)]] = [
        .notRunning: [
            (
                .launch(inBackground: false),
                ">inactive willFinishLaunching restore didFinishLaunching >active didBecomeActive", .active
            ),
            (
                .launch(inBackground: true),
                ">background willFinishLaunching restore didFinishLaunching didEnterBackground commit save", .background
            ),
            // While init.lua runs the process stops and ends, and nothing is delivered.
            (.suspend, "sync commit save stop", .notRunning),
            (.resume(inForeground: true), "", .notRunning),
            (.resume(inForeground: false), "", .notRunning),
            (.terminate(explicitly: false), "sync commit save exit", .notRunning),
            (.terminate(explicitly: true), "sync commit save exit", .notRunning),
        ],
        .active: [
            (.pressHome, home, .background),
            (.suspend, home + stop, .suspended),
            (.resume(inForeground: true), "", .active),
            (.resume(inForeground: false), home, .background),
            (.interrupt, "willResignActive >inactive", .inactive),
            (.lock, "willResignActive >inactive", .inactive),
            (.focusOut, "willResignActive >inactive", .inactive),
            (.focusIn, "", .active),
            (.terminate(explicitly: false), home + end, .notRunning),
            (.terminate(explicitly: true), home + " dropRestoration" + end, .notRunning),
            (.memoryWarning, "didReceiveMemoryWarning", .active),
        ],
        .interrupted: inactive + [
            (.endInterruption, ">active didBecomeActive", .active), (.lock, "", .inactive), (.focusOut, "", .inactive),
            (.focusIn, "", .inactive),
        ],
        .locked: inactive + [
            (.unlock, ">active didBecomeActive", .active), (.interrupt, "", .inactive), (.focusOut, "", .inactive),
            (.focusIn, "", .inactive),
        ],
        .unfocused: inactive + [
            (.focusIn, ">active didBecomeActive", .active), (.interrupt, "", .inactive), (.lock, "", .inactive),
            (.focusOut, "", .inactive),
        ],
        .background: [
            (.suspend, "sync commit save" + stop, .suspended),
            (.resume(inForeground: true), front, .active),
            (.resume(inForeground: false), "", .background),
            (.focusOut, "", .background),
            (.focusIn, "", .background),
            (.terminate(explicitly: false), "sync" + end, .notRunning),
            (.terminate(explicitly: true), "sync dropRestoration" + end, .notRunning),
            (.memoryWarning, "didReceiveMemoryWarning", .background),
        ],
        .suspended: [
            (.resume(inForeground: true), ">background " + front, .active),
            (.resume(inForeground: false), ">background didResumeInBackground", .background),
        ],
    ]

    static let inactive: [(ApplicationEvent, String, ApplicationState)] = [
        (.pressHome, homeFromInactive, .background),
        (.suspend, homeFromInactive + stop, .suspended),
        (.resume(inForeground: true), "", .inactive),
        (.resume(inForeground: false), homeFromInactive, .background),
        (.terminate(explicitly: false), homeFromInactive + end, .notRunning),
        (.terminate(explicitly: true), homeFromInactive + " dropRestoration" + end, .notRunning),
        (.memoryWarning, "didReceiveMemoryWarning", .inactive),
    ]

    static let rows: [Row] = Situation.allCases.flatMap { situation in
        events.map { event in
            let entry = legal[situation]?.first { $0.0 == event }
            return Row(situation: situation, event: event, expected: entry.map { ($0.1, $0.2) })
        }
    }

    static func short(_ steps: [LifeCycleAction]) -> String {
        steps.map { step in
            switch step {
            case .enter(let state): ">" + state.rawValue
            case .deliver(let callback): callback.rawValue
            case .syncJournal: "sync"
            case .runBackgroundTasks: "tasks"
            case .finishBackgroundTasks: "lastTasks"
            case .stopProcess: "stop"
            default: "\(step)"
            }
        }.joined(separator: " ")
    }

    func machine(in situation: Situation) throws -> LifeCycleMachine {
        var machine = LifeCycleMachine()
        for event in situation.way { _ = try machine.handle(event) }
        return machine
    }

    @Test("Every event in every situation", arguments: rows)
    func table(row: Row) throws {
        var machine = try machine(in: row.situation)
        let before = machine
        if let expected = row.expected {
            let steps = try machine.handle(row.event)
            #expect(Self.short(steps) == expected.steps)
            #expect(machine.state == expected.state)
            let entered = steps.compactMap { if case .enter(let state) = $0 { state } else { nil } }.last
            #expect(entered ?? before.state == machine.state, "the last state entered is the state")
        } else {
            let error = #expect(throws: IllegalTransition.self) { try machine.handle(row.event) }
            #expect(error == IllegalTransition(state: before.state, event: row.event))
            #expect(machine == before)
            #expect(error?.message.hasPrefix("\(row.event.name) is not possible: ") == true)
        }
    }

    @Test func theTableIsWhole() {
        #expect(Self.rows.count == 7 * 15)
        #expect(Self.rows.count { $0.expected != nil } == Self.legal.values.reduce(0) { $0 + $1.count })
    }

    @Test("Callbacks come only while code runs, and in legal order", arguments: rows.filter { $0.expected != nil })
    func callbacks(row: Row) throws {
        var machine = try machine(in: row.situation)
        var state = machine.state
        for step in try machine.handle(row.event) {
            switch step {
            case .enter(let next):
                #expect(!(state == .active && next == .background), "through inactive only")
                #expect(!(state == .background && next == .active), "through inactive only")
                state = next
            case .deliver: #expect(state != .notRunning && state != .suspended)
            default: break
            }
        }
    }

    @Test func itIsActiveAgainWhenTheLastOverlayGoes() throws {
        var machine = try machine(in: .interrupted)
        #expect(try machine.handle(.lock) == [])
        #expect(try machine.handle(.focusOut) == [])
        #expect(try machine.handle(.endInterruption) == [])
        #expect(try machine.handle(.focusIn) == [])
        #expect(throws: IllegalTransition.self) { try machine.handle(.lock) }
        #expect(try machine.handle(.unlock) == [.enter(.active), .deliver(.didBecomeActive)])
    }

    @Test func theBackgroundClearsOverlays() throws {
        var machine = try machine(in: .interrupted)
        _ = try machine.handle(.suspend)
        _ = try machine.handle(.resume(inForeground: true))
        #expect(machine.state == .active)
        #expect(throws: IllegalTransition.self) { try machine.handle(.endInterruption) }
    }

    @Test func exitsOnSuspend() throws {
        var machine = try machine(in: .active)
        machine.exitsOnSuspend = true
        #expect(Self.short(try machine.handle(.suspend)) == Self.home + Self.end)
        machine = try self.machine(in: .background)
        machine.exitsOnSuspend = true
        #expect(Self.short(try machine.handle(.suspend)) == "sync" + Self.end)
    }

    @Test func nothingComesAfterTheEnd() throws {
        for way in [
            [ApplicationEvent.terminate(explicitly: false)],
            [.launch(inBackground: false), .terminate(explicitly: true)],
        ] {
            var machine = LifeCycleMachine()
            for event in way { _ = try machine.handle(event) }
            for event in Self.events { #expect(throws: IllegalTransition.self) { try machine.handle(event) } }
        }
    }

    @Test func namesOfCocoa() {
        #expect(LifeCycleCallback.didEnterBackground.applicationSelector == "applicationDidEnterBackground")
        #expect(LifeCycleCallback.didEnterBackground.sceneSelector == "sceneDidEnterBackground")
        #expect(LifeCycleCallback.willTerminate.sceneSelector == nil)
        #expect(
            LifeCycleCallback.didReceiveMemoryWarning.notificationName
                == "UIApplicationDidReceiveMemoryWarningNotification")
        #expect(LifeCycleCallback.didResumeInBackground.notificationName == nil)
    }
}
