/// The object of `app` in Lua. It does not refer to the host: the state retains its objects and the host the state, so
/// the host and its lock on the container would never be released.
final class ScriptApplication {
    unowned let host: ScriptHost

    init(_ host: ScriptHost) { self.host = host }
}
