import Application
import Files
import Glibc
import Items
import Lua
package import Scripting

/// `app`: the application, its states and its handlers.
package enum AppModule: ScriptModule {
    package static let name = "app"

    package static func declare(in host: ScriptHost) -> [Global] {
        let state = host.state
        let cls = LuaClass<ScriptApplication>("app", doc: "The application.", in: state)
        cls.property(
            "state", .choice(ApplicationState.allCases.map(\.rawValue)), doc: "The application's life-cycle state.",
            get: { $0.host.applicationState.rawValue })
        cls.text("name", doc: "The application's name.", get: { $0.host.options.applicationName })
        cls.text("version", doc: "The application's version.", get: { $0.host.options.applicationVersion })
        let container = ContainerBinding(host)
        state.addClass(ContainerBinding.self)
        cls.property("container", doc: "The container's folders.", get: { _ in container })
        cls.property(
            "delegate", .optional(.record("delegate", delegateMethods)),
            doc: "A table of functions under Cocoa's names, called before the handlers.",
            get: { $0.host.lifeCycle.delegate.table },
            set: { app, delegate in
                app.host.lifeCycle.delegate.table = delegate
                app.host.lifeCycle.delegate.check()
            })
        cls.property(
            "restoration",
            doc: "Property-list values for the next launch, saved when the application enters the background.",
            get: { $0.host.lifeCycle.restoration.table }, set: { $0.host.lifeCycle.restoration.table = $1 })
        HandlerMethods.declare(on: cls, host)
        simulations(cls)
        backgroundTasks(cls)
        BackupBinding.declare(on: cls)
        cls.method(
            "terminate", ["code": "the exit status (default: 0)"],
            doc: "Ends the application in order: the handlers run and the items are saved.", example: "app:terminate()"
        ) { (app, code: Int64?) -> Void in
            try app.host.lifeCycle.exit(code)
            throw LuaError(.cancelled, "the application has ended")
        }
        cls.method(
            "run", doc: "Serves events and timers until the application is terminated.",
            example: "timer.after(0, function() app:terminate() end) app:run()"
        ) { app, call in
            guard !app.host.items.isInTransaction else {
                throw LuaError(.argument, "app:run is not possible inside a transaction, which would never end")
            }
            guard !app.host.scheduler.isInHandler else {
                throw LuaError(.argument, "app:run is not possible in a handler: its event would never end")
            }
            try app.host.lifeCycle.saver.settle()
            return try app.host.scheduler.wait(call) { _ in {} }
        }
        cls.metamethod("__tostring") { app, call in
            call.returns("app \(app.host.options.applicationName) (\(app.host.applicationState.rawValue))")
        }
        cls.declareGlobalObject()
        let value = cls.value(ScriptApplication(host))
        host.lifeCycle.delegate.application = value
        return [("app", value)]
    }

    /// Cocoa's names, each a function of the application.
    private static let delegateMethods = LuaFields(
        LifeCycleCallback.allCases.flatMap { callback in
            [callback.applicationSelector, callback.sceneSelector].compactMap { $0 }.map { selector in
                LuaParameter(selector, .optional(.callback("(app: app)")), "called at `\(callback.rawValue)`")
            }
        })

    /// Simulated events: Home, return, interruptions, the lock and memory warnings.
    private static func simulations(_ cls: LuaClass<ScriptApplication>) {
        let verbs: [(String, ApplicationEvent, String)] = [
            ("pressHome", .pressHome, "Presses Home: the handlers run, the items are saved, the state is background."),
            ("open", .resume(inForeground: true), "Returns to the foreground."),
            ("endInterruption", .endInterruption, "Ends the simulated call."),
            ("lock", .lock, "Presses the lock button: the application is inactive until unlocked."),
            ("unlock", .unlock, "Unlocks the application."),
            ("simulateMemoryWarning", .memoryWarning, "Simulates a memory warning: the image cache is flushed."),
        ]
        // The preceding events in the examples.
        let undone = ["open": "app:pressHome() ", "endInterruption": "app:interrupt() ", "unlock": "app:lock() "]
        for (name, event, documentation) in verbs {
            cls.method(
                name, doc: documentation + " All callbacks are delivered before it returns.",
                example: "\(undone[name] ?? "")app:\(name)() return app.state"
            ) { app in try simulate(name, event, on: app.host) }
        }
        cls.method(
            "interrupt", ["reason": "the reason, for readers of the script"],
            doc: "Simulates an incoming call: the application becomes inactive.",
            example: "app:interrupt(\"a call\") app:endInterruption()"
        ) { (app, _: String?) in try simulate("interrupt", .interrupt, on: app.host) }
    }

    private static func simulate(_ verb: String, _ event: ApplicationEvent, on host: ScriptHost) throws {
        guard !host.items.isInTransaction else {
            throw LuaError(
                .argument, "\(verb) is not possible inside a transaction: its changes are not committed yet")
        }
        do { try host.lifeCycle.simulate(event) } catch let error as IllegalTransition {
            throw LuaError(.argument, error.message)
        }
    }

    private static func backgroundTasks(_ cls: LuaClass<ScriptApplication>) {
        cls.method(
            "beginBackgroundTask",
            ["name": "the task's purpose", "onExpire": .callback("()", "the function to call when time runs out")],
            doc:
                "Requests time to finish a task before the process stops or ends; endBackgroundTask ends it. At the end it has what --grace gives, 10 s by default; a task that is not ended by then is named in the log.",
            example:
                "local id = app:beginBackgroundTask(\"upload\", function() log.warning(\"no time left\") end) app:endBackgroundTask(id)"
        ) { (app, name: String, onExpire: LuaFunction?) in
            app.host.lifeCycle.backgroundTasks.begin(name, onExpire: onExpire)
        }
        cls.method(
            "endBackgroundTask", ["id": "the result of beginBackgroundTask"],
            doc: "Ends a background task. One that has ended or expired stays ended; another number raises an error.",
            example: "app:endBackgroundTask(app:beginBackgroundTask(\"upload\"))"
        ) { (app, id: Int) in
            guard app.host.lifeCycle.backgroundTasks.end(id) else {
                throw LuaMismatch("beginBackgroundTask has given no task the number \(id)", argument: "id")
            }
        }
        cls.property(
            "backgroundTimeRemaining",
            doc: "Seconds until background tasks expire, before the stop or at the end; math.huge otherwise.",
            get: { $0.host.lifeCycle.backgroundTasks.deadline.map { max(0, $0.seconds(since: .now())) } ?? .infinity })
    }
}

/// `app:backup`: a copy of the container while the host runs.
enum BackupBinding {
    static func declare(on cls: LuaClass<ScriptApplication>) {
        cls.method(
            "backup", ["path": "the path of a new folder"],
            doc:
                "Copies the container, without Caches and tmp, to a new folder, which appears once it is complete. Returns the number of files, or nil and an error. `cubby restore` restores it.",
            example: "return app:backup(app.container.tmp .. \"/copy\")"
        ) { (app, path: String) in
            try app.host.attempt(path, .readWrite) { try copy(app.host, to: path, $0) }
        }
    }

    private static func copy(_ host: ScriptHost, to path: String, _ layer: FencedFileLayer) throws -> Int {
        if MemoryContainer.isFolder(host.container.path) {
            throw LuaError(.argument, "the items are in memory: items:export writes a file")
        }
        if ContainerBackup.isPath(path, in: host.container) {
            throw LuaError(.argument, "a backup does not go into the container itself: \(path)")
        }
        if host.items.isInTransaction {
            throw LuaError(
                .argument, "backup is not possible inside a transaction: its changes are not committed yet")
        }
        if layer.exists(path) {
            throw FileError(.open, path, code: EEXIST, reason: "it is there already: give a new name")
        }
        // Makes the script's changes so far part of the backup.
        try host.lifeCycle.saver.settle()
        host.lifeCycle.saver.syncCommitted()
        return try ContainerBackup.make(
            host.container, at: PathText.absolute(path, from: host.fence.base), using: layer
        ).files
    }
}

/// `app.container`: the folders of the application's data.
final class ContainerBinding: LuaObject {
    private let container: ApplicationContainer
    private let bundle: String

    init(_ host: ScriptHost) {
        container = host.container
        bundle = host.sandbox.bundles.first?.path ?? host.container.bundle
    }

    static var luaClass: LuaClassDeclaration {
        LuaClassDeclaration(ContainerBinding.self, "container", doc: "The application's own folder.") {
            LuaProperty("path", \.container.path, doc: "The container's path.")
            LuaProperty("documents", \.container.documents, doc: "The user's documents; backed up.")
            LuaProperty("caches", \.container.caches, doc: "Recreatable data; may be deleted at any time.")
            LuaProperty("preferences", \.container.preferences, doc: "The user's settings.")
            LuaProperty("applicationSupport", \.container.applicationSupport, doc: "The application's own files.")
            LuaProperty("tmp", \.container.tmp, doc: "Temporary files; emptied at launch.")
            LuaProperty(
                "bundle", \.bundle,
                doc: "The folder of read-only resources, outside of the container; it need not exist.")
            LuaOperator(.text) { (container: ContainerBinding) in container.container.displayPath }
        }
    }
}

/// `bundle`: read-only resources: the user's own folder first, then the host's.
package enum BundleModule: ScriptModule {
    package static let name = "bundle"

    private final class Bundles {
        let all: [ApplicationBundle]
        init(_ all: [ApplicationBundle]) { self.all = all }

        func path(_ name: String, _ type: String?, _ layer: FencedFileLayer) -> String? {
            for bundle in all {
                if let path = bundle.path(forResource: name, ofType: type, using: layer) { return path }
            }
            return nil
        }
    }

    package static func declare(in host: ScriptHost) -> [Global] {
        let cls = LuaClass<Bundles>(
            "bundle", doc: "Read-only resources: the folder of --bundle first, then the host's resources.",
            in: host.state)
        let resource: LuaArguments = [
            "name": "the resource's name, with any folders below the bundle",
            "type": "its extension, if the name has none",
        ]
        cls.method(
            "path", resource, doc: "The path of a resource; nil if there is none.",
            example: "return bundle:path(\"dogs\", \"png\")"
        ) { [unowned host] (bundles, name: String, type: String?) in bundles.path(name, type, host.fence.layer) }
        cls.method(
            "read", resource, doc: "A resource's bytes; nil and an error if there is none.",
            example: "local text, err = bundle:read(\"household\", \"csv\") return text or err.message"
        ) { [unowned host] (bundles, name: String, type: String?) -> OrError<LuaString> in
            let layer = host.fence.layer
            guard let path = bundles.path(name, type, layer) else {
                let file = type.map { "\(name).\($0)" } ?? name
                let folders = bundles.all.map { DisplayPath.abbreviate($0.path) }.joined(separator: ", ")
                return .failure(
                    ScriptError(
                        "noSuchResource",
                        "there is no \(file) in the bundle (\(folders.isEmpty ? "--bundle names a folder" : folders))",
                        path: file))
            }
            return try OrError(returning: FileError.self) {
                LuaString(try layer.contents(of: path, limit: ScriptHost.readLimit))
            }
        }
        cls.property("paths", doc: "The folders in search order.", get: { $0.all.map(\.path) })
        cls.metamethod("__tostring") { bundles, call in
            call.returns("bundle \(bundles.all.map { DisplayPath.abbreviate($0.path) }.joined(separator: ", "))")
        }
        cls.declareGlobalObject()
        return [("bundle", cls.value(Bundles(host.sandbox.bundles)))]
    }
}

/// The object of `app` in Lua. It does not refer to the host: the state retains its objects and the host the state, so
/// the host and its lock on the container would never be released.
final class ScriptApplication {
    unowned let host: ScriptHost

    init(_ host: ScriptHost) { self.host = host }
}
