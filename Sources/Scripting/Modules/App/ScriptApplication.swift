/// What stands behind `app` in Lua. The state keeps its objects alive, and the host keeps the state: the host itself there
/// would never go, nor its lock on the container.
final class ScriptApplication {
    unowned let host: ScriptHost

    init(_ host: ScriptHost) { self.host = host }
}
