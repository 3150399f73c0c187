internal import CLuaShim

/// Separate globals for runs of a ``LuaEngine``, over frozen libraries.
///
/// Runs in different environments are isolated from each other: globals, changes of a library or of string methods, and
/// the sequence of random numbers are separate. They share the engine's memory limit; each may have a narrower one of its
/// own. The globals live as long as the environment, which may be released on any thread.
public struct LuaEnvironment: Sendable {
    /// The table of globals.
    let reference: LuaReference
    /// What its code is charged to; nil for the engine's memory.
    let account: MemoryAccount?

    /// Bytes of the environment in use, their peak, and the limit, by the accounts of Lua's allocator; nil if it has no
    /// limit of its own, and is part of the engine's memory.
    ///
    /// Code that runs in the environment is charged with what it allocates: its values, its coroutines, what it compiles
    /// and loads, what the host gives to it. It is credited when that is freed, in whoever's time. Garbage counts until it
    /// is collected, which is at the limit at the latest. It is read from any task, without a wait for the engine's thread,
    /// also while the environment's code runs.
    public var memory: (used: Int, peak: Int, limit: Int)? { account.map { $0.memory } }
}

/// The account of an environment in a state's allocator. It may be released on any thread, also after the state's end.
package final class MemoryAccount: Sendable {
    // The shim's counts are atomic, and it keeps the account until it has been released.
    nonisolated(unsafe) let pointer: OpaquePointer
    let limit: Int

    fileprivate init(_ pointer: OpaquePointer, limit: Int) {
        self.pointer = pointer
        self.limit = limit
    }

    deinit { clua_release_account(pointer) }

    fileprivate var memory: (used: Int, peak: Int, limit: Int) {
        var (used, peak) = (0, 0)
        clua_read_account(pointer, &used, &peak)
        return (used, peak, limit)
    }
}

extension MemoryAccount {
    /// Opens an account.
    ///
    /// - Parameters:
    ///   - state: the state, which is charged again once the account has been released.
    ///   - limit: the limit in bytes.
    /// - Throws: an error of kind `memory`.
    convenience init(_ state: LuaState, limit: Int) throws(LuaError) {
        let limit = max(limit, 1)
        guard let pointer = clua_open_account(state.host, limit) else {
            throw LuaError(.memory, "not enough memory for an environment")
        }
        self.init(pointer, limit: limit)
    }
}

extension LuaState {
    /// What all accounts have in use together.
    package var accountedMemory: Int {
        checkUse()
        return clua_sum_accounts(host)
    }

    /// The least memory limit in force; nil for none.
    var leastMemoryLimit: Int? {
        guard let narrower = charged?.limit else { return limits.memory }
        return min(narrower, limits.memory ?? narrower)
    }
}

/// Environments.
extension LuaEngine {
    /// Makes an environment with separate globals, invisible to runs in other environments, whose code may use so much
    /// memory.
    ///
    /// ```swift
    /// let tenant = try await engine.makeEnvironment(memoryLimit: 4 << 20)
    /// try await engine.run(script, in: tenant)
    /// print(tenant.memory?.used ?? 0)
    /// ```
    ///
    /// At the limit garbage is collected, and if that does not suffice, the script gets Lua's error, as at
    /// ``LuaLimits/memory``, which remains in force for all environments together. Other environments go on. What remains
    /// of the environment after its release is the engine's memory.
    ///
    /// - Parameter memoryLimit: the most bytes of Lua's allocator that the environment's code may have in use; nil for the
    ///   engine's limit alone.
    /// - Returns: an environment of this engine, with its libraries.
    /// - Throws: ``LuaError`` for lack of memory, or if the engine is shut down.
    public nonisolated(nonsending) func makeEnvironment(
        memoryLimit: Int? = nil
    ) async throws(LuaError) -> LuaEnvironment {
        do { return try await visit { try $0.environments.makeEnvironment(memoryLimit: memoryLimit) } } catch {
            throw LuaError(error)
        }
    }
}
