/// Separate globals for runs of a ``LuaEngine``, over frozen libraries.
///
/// Runs in different environments are isolated from each other: globals, changes of a library or of string methods, and
/// the sequence of random numbers are separate. They share the engine's memory limit. The globals live as long as the
/// environment, which may be released on any thread.
public struct LuaEnvironment: Sendable {
    /// The table of globals.
    let reference: LuaReference
}
