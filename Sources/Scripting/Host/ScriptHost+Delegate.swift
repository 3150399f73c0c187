import Application
import Logging
import Lua
import Wording

/// The script's delegate: functions with the names of Cocoa's delegate methods.
extension ScriptHost {
    /// The names of delegate methods.
    static let delegateSelectors = LifeCycleCallback.allCases.flatMap { callback in
        [callback.applicationSelector, callback.sceneSelector].compactMap { $0 }
    }

    /// Warns once about each function whose name resembles that of a delegate method.
    func checkDelegate() {
        guard let delegate = lifeCycle.delegate else { return }
        for name in functionNames(of: delegate).sorted() where !lifeCycle.checkedMethods.contains(name) {
            lifeCycle.checkedMethods.insert(name)
            guard Self.isMisspelt(name) else { continue }
            let hint = NearestNames.hint(for: name, among: Self.delegateSelectors)
            let advice = hint.isEmpty ? "; help(\"app.delegate\") lists the methods" : hint
            logger.warning("app.delegate.\(name) is not a method of the life cycle and is never called\(advice)")
        }
    }

    /// Whether a name is not a method's but has the start of one, or is one edit away from one.
    private static func isMisspelt(_ name: String) -> Bool {
        if delegateSelectors.contains(name) { return false }
        for prefix in ["application", "scene"] where name.hasPrefix(prefix) {
            guard let next = name.dropFirst(prefix.count).unicodeScalars.first else { break }
            if ("A"..."Z").contains(next) { return true }
        }
        return delegateSelectors.contains { NearestNames.isOneSlip(name, $0) }
    }

    /// The names of a delegate's functions, including inherited ones.
    private func functionNames(of delegate: LuaTable) -> Set<String> {
        var names: Set<String> = []
        var table = delegate
        for _ in 0..<64 {
            try? table.forEach { key, value in
                if case .function = value, let name = key.textValue { names.insert(name) }
                return true
            }
            guard case .table(let next)? = table.metatable?["__index"] else { break }
            table = next
        }
        return names
    }
}
