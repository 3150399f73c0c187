/// Where the scripts of an engine write to.
final class EngineOutput {
    private let ofEngine: LuaEngine.Output?
    /// What the run whose code is on the stack has of its own.
    var ofRun: LuaEngine.Output?

    init(_ ofEngine: LuaEngine.Output?) { self.ofEngine = ofEngine }

    /// What takes the text that is written now; nil for the process's standard output.
    var current: LuaEngine.Output? { ofRun ?? ofEngine }
}
