/// The words of the choices among some parameters, where the shim reads them.
final class LuaChoices {
    let text: UnsafePointer<CChar>

    /// Nil when there is no choice among them.
    init?(_ parameters: [LuaParameter]) {
        guard let words = LuaType.words(parameters) else { return nil }
        let memory = UnsafeMutablePointer<CChar>.allocate(capacity: words.count)
        memory.initialize(from: words, count: words.count)
        text = UnsafePointer(memory)
    }

    deinit { text.deallocate() }
}
