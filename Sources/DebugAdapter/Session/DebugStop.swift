import Lua
import Scripting

/// A break for the client: its calls and values have numbers, which are valid until the script resumes.
final class DebugStop {
    /// Maximum number of numbered values.
    private static let limit = 1 << 20

    let stop: ScriptBreak
    let number: Int
    private var containers: [VariableContainer] = []
    private var children: [Int: ValueChildren] = [:]

    init(_ stop: ScriptBreak, number: Int) {
        self.stop = stop
        self.number = number
    }

    var calls: [LuaBreakCall] { stop.stop.calls }

    // MARK: Calls

    /// The number of a call. It includes the break's, so that a call of an earlier break is recognized.
    func frame(_ call: Int) -> Int { (number & 0x3F_FFFF) << 8 | (call + 1) }

    func call(ofFrame frame: Int) throws(DebugRefusal) -> Int {
        guard frame >> 8 == number & 0x3F_FFFF, calls.indices.contains(frame & 0xFF - 1) else {
            throw DebugRefusal("there is no such call at this break")
        }
        return frame & 0xFF - 1
    }

    // MARK: Values

    private var base: Int { (number & 0x3FF) << 20 + 1 }

    /// A reference to an expandable container; 0 if there are too many.
    func reference(to container: VariableContainer) -> Int {
        guard containers.count < Self.limit - 1 else { return 0 }
        containers.append(container)
        return base + containers.count - 1
    }

    func container(_ reference: Int) throws(DebugRefusal) -> VariableContainer {
        guard containers.indices.contains(reference &- base) else {
            throw DebugRefusal("there are no such variables at this break")
        }
        return containers[reference - base]
    }

    /// A value's children, cached when first expanded.
    func children(_ reference: Int, of value: LuaValue, in host: ScriptHost) -> ValueChildren {
        if let known = children[reference] { return known }
        let found = ValueChildren(value, in: host, at: stop)
        children[reference] = found
        return found
    }

    /// Clears the cached children: code may have changed them.
    func forgetChildren() { children = [:] }
}
