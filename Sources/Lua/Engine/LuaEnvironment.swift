/// Globals of their own for runs of a ``LuaEngine``, over frozen libraries.
///
/// Runs in different environments see nothing of each other: neither globals, nor changes of a library, of the methods of
/// strings or of the random numbers' sequence. They share the engine's memory limit. The globals live as long as the
/// environment; it may be dropped on any thread.
public struct LuaEnvironment: Sendable {
    /// The table of globals.
    let reference: LuaReference
}
