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
                .app, "wasSuspended", "The process was frozen or stopped from outside, and has resumed.",
                [LuaParameter("seconds", .number, "the duration in seconds")]),
            EventDeclaration(
                .app, "systemDidWake", "The machine slept, and has resumed.",
                [LuaParameter("seconds", .number, "the duration in seconds")]),
            EventDeclaration(.app, "didConnect", "The server of the shared collection is reachable again."),
            EventDeclaration(
                .app, "didDisconnect",
                "The server of the shared collection does not answer: items can be read but not changed."),
            EventDeclaration(
                .app, "willSave",
                "The items are about to be saved; a save that a script asked for can be refused.",
                allowsVeto: true, isNeverPaused: true),
            EventDeclaration(
                .app, "didSave", "The items were saved, or the save failed.",
                [
                    LuaParameter("ok", .boolean, "whether they were saved"),
                    LuaParameter("error", .optional(.text), "the reason of the failure"),
                    LuaParameter("items", .integer, "the number of items"),
                    LuaParameter("seconds", .number, "the duration of the save in seconds"),
                ], isNeverPaused: true),
        ]

    private static func payload(of callback: LifeCycleCallback) -> [LuaParameter] {
        guard callback == .didReceiveMemoryWarning else { return [] }
        return [
            LuaParameter(
                "source", .choice(["service manager", "control group", "system", "scripts", "script"]),
                "the source of the warning: `scripts` close to --memory-limit, `script` if one simulated it")
        ]
    }

    private static func documentation(of callback: LifeCycleCallback) -> String {
        switch callback {
        case .willFinishLaunching: "The application is starting: the items are loaded, the script has not run."
        case .didFinishLaunching: "The application has started."
        case .didBecomeActive: "The application is in the foreground and active."
        case .willResignActive: "The application is about to become inactive: an interruption, the lock, or Home."
        case .didEnterBackground:
            "The application is in the background. The items are saved after the handlers, which have 4 s together unless a limit says otherwise."
        case .willEnterForeground: "The application is about to return to the foreground."
        case .didResumeInBackground: "The process was resumed without the terminal: SIGCONT after bg."
        case .willTerminate:
            "The application is about to end. The items are saved after the handlers, which have 4 s together unless a limit says otherwise."
        case .didReceiveMemoryWarning: "Memory is short: release what can be recreated. The image cache is flushed."
        }
    }
}
