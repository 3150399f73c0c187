import Lua
import Scripting

/// A break as the client sees it: its calls and values have numbers, which are valid until the script goes on.
final class DebugStop {
    /// The most values with numbers.
    private static let limit = 1 << 20

    let stop: ScriptBreak
    let number: Int
    private var containers: [VariableContainer] = []
    private var children: [Int: ValueChildren] = [:]

    /// - Parameters:
    ///   - stop: the break.
    ///   - number: the number of the break.
    init(_ stop: ScriptBreak, number: Int) {
        self.stop = stop
        self.number = number
    }

    var calls: [LuaBreakCall] { stop.stop.calls }

    // MARK: Calls

    /// The number of a call; the break's own is in it, so that one of an earlier break is known.
    func frame(_ call: Int) -> Int { (number & 0x3F_FFFF) << 8 | (call + 1) }

    func call(ofFrame frame: Int) throws(DebugRefusal) -> Int {
        guard frame >> 8 == number & 0x3F_FFFF, calls.indices.contains(frame & 0xFF - 1) else {
            throw DebugRefusal("there is no such call at this break")
        }
        return frame & 0xFF - 1
    }

    // MARK: Values

    private var base: Int { (number & 0x3FF) << 20 + 1 }

    /// The number of what can be unfolded; 0 when there are too many.
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

    /// What a value consists of, as it was when it was first unfolded.
    func children(_ reference: Int, of value: LuaValue, in host: ScriptHost) -> ValueChildren {
        if let known = children[reference] { return known }
        let found = ValueChildren(value, in: host, at: stop)
        children[reference] = found
        return found
    }

    /// After code has run: values may consist of something else.
    func forgetChildren() { children = [:] }
}
