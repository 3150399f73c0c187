internal import CLuaShim

/// The functions called by the shim. None throws: they return a status, and C raises the error.
let luaCallbacks = clua_callbacks(
    call: { function, L in
        guard let function, let L else { return 0 }
        return Unmanaged<LuaNativeFunction>.fromOpaque(function)._withUnsafeGuaranteedRef { function in
            do { return try function.invoke(LuaCall(L: L, base: 1)).count } catch { return raise(error, L) }
        }
    },
    method: { function, object, L in
        guard let function, let L else { return 0 }
        return Unmanaged<LuaNativeFunction>.fromOpaque(function)._withUnsafeGuaranteedRef { function in
            do { return try function.invoke(on: object, L).count } catch { return raise(error, L) }
        }
    },
    get: { accessor, object, L in
        guard let accessor, let object, let L else { return 0 }
        return Unmanaged<LuaAccessor>.fromOpaque(accessor)._withUnsafeGuaranteedRef { accessor in
            do { return try accessor.get(object, L).count } catch { return raise(error, L) }
        }
    },
    set: { accessor, object, L in
        guard let accessor, let object, let L else { return 0 }
        return Unmanaged<LuaAccessor>.fromOpaque(accessor)._withUnsafeGuaranteedRef { accessor in
            do {
                try accessor.set(object, L)
                return 0
            } catch { return raise(error, L) }
        }
    },
    interrupt: { owner, L, reasons in
        guard let owner, let L else { return 0 }
        let state = Unmanaged<LuaState>.fromOpaque(owner).takeUnretainedValue()
        var reasons = LuaInterrupter.Reason(rawValue: Int(reasons))
        if reasons.remove(.sample) != nil {
            state.sampler?()
            if reasons.isEmpty { return 0 }
        }
        switch state.interruptHandler(reasons) {
        case .goOn: return 0
        case .stop(let error, let depth): return state.stop(error, depth, on: L)
        }
    },
    stop: { owner, by, L in
        guard let owner, let by, let L else { return }
        let outer = Unmanaged<LuaState>.fromOpaque(by).takeUnretainedValue()
        let error = outer.stopError ?? LuaError(.cancelled, "interrupted")
        _ = Unmanaged<LuaState>.fromOpaque(owner).takeUnretainedValue().raise(error, on: L)
    },
    release: { object in
        guard let object else { return }
        Unmanaged<AnyObject>.fromOpaque(object).release()
    },
    pause: { owner, L, reasons, number in
        guard let owner, let L else { return 0 }
        let state = Unmanaged<LuaState>.fromOpaque(owner).takeUnretainedValue()
        guard case .stop(let error, let depth)? = state.debuggerInUse?.pause(reasons, number) else { return 0 }
        return state.stop(error, depth, on: L)
    },
    matches: { owner, name, number in
        guard let owner, let name else { return 0 }
        let debugger = Unmanaged<LuaState>.fromOpaque(owner).takeUnretainedValue().debuggerInUse
        return debugger?.isIn(String(cString: name), breakpoint: Int(number)) ?? false ? 1 : 0
    }
)

extension LuaState {
    /// Makes the running code stop down to a depth; the error is on the stack.
    fileprivate func stop(_ error: LuaError, _ depth: Int, on L: OpaquePointer) -> Int32 {
        clua_abort_above(host, Int32(clamping: depth))
        stopError = error
        return raise(error, on: L)
    }
}

private func raise(_ error: any Error, _ L: OpaquePointer) -> Int32 {
    Unmanaged<LuaState>.fromOpaque(clua_owner(L)).takeUnretainedValue().raise(error, on: L)
}
