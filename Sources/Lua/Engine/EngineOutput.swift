/// The output of an engine's scripts.
final class EngineOutput {
    private let ofEngine: LuaEngine.Output?
    /// The output of the current run, if it has its own.
    var ofRun: LuaEngine.Output?

    init(_ ofEngine: LuaEngine.Output?) { self.ofEngine = ofEngine }

    /// The receiver of text; nil for the process's standard output.
    var current: LuaEngine.Output? { ofRun ?? ofEngine }
}
