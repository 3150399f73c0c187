import Application
import Logging
package import Lua
import PropertyList

/// The script's delegate: functions with the names of Cocoa's delegate methods.
package final class ScriptDelegate {
    /// The script's table of functions.
    package var table: LuaTable?
    /// `app`, the argument of each.
    package var application = LuaValue.nil
    /// The names of the functions already checked.
    private var checkedMethods: Set<String> = []
    private let hooks: HookCenter
    private let logger: Logger

    init(_ runtime: Runtime) { (hooks, logger) = (runtime.hooks, runtime.log.logger) }

    /// The names of delegate methods.
    static let selectors = LifeCycleCallback.allCases.flatMap { callback in
        [callback.applicationSelector, callback.sceneSelector].compactMap { $0 }
    }

    /// Calls Cocoa's delegate methods, application and scene.
    func call(
        _ callback: LifeCycleCallback, _ event: LifeCycleEvent, isLaunch: Bool, until deadline: MonotonicTime?
    ) {
        guard let table else { return }
        check()
        // A scene's first appearance counts as a return; the application's does not.
        let first = isLaunch && callback == .didBecomeActive ? LifeCycleCallback.willEnterForeground.sceneSelector : nil
        for selector in [first, callback.applicationSelector, callback.sceneSelector].compactMap({ $0 }) {
            guard let function = method(selector, of: table).callable else { continue }
            hooks.callObserver(
                function, [application], title: "delegate.\(selector)", event: event.name, until: deadline)
        }
    }

    /// A delegate's method, own or inherited through tables. An `__index` function is not called: it would run without
    /// a limit.
    private func method(_ selector: String, of delegate: LuaTable) -> LuaValue {
        tables(of: delegate).lazy.map { $0[selector] }.first { !$0.isNil } ?? .nil
    }

    /// A delegate and the tables that it inherits from.
    private func tables(of delegate: LuaTable) -> some Sequence<LuaTable> {
        sequence(first: delegate) { table in
            if case .table(let next)? = table.metatable?["__index"] { next } else { nil }
        }.prefix(64)
    }

    // MARK: Names

    /// Warns once about each function whose name resembles that of a delegate method, and each method that is no function.
    package func check() {
        guard let table else { return }
        for selector in Self.selectors {
            let value = method(selector, of: table)
            guard !value.isNil, value.callable == nil, checkedMethods.insert(selector).inserted else { continue }
            logger.warning("app.delegate.\(selector) is a \(value.typeName), no function, and is never called")
        }
        for name in functionNames(of: table).sorted() where checkedMethods.insert(name).inserted {
            guard Self.isMisspelt(name) else { continue }
            let hint = NearestNames.hint(for: name, among: Self.selectors)
            let advice = hint.isEmpty ? "; help(\"app.delegate\") lists the methods" : hint
            logger.warning("app.delegate.\(name) is not a method of the life cycle and is never called\(advice)")
        }
    }

    /// Whether a name is not a method's but has the start of one, or is one edit away from one.
    private static func isMisspelt(_ name: String) -> Bool {
        if selectors.contains(name) { return false }
        for prefix in ["application", "scene"] where name.hasPrefix(prefix) {
            guard let next = name.dropFirst(prefix.count).unicodeScalars.first else { break }
            if ("A"..."Z").contains(next) { return true }
        }
        return selectors.contains { NearestNames.isOneSlip(name, $0) }
    }

    /// The names of a delegate's functions, including inherited ones.
    private func functionNames(of delegate: LuaTable) -> Set<String> {
        var names: Set<String> = []
        for table in tables(of: delegate) {
            try? table.forEach { key, value in
                if case .function = value, let name = key.textValue { names.insert(name) }
                return true
            }
        }
        return names
    }
}

/// `app.restoration`: the values of scripts for the next launch.
package final class RestorationState {
    private let archive: RestorationArchive
    private let runtime: Runtime
    private let saver: StoreSaver
    private var stored: LuaTable?
    /// Whether the state of the last run was restored in this launch.
    private(set) var hasRestored = false

    init(_ archive: RestorationArchive, _ runtime: Runtime, _ saver: StoreSaver) {
        (self.archive, self.runtime, self.saver) = (archive, runtime, saver)
    }

    /// The table, created on first access.
    package var table: LuaTable {
        get {
            if let stored { return stored }
            let table = runtime.state.makeTable()
            stored = table
            return table
        }
        set { stored = newValue }
    }

    func restore() {
        let logger = runtime.log.logger
        switch archive.restore() {
        case .none: break
        case .rejected(let reason): logger.warning("The state of the last run is dropped: \(reason)")
        case .state(let values):
            guard case .table(let table)? = try? runtime.values.lua(.fields(values)) else {
                return logger.warning("The state of the last run is dropped: it is too large for the memory of scripts")
            }
            stored = table
            hasRestored = true
        }
    }

    func save() {
        let logger = runtime.log.logger
        guard let stored else { return archive.drop() }
        do {
            let state = try runtime.values.propertyList(.table(stored), path: "app.restoration")
            if state == .array([]) { return archive.drop() }
            guard let fields = state.fields else {
                return logger.warning("app.restoration is not kept: a table with names as keys expected")
            }
            try archive.save(fields)
        } catch let error as ValueBridge.BridgeError {
            logger.warning("app.restoration is not kept: \(error.message)")
        } catch {
            guard let text = saver.textOfFailure(error, .restoration) else { return }
            logger.warning("app.restoration is not kept: \(text)")
        }
    }

    /// The launch has succeeded: the next one may restore the state, too.
    func confirm() { archive.confirm() }

    /// Drops the archive, which the next launch does not restore.
    func drop() { archive.drop() }

    /// Drops the archive and the table, whose restoring has failed.
    func dropAll() {
        archive.drop()
        stored = nil
        runtime.log.logger.warning("The state of the last run is dropped: restoring it failed")
    }
}
