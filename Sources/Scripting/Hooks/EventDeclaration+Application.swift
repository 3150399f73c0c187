import Application
import Lua

extension EventDeclaration {
    /// The events of the life cycle, and of saves.
    static let applicationEvents: [EventDeclaration] =
        LifeCycleCallback.allCases.map { callback in
            EventDeclaration(
                .app, callback.rawValue, documentation(of: callback), payload(of: callback),
                isNeverPaused: callback == .didEnterBackground || callback == .willTerminate)
        } + [
            EventDeclaration(
                .app, "wasSuspended", "The process was frozen or stopped from outside, and goes on.",
                [LuaParameter("seconds", .number, "how long")]),
            EventDeclaration(
                .app, "systemDidWake", "The machine slept, and goes on.",
                [LuaParameter("seconds", .number, "how long")]),
            EventDeclaration(.app, "didConnect", "The server of the shared collection is back."),
            EventDeclaration(
                .app, "didDisconnect",
                "The server of the shared collection does not answer: items can be read and not changed."),
            EventDeclaration(
                .app, "willSave",
                "The items are about to be saved; a save that a script asked for can be refused.",
                allowsVeto: true, isNeverPaused: true),
            EventDeclaration(
                .app, "didSave", "The items were saved, or could not be.",
                [
                    LuaParameter("ok", .boolean, "whether they were saved"),
                    LuaParameter("error", .optional(.text), "why not"),
                    LuaParameter("items", .integer, "how many there are"),
                    LuaParameter("seconds", .number, "how long it took"),
                ], isNeverPaused: true),
        ]

    private static func payload(of callback: LifeCycleCallback) -> [LuaParameter] {
        guard callback == .didReceiveMemoryWarning else { return [] }
        return [
            LuaParameter(
                "source", .choice(["service manager", "control group", "system", "scripts", "script"]),
                "who said so: `scripts` when they are close to --memory-limit, `script` when one simulated it")
        ]
    }

    private static func documentation(of callback: LifeCycleCallback) -> String {
        switch callback {
        case .willFinishLaunching: "The application is starting: the items are there, the script has not run."
        case .didFinishLaunching: "The application has started."
        case .didBecomeActive: "The application is in front, and nothing lies over it."
        case .willResignActive: "The application is about to be inactive: an interruption, the lock, or Home."
        case .didEnterBackground:
            "The application is in the background. The items are saved after the handlers, which have 4 s together unless a limit says otherwise."
        case .willEnterForeground: "The application is about to come back from the background."
        case .didResumeInBackground: "The process was continued without the terminal: SIGCONT after bg."
        case .willTerminate:
            "The application is about to end. The items are saved after the handlers, which have 4 s together unless a limit says otherwise."
        case .didReceiveMemoryWarning: "Memory is short: let go what can be made again. The image cache is flushed."
        }
    }
}
