import Application
import Files
import Logging
import Lua

/// `Library/Scripts/init.lua`: run at launch and, with `--watch`, whenever it changes.
extension ScriptHost {
    private var initPath: String { PathText.join(container.scripts, "init.lua") }

    /// Notes how to take a registration back, when `init.lua` is what makes it.
    func noteRegistration(_ undo: @escaping (ScriptHost) -> Void) {
        if initScript.isRunning { initScript.undo.append(undo) }
    }

    /// A broken script is reported and skipped: it must not lock its owner out.
    func runInitScript() {
        if let error = evaluateInitScript() {
            output.writeError(
                "\(ErrorText.describe(error, sources: sources))\n(init.lua was skipped; the rest goes on)\n")
        }
    }

    /// Runs the file, if there is one, and collects what it registers.
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

    /// Looks at the file, and at the modules that it required, four times a second: cheap, and it works on every file system.
    func watchInitScript() {
        initScript.watched = watchedFiles()
        var seen = initScript.watched
        initScript.timer = loop.every(0.25) { [unowned self] in
            let found = watchedFiles()
            // A file that is being written is read when it has come to rest.
            defer { seen = found }
            guard found != initScript.watched, found == seen, !lifeCycle.isHandling else { return }
            reloadInitScript()
        }
    }

    private func watchedFiles() -> [String: FileStatus?] {
        let paths = [initPath] + modules.files.filter { $0.hasPrefix(container.scripts + "/") }
        return Dictionary(paths.map { ($0, (try? files.status($0)) ?? nil) }) { first, _ in first }
    }

    /// Runs the file anew in the same state: globals stay, what its last version registered goes. When the new version
    /// fails, the last good one stays in force.
    func reloadInitScript() {
        let former = initScript
        let registered = former.hooks.filter { !$0.isRemoved }
        registered.forEach(hooks.remove)
        let delegate = lifeCycle.delegate
        if former.delegate != nil, former.delegate?.identity == delegate?.identity { lifeCycle.delegate = nil }
        let formerModules = modules.forget(in: container.scripts)
        initScript = InitScript(timer: former.timer)

        let failure = evaluateInitScript()
        if let failure {
            initScript.hooks.forEach(hooks.remove)
            initScript.undo.forEach { $0(self) }
            registered.forEach(hooks.restore)
            modules.restore(formerModules)
            lifeCycle.delegate = delegate
            initScript = former
            output.writeError(
                "\(ErrorText.describe(failure, sources: sources))\n(init.lua was not taken; its last good version goes on)\n"
            )
        } else {
            former.undo.forEach { $0(self) }
            logger.info("init.lua was loaded again")
        }
        initScript.watched = watchedFiles()
    }
}
