import Application
import Files
import Logging
import Lua

/// `Library/Scripts/init.lua`: run at launch and, with `--watch`, whenever it changes.
package final class InitScript {
    /// What one version of the script has registered, for a reload.
    private struct Version {
        var hooks: [Hook] = []
        /// Undoes registrations other than hooks: timers, observers.
        var undo: [() -> Void] = []
        /// The delegate set by the script.
        var delegate: LuaTable?
        /// The watched files, with their status when they ran.
        var watched: NameTable<FileStatus?> = [:]
    }

    private unowned let host: ScriptHost
    private let runtime: Runtime
    private let delegate: ScriptDelegate
    private let container: ApplicationContainer
    private let path: String
    private var version = Version()
    private var isRunning = false
    private var timer: LoopTimer?
    /// Whether the script failed at the launch.
    private(set) var isSkipped = false

    init(_ host: ScriptHost) {
        self.host = host
        (runtime, delegate, container) = (host.runtime, host.lifeCycle.delegate, host.container)
        path = PathText.join(container.scripts, "init.lua")
    }

    /// Records how to undo a registration made by `init.lua`.
    package func recordRegistration(_ undo: @escaping () -> Void) {
        if isRunning { version.undo.append(undo) }
    }

    /// A failing script is reported, and what it has registered is taken back: it must not lock out its owner.
    package func run() {
        let former = delegate.table
        guard let error = evaluate(), host.exitCode == nil else { return }
        _ = runtime.modules.forget(in: container.scripts)
        takeBack(delegate: former)
        version = Version()
        isSkipped = true
        let text = "\(ErrorText.describe(error, sources: runtime.sources))\n(init.lua was skipped; the rest goes on)"
        // In an unattended job's log it is an error; at a terminal it stands for itself.
        if runtime.log.form == .bare { runtime.log.report(text) } else { runtime.log.logger.error("\(text)") }
    }

    /// Takes back what the script has registered.
    private func takeBack(delegate former: LuaTable?) {
        version.hooks.forEach(runtime.hooks.remove)
        version.undo.forEach { $0() }
        delegate.table = former
    }

    /// Runs the file, if it exists, and collects its registrations.
    private func evaluate() -> LuaError? {
        guard host.files.exists(path) else { return nil }
        if let exposure = ContainerExposure.first(onTheWayTo: path, in: container, using: host.files) {
            return LuaError(.runtime, "init.lua is not run: \(exposure)")
        }
        let source: [UInt8]
        do throws(FileError) {
            source = try host.files.contents(of: path, limit: 16 << 20)
        } catch {
            return LuaError(.runtime, error.message)
        }
        let name = DisplayPath.abbreviate(path)
        runtime.sources.remember(String(decoding: source, as: UTF8.self), as: name)
        isRunning = true
        defer { isRunning = false }
        let former = delegate.table
        var failure: LuaError?
        version.hooks = runtime.hooks.recording {
            if case .failure(let error) = host.run(source, name: "@" + name) { failure = error }
        }
        version.delegate = delegate.table?.identity == former?.identity ? nil : delegate.table
        return failure
    }

    // MARK: Reloading

    /// Polls the file and its required modules four times a second: cheap, and independent of the file system.
    func watch() {
        version.watched = watchedFiles()
        var seen = version.watched
        timer = runtime.loop.every(0.25) { [unowned self] in
            let found = watchedFiles()
            // A changing file is read once it is stable.
            defer { seen = found }
            let isBusy = host.lifeCycle.isHandling || runtime.scheduler.held != nil
            guard found != version.watched, found == seen, !isBusy else { return }
            reload()
        }
    }

    private func watchedFiles() -> NameTable<FileStatus?> {
        let paths = [path] + runtime.modules.files.filter { $0.hasPrefix(container.scripts + "/") }
        return paths.reduce(into: [:]) { $0[$1] = .some((try? host.files.status($1)) ?? nil) }
    }

    /// Reloads the file in the same state: globals stay, the registrations of the previous version are removed. When
    /// the new version fails, the previous one stays in force.
    private func reload() {
        let former = version
        let registered = former.hooks.filter { !$0.isRemoved }
        registered.forEach(runtime.hooks.remove)
        let formerDelegate = delegate.table
        if former.delegate != nil, former.delegate?.identity == formerDelegate?.identity { delegate.table = nil }
        let formerModules = runtime.modules.forget(in: container.scripts)
        version = Version()

        let failure = evaluate()
        if let failure {
            takeBack(delegate: formerDelegate)
            registered.forEach(runtime.hooks.restore)
            runtime.modules.restore(formerModules)
            version = former
            let text = ErrorText.describe(failure, sources: runtime.sources)
            runtime.log.report("\(text)\n(init.lua was not taken; its last good version goes on)")
        } else {
            runtime.hooks.record(registered, replacedBy: version.hooks)
            former.undo.forEach { $0() }
            runtime.log.logger.info("init.lua was loaded again")
        }
        version.watched = watchedFiles()
    }
}
