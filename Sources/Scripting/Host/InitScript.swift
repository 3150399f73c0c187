import Application
import Files
import Logging
import Lua

/// `Library/Scripts/init.lua`: run at launch and, with `--watch`, whenever it changes.
extension ScriptHost {
    private var initPath: String { PathText.join(container.scripts, "init.lua") }

    /// Records how to undo a registration made by `init.lua`.
    func noteRegistration(_ undo: @escaping (ScriptHost) -> Void) {
        if initScript.isRunning { initScript.undo.append(undo) }
    }

    /// A failing script is reported, and what it has registered is taken back: it must not lock out its owner.
    func runInitScript() {
        let delegate = lifeCycle.delegate
        guard let error = evaluateInitScript(), exitCode == nil else { return }
        _ = runtime.modules.forget(in: container.scripts)
        takeBackInitScript(delegate: delegate)
        initScript = InitScript()
        hasSkippedInitScript = true
        let text = "\(ErrorText.describe(error, sources: sources))\n(init.lua was skipped; the rest goes on)"
        // In an unattended job's log it is an error; at a terminal it stands for itself.
        if runtime.log.form == .bare { report(text) } else { logger.error("\(text)") }
    }

    /// Takes back what the script has registered.
    private func takeBackInitScript(delegate: LuaTable?) {
        initScript.hooks.forEach(hooks.remove)
        initScript.undo.forEach { $0(self) }
        lifeCycle.delegate = delegate
    }

    /// Runs the file, if it exists, and collects its registrations.
    private func evaluateInitScript() -> LuaError? {
        let path = initPath
        guard files.exists(path) else { return nil }
        if let exposure = ContainerExposure.first(onTheWayTo: path, in: container, using: files) {
            return LuaError(.runtime, "init.lua is not run: \(exposure)")
        }
        let source: [UInt8]
        do throws(FileError) {
            source = try files.contents(of: path, limit: 16 << 20)
        } catch {
            return LuaError(.runtime, error.message)
        }
        let name = DisplayPath.abbreviate(path)
        sources.remember(String(decoding: source, as: UTF8.self), as: name)
        initScript.isRunning = true
        defer { initScript.isRunning = false }
        let delegateBefore = lifeCycle.delegate
        var failure: LuaError?
        initScript.hooks = hooks.recording {
            if case .failure(let error) = run(source, name: "@" + name) { failure = error }
        }
        initScript.delegate = lifeCycle.delegate?.identity == delegateBefore?.identity ? nil : lifeCycle.delegate
        return failure
    }

    // MARK: Reloading

    /// Polls the file and its required modules four times a second: cheap, and independent of the file system.
    func watchInitScript() {
        initScript.watched = watchedFiles()
        var seen = initScript.watched
        initScript.timer = loop.every(0.25) { [unowned self] in
            let found = watchedFiles()
            // A changing file is read once it is stable.
            defer { seen = found }
            guard found != initScript.watched, found == seen, !lifeCycle.isHandling, scheduler.held == nil else {
                return
            }
            reloadInitScript()
        }
    }

    private func watchedFiles() -> [String: FileStatus?] {
        let paths = [initPath] + runtime.modules.files.filter { $0.hasPrefix(container.scripts + "/") }
        return Dictionary(paths.map { ($0, (try? files.status($0)) ?? nil) }) { first, _ in first }
    }

    /// Reloads the file in the same state: globals stay, the registrations of the previous version are removed. When
    /// the new version fails, the previous one stays in force.
    func reloadInitScript() {
        let former = initScript
        let registered = former.hooks.filter { !$0.isRemoved }
        registered.forEach(hooks.remove)
        let delegate = lifeCycle.delegate
        if former.delegate != nil, former.delegate?.identity == delegate?.identity { lifeCycle.delegate = nil }
        let formerModules = runtime.modules.forget(in: container.scripts)
        initScript = InitScript(timer: former.timer)

        let failure = evaluateInitScript()
        if let failure {
            takeBackInitScript(delegate: delegate)
            registered.forEach(hooks.restore)
            runtime.modules.restore(formerModules)
            initScript = former
            report(
                "\(ErrorText.describe(failure, sources: sources))\n(init.lua was not taken; its last good version goes on)"
            )
        } else {
            hooks.note(registered, replacedBy: initScript.hooks)
            former.undo.forEach { $0(self) }
            logger.info("init.lua was loaded again")
        }
        initScript.watched = watchedFiles()
    }
}

/// The registrations of `init.lua`, for a reload.
struct InitScript {
    var hooks: [Hook] = []
    /// Undoes registrations other than hooks: timers, observers.
    var undo: [(ScriptHost) -> Void] = []
    /// The delegate set by the script.
    var delegate: LuaTable?
    /// The watched files, with their status when they ran.
    var watched: [String: FileStatus?] = [:]
    var isRunning = false
    var timer: LoopTimer?
}
